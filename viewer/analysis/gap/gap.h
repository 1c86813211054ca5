/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gaps between the operations of a GPU, and what lies before the first and after the last: kept until
 * it is known which submit ended their emptiness, then cut into pieces that each get a class.
 *
 *	open_gaps.c	which submit ends each gap's emptiness
 *	gap.c		what becomes of each piece
 *	rules.c		the rules that give it its class
 *	attribution.c	the finer classes that evidence gives to pieces of unknown cause
 */
#ifndef ANALYSIS_GAP_H
#define ANALYSIS_GAP_H

#include "analysis/walk/walk.h"

/* open_gaps.c: gaps of a GPU in order of time. */
void ana_open_gaps_add(struct ana_walk *w, struct ana_gpu_state *g, const struct ana_open_gap *gap);
/* An operation after all of them was launched by @call. */
void ana_open_gaps_lower(struct ana_gpu_state *g, const struct ana_call *call);
/* Decides those whose submit began before @until, the earliest that may still be answered. */
void ana_open_gaps_decide(struct ana_walk *w, struct ana_gpu_state *g, int64_t until);
/* Too many wait for operations that may never come: the oldest are decided without. */
void ana_open_gaps_give_up(struct ana_walk *w, struct ana_gpu_state *g);
void ana_open_gaps_finish(struct ana_walk *w, struct ana_gpu_state *g); /* no operation will come */

/* gap.c: @call realises the end of the emptiness, NULL: no later operation has a known launch. */
void ana_gap_decide(struct ana_walk *w, struct ana_gpu_state *g, const struct ana_open_gap *gap,
		    const struct ana_call *call);
void ana_gap_lead(struct ana_walk *w, struct ana_gpu_state *g);
void ana_gap_tail(struct ana_walk *w, struct ana_gpu_state *g);
void ana_gap_unused(struct ana_walk *w, struct ana_gpu_state *g); /* held, no operation */

/* attribution.c */
enum ana_refine { /* which kind of piece evidence may refine */
	ANA_REFINE_NOT, /* none */
	ANA_REFINE_LINE, /* its class stays; samples tell the line */
	ANA_REFINE_WAIT, /* a loader wait of unknown cause */
	ANA_REFINE_HOST, /* neither wait nor call */
};

struct ana_attribution { /* [start, end) of a gap of @gpu, with the class that records give it */
	uint32_t gpu; /* of the walk */
	int64_t start, end;
	enum ana_refine refine;
	int c;
	enum ana_confidence confidence;
	uint32_t tid; /* of the process; 0: some thread */
	uint32_t submitter; /* 0: not known */
	int64_t gap_start, gap_end; /* what it is a piece of */
};

/* Reads the process's evidence up to @t, which lies in a gap that begins at @start. */
void ana_attribute_read(struct ana_walk *w, struct ana_proc *p, int64_t start, int64_t t);

/*
 * Fills w->cause and books hotspots. False: nothing is known but what records tell. @keep: a piece
 * without evidence may wait for its neighbours: then true, and nothing is decided (w->cause.ns is
 * 0).
 */
bool ana_attribute(struct ana_walk *w, struct ana_proc *p, const struct ana_attribution *piece,
		   bool keep);

/* Gives classes to the pieces that wait for their neighbours, as far as those are decided. */
void ana_attribute_unsampled(struct ana_walk *w, int64_t floor);

#endif
