/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Communicators that have lanes of their own: lanes of several GPUs of which each ends whenever the
 * others do. Told pair by pair, so that groups which run the same program side by side, and drift
 * against each other by microseconds, are not taken for one. Where NCCL said of which communicator
 * each lane of a name is, that decides (told_kin.h).
 */
#ifndef ANALYSIS_KIN_H
#define ANALYSIS_KIN_H

#include "coincidence.h"

/*
 * @m: the logs, aligned, of what (ANA_MATCH_), and its limit, no more. @least: lanes of one that
 * is looked for. @slack_ns: how far clocks may disagree. *tolerance_ns: the one that they were
 * found at. 0 or negative errno.
 */
int ana_kins_find(struct ana_kins *k, const struct ana_match *m, uint32_t least, int64_t slack_ns,
		  int64_t *tolerance_ns);
void ana_kins_fini(struct ana_kins *k);

/* Whether these lanes, ascending, are one. */
bool ana_kins_has(const struct ana_kins *k, const uint32_t *lane, size_t n);

#endif
