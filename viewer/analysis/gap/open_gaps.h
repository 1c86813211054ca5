/* SPDX-License-Identifier: Apache-2.0 */
/* Gaps of a GPU that wait until it is known which submit ended their emptiness. */
#ifndef ANALYSIS_OPEN_GAPS_H
#define ANALYSIS_OPEN_GAPS_H

#include "analysis/walk/walk.h"

/*
 * One more, behind all others, for the caller to fill. @call launched the operation that ends it;
 * NULL: not known. Returns NULL: no memory, of which w->err tells.
 */
struct ana_open_gap *ana_open_gaps_new(struct ana_walk *w, struct ana_gpu_state *g,
				       const struct ana_call *call);
/* An operation after all of them was launched by @call. */
void ana_open_gaps_lower(struct ana_gpu_state *g, const struct ana_call *call);
/* Decides those whose submit began before @until, the earliest that may still be answered. */
void ana_open_gaps_decide(struct ana_walk *w, struct ana_gpu_state *g, int64_t until);
/* Too many wait for operations that may never come: the oldest are decided without. */
void ana_open_gaps_give_up(struct ana_walk *w, struct ana_gpu_state *g);
void ana_open_gaps_finish(struct ana_walk *w, struct ana_gpu_state *g); /* no operation will come */

#endif
