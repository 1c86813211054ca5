/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A GPU that several jobs use at once is billed once in sum: at each moment every process on it
 * pays the same part. A job pays for its own processes; all that are there are counted by the
 * periodic facts of the trace. Jobs on the device for the same time with one process each pay half.
 */
#ifndef VIEW_SHARE_H
#define VIEW_SHARE_H

#include <stdint.h>
#include "analysis/ledger.h"
#include "trace/trace.h"

/* This run's part of GPU @gpu over its held time, as a reduced fraction; 1/1 when alone. */
void view_share_of(const struct ana_gpu *gpu, const struct view_trace *t, uint32_t *num,
		   uint32_t *den);

#endif
