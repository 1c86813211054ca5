/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a run ended, of what its wrappers wrote (run.json, exit-*.json): as the one of them that
 * ended with a failure first, by the machines' clocks; with 0 if all of them did; else nobody knows
 * yet, or for ever, for a wrapper that is killed writes nothing. What saw ends and is no wrapper
 * (a collector's exit-coll-*.json has no exit_status) does not count. Any thread.
 */
#ifndef VIEW_RUN_END_H
#define VIEW_RUN_END_H

#include <stdbool.h>
#include <stdint.h>
#include "base/jsondoc.h"

struct view_run_end { /* begin with { 0 } */
	bool told; /* a wrapper has said how it ended */
	bool untold; /* one has not */
	int status; /* of the failure that came first; 0: none */
	int64_t failed_ns; /* when that was */
};

/* One more wrapper's record. */
void view_run_end_add(struct view_run_end *e, const struct base_json *root);

/* As a shell says it; false: not known. */
bool view_run_end_status(const struct view_run_end *e, int *status);

#endif
