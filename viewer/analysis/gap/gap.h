/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gaps between the operations of a GPU, and what lies before the first and after the last: kept
 * until it is known which submit ended their emptiness, then cut into pieces that each get a class.
 *
 *	open_gaps.c	which submit ends each gap's emptiness
 *	plain_gap.c	what becomes of most, which only calls explain
 *	gap.c		what becomes of each piece of all others
 *	rules.c		the rules that give it its class
 *	attribution.c	the finer classes that evidence gives to pieces of unknown cause
 */
#ifndef ANALYSIS_GAP_H
#define ANALYSIS_GAP_H

#include "analysis/walk/walk.h"

/* @call realises the end of the emptiness, NULL: no later operation has a known launch. */
void ana_gap_decide(struct ana_walk *w, struct ana_gpu_state *g, const struct ana_open_gap *gap,
		    const struct ana_call *call);
/*
 * A graph of which nothing is known but that a process of the GPU launched it, within (@after,
 * @before): the earliest. NULL: there is none. Borrowed.
 */
const struct ana_call *ana_gap_lost_graph(struct ana_walk *w, const struct ana_gpu_state *g,
					  int64_t after, int64_t before);
void ana_gap_lead(struct ana_walk *w, struct ana_gpu_state *g);
void ana_gap_tail(struct ana_walk *w, struct ana_gpu_state *g);
void ana_gap_unused(struct ana_walk *w, struct ana_gpu_state *g); /* held, no operation */

#endif
