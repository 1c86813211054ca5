/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From matched collectives to comm.skew. Of each, every rank but the last to come waited from its
 * own arrival to the last one's; the exposed part of that becomes comm.skew, once. Its cause is
 * what the late rank spent more time on than the waiting one since both were last known to be
 * equally far in their work. Where that was itself waiting in another communicator, whatever made
 * it wait there.
 *
 * Ranks that leave a collective together are not equally far for that alone: work that runs beside
 * it may be further on one than on the other. They are where none of them ran anything else when
 * the collective ended; the code calls them even then.
 *
 * Of a send and its receive who came first waited for the other. Neither is late for that: a stage
 * of a pipeline computes what the next one waits for. So computing is nobody's fault here, and of
 * what else the late one did only what held it up (path.h).
 */
#ifndef ANALYSIS_ATTRIBUTE_SKEW_H
#define ANALYSIS_ATTRIBUTE_SKEW_H

#include "skew_state.h"

/* Fill in the members down to slack_ns, skew and arg before. 0 or -ENOMEM. */
int ana_skew_attribution_init(struct ana_skew_attribution *c);
void ana_skew_attribution_fini(struct ana_skew_attribution *c);

/* After all of them: who is late, in c->straggler. */
void ana_skew_attribution_decide(struct ana_skew_attribution *c);

/* What ana_match_collectives calls (struct ana_match_user); @attribution is its arg. */
void ana_skew_attribution_cluster(void *attribution, struct ana_arrival *const *member, size_t n);
void ana_skew_attribution_pair(void *attribution, struct ana_arrival *const member[2]);
void ana_skew_attribution_exposed(void *attribution, uint32_t gpu, int64_t start, int64_t end);

#endif
