/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lanes of sends and receives, and those that they meet. A lane may meet several others by turns,
 * as a stage of a pipeline meets the one before and the one behind; each of its kernels meets one.
 * Told by who ends together, closest first: so siblings that keep pace do not come between.
 */
#ifndef ANALYSIS_PARTNER_H
#define ANALYSIS_PARTNER_H

#include "match_collectives.h"

/*
 * @m: the logs, aligned, and kin, whose lanes have no partners. @slack_ns: how far clocks may
 * disagree. 0 or negative errno.
 */
int ana_partners_find(struct ana_partners *p, const struct ana_match *m, int64_t slack_ns);
void ana_partners_fini(struct ana_partners *p);

/* The one of @lane's that is @other; NULL: it has no such partner. */
struct ana_partner *ana_partners_get(const struct ana_partners *p, uint32_t lane, uint32_t other);

#endif
