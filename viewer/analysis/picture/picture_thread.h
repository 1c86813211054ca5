/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of threads: the main process's, and of those who make batches.
 */
#ifndef ANALYSIS_PICTURE_THREAD_H
#define ANALYSIS_PICTURE_THREAD_H

#include "analysis/evidence/pystack.h"
#include "picture_read.h"
#include "picture_row.h"

struct ana_picture_thread { /* of one step */
	uint32_t pid, tid;
	const struct wire_sample *sample; /* its own, borrowed from the reading */
	size_t samples;
	const struct wire_batch *batch;
	size_t batches;
};

/*
 * The thread that submits to the GPU and waits for batches: the one most looked at in that role,
 * else the one with most waits; tid 0: none is known.
 */
struct ana_picture_thread ana_picture_main(const struct ana_picture_reading *r);

/* The thread at *at of the samples, in their order, which go past it; false: there is none. */
bool ana_picture_next(const struct ana_picture_reading *r, size_t *at_sample, size_t *at_batch,
		      struct ana_picture_thread *t);

/* Whether it makes batches: by its batches, else by the role of its samples in the step. */
bool ana_picture_makes(const struct ana_picture_reading *r, const struct ana_picture_thread *t);

/*
 * Paints its row. @awaits: of the main thread, gets when it waited for a batch (merged); NULL: it
 * is a worker. 0 or -ENOMEM.
 */
int ana_picture_paint_thread(const struct ana_picture_reading *r, struct ana_pystacks *stacks,
			     const struct ana_picture_thread *t, struct ana_picture_paint *p,
			     struct ana_picture_row *row, struct ana_spans *awaits);

#endif
