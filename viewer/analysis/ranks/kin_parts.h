/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kins that are parts of one. Of a communicator of several nodes the members on a node may end so
 * much closer to each other than to those elsewhere that each node's are taken for a kin. Nobody
 * leaves before all have come: so where one part is late, both end together all the same. Of two
 * communicators that merely keep pace the one whose last member came later ends later, too.
 */
#ifndef ANALYSIS_KIN_PARTS_H
#define ANALYSIS_KIN_PARTS_H

#include "match_collectives.h"

/* Unites those that are. @m: the logs, aligned; its kins are @k. 0 or negative errno. */
int ana_kins_unite(struct ana_kins *k, const struct ana_match *m);

#endif
