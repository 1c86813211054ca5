/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ranks of a run: decides which GPUs get a recorder, and after the walk makes of what was
 * recorded what the result says of ranks. Runs of one GPU, or without collectives, have no recorder
 * and pay nothing.
 */
#ifndef ANALYSIS_SKEW_H
#define ANALYSIS_SKEW_H

#include <stdint.h>
#include "rank_recorder.h"

struct ana_plan;
struct ana_result;
struct ana_found;

#define ANA_LOGS_BYTES (32u << 20) /* of memory for all logs together; the rest is in a file */

/* Recorders for the GPUs that may run collectives, in ana_device.recorder. 0 or -ENOMEM. */
int ana_skew_begin(struct ana_plan *p);

/* An empty log as the recorders have it. NULL: no memory. */
struct ana_collective_log *ana_skew_new_log(const struct ana_plan *p);

/*
 * After the walk, before the sums: fills in result->ranks, moves comm to comm.skew in the GPUs'
 * classes and timelines, and says by cause what it was. @found: per component.
 * @step_ns: median step, -1: not known. 0 or -ENOMEM.
 */
int ana_skew_finish(struct ana_plan *p, struct ana_result *r, const struct ana_found *found,
		    int64_t step_ns);

void ana_skew_fini(struct ana_plan *p);

#endif
