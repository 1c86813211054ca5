/* SPDX-License-Identifier: Apache-2.0 */
/*
 * truth.h - the file that says what really happened (GPUSIM_TRUTH): one line of JSON per event.
 * Lines gather in memory and reach the file within 50 ms, whole, so that several processes can
 * share a file and a killed one loses little. No descriptor is kept between writes.
 */
#ifndef SIM_TRUTH_H
#define SIM_TRUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace.h"

/* Is there a truth file? Any thread. */
bool sim_truth_on(void);

/* A device operation whose start and end are known. */
void sim_truth_op(const struct sim_op *op);

/* An API call, where GPUSIM_TRUTH_API asks for them. */
void sim_truth_call(enum sim_domain domain, uint32_t cbid, uint64_t call, uint64_t start,
		    uint64_t end, uint32_t correlation, uint32_t tid, int result);

/* A stream wait or a blocking synchronisation. */
void sim_truth_sync(const struct sim_sync_info *info, const struct sim_op *where);

/* A line that is JSON already. */
void sim_truth_line(const char *line, size_t length);

/* What stand-ins lack and was called, with its counts (standin.c). At exit. */
void sim_missing_tell(void);

/* Writes what has gathered. At exit, and by the flusher. */
void sim_truth_flush(void);

/* In a forked child: what gathered belongs to the parent. */
void sim_truth_forget(void);

#endif
