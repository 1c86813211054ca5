/* SPDX-License-Identifier: Apache-2.0 */
/* The finer classes that evidence gives to pieces of gaps whose cause records do not tell. */
#ifndef ANALYSIS_ATTRIBUTION_H
#define ANALYSIS_ATTRIBUTION_H

#include "analysis/walk/walk.h"

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
	bool copied; /* a copy from host to device ends that ... */
	uint64_t copied_bytes; /* ... of so many */
	uint32_t left; /* tid of the process that gave the operation before the gap; 0: not known */
	bool outside; /* nothing was given to the GPU any more, or yet */
	bool ending; /* not for long: what is no saving belongs to the program's end */
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

/*
 * The same of a piece without any sample that may wait: nothing is decided. @t is the submitter's
 * thread, the piece is neither wait nor call.
 */
void ana_attribute_unseen(struct ana_walk *w, struct ana_thread *t,
			  const struct ana_unsampled_piece *piece);

/* Books what samples of the piece tell as lines of its class. False: there are none. */
bool ana_attribute_line(struct ana_walk *w, struct ana_proc *p,
			const struct ana_attribution *piece);

/* Gives classes to the pieces that wait for their neighbours, as far as those are decided. */
void ana_attribute_unsampled(struct ana_walk *w, int64_t floor);
/* When the first piece begins that waits for its neighbours; INT64_MAX: none does. */
int64_t ana_attribute_first(const struct ana_walk *w);

#endif
