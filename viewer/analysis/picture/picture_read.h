/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the trace has of one process in one step: read from the blocks that lie in it alone,
 * whatever the trace has besides. Caller-owned; zero-initialise.
 */
#ifndef ANALYSIS_PICTURE_READ_H
#define ANALYSIS_PICTURE_READ_H

#include "picture.h"
#include "analysis/plan/plan.h"
#include "analysis/time/span.h"

#define ANA_PICTURE_READ_MAX (1u << 20) /* spans of a kind, rows of a kind */

struct ana_picture_wait { /* for the process's loader; a call to the driver */
	int64_t start, end;
	uint32_t tid;
	bool sync; /* of a call: it blocks until the GPU is done */
};

struct ana_picture_reading {
	const struct ana_plan *plan;
	const struct ana_result *result; /* has its hotspots */
	const struct ana_source *source;
	struct ana_step step;
	struct wire_scratch *scratch; /* borrowed */
	struct ana_names names;
	uint32_t ordinal[ANA_PICTURE_GPUS], gpu[ANA_PICTURE_GPUS]; /* of the rows; in the result */
	struct ana_spans ops[ANA_PICTURE_GPUS];
	size_t gpus, gpus_left_out;
	struct ana_picture_wait *wait, *call; /* for a batch; into the driver */
	size_t waits, wait_room, calls, call_room;
	struct wire_sample *sample; /* by pid, tid, time; some from before the step */
	size_t samples, sample_room;
	struct wire_batch *batch; /* FETCH alone, by pid, tid, start */
	size_t batches, batch_room;
};

/* 0, -ENOMEM or -E2BIG: more than is drawn. fini in any case. */
int ana_picture_read(struct ana_picture_reading *r);
void ana_picture_read_fini(struct ana_picture_reading *r);

#endif
