/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All-to-alls, as among experts: kernels of sends and receives in which three GPUs or more meet
 * all at once. Their lanes end together, as those of a communicator do; so do those of a
 * pipeline's stages, or of a ring, that keep pace. Who waits for all leaves with all, whenever it
 * came; who waits for some leaves the later, the later these came (twos.h). So groups of experts
 * that keep pace with each other fall apart. And each of a pipeline's lanes has one that it is
 * nearer to elsewhere, which does not merely keep pace with it (pace.h).
 */
#ifndef ANALYSIS_ALL_TO_ALL_H
#define ANALYSIS_ALL_TO_ALL_H

#include "match_collectives.h"

/*
 * Adds their lanes to @k, which those of collectives are in. @m: the logs, aligned, no more.
 * @slack_ns: how far clocks may disagree. 0 or negative errno.
 */
int ana_all_to_alls_find(struct ana_kins *k, const struct ana_match *m, int64_t slack_ns);

#endif
