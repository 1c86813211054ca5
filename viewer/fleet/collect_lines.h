/* SPDX-License-Identifier: Apache-2.0 */
/* What --by wants of runs one by one: months, and units of the groups of a table. */
#ifndef FLEET_COLLECT_LINES_H
#define FLEET_COLLECT_LINES_H

#include "fleet.h"

/*
 * Nothing for tables that want nothing of it. Before tables are sorted. 0 or negative errno, said.
 */
int fleet_collect_lines(struct fleet *f, struct fleet_store *s);

#endif
