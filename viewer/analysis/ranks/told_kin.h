/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What NCCL itself says of communicators (ana_lane.comm). It counts for a name if it is known of
 * each lane of that name on every GPU: who is missing from one cannot be told else.
 */
#ifndef ANALYSIS_TOLD_KIN_H
#define ANALYSIS_TOLD_KIN_H

#include "match_collectives.h"

/*
 * @key, by lane over all logs: hash of its name and, where that counts, of its communicator. Lanes
 * of different keys never run the same collective, and no sends and receives to each other. 0 or
 * -ENOMEM.
 */
int ana_lane_keys(uint64_t *key, struct ana_collective_log *const *log, size_t logs);

/*
 * Adds communicators to @k, whose table by lane is there: lanes of collectives of one key that is
 * told, one of each GPU. @m has keys. 0 or -ENOMEM.
 */
int ana_told_kins_add(struct ana_kins *k, const struct ana_match *m);

#endif
