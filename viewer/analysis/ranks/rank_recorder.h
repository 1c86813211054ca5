/* SPDX-License-Identifier: Apache-2.0 */
/* What the walk of one GPU writes down for the comparison of ranks. */
#ifndef ANALYSIS_RANK_RECORDER_H
#define ANALYSIS_RANK_RECORDER_H

#include "kernel_speed.h"
#include "collective_log.h"

struct ana_rank_recorder {
	struct ana_collective_log *log;
	struct ana_kernel_speed speed;
	int64_t unanswered_ns; /* last launch on it that has no operation; INT64_MIN: none */
};

#endif
