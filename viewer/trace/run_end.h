/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a run ended, of what its wrappers wrote (run.json, exit-*.json): those of its last start, for
 * a wrapper that began once the commands of all before it had ended started the run again. As the
 * one of them that ended with a failure first, by the machines' clocks; with 0 if all of them did;
 * else nobody knows yet, or for ever, for a wrapper that is killed writes nothing, and none tells
 * when it ended. What saw ends and is no wrapper (a collector's exit-coll-*.json has no
 * exit_status) does not count. Any thread.
 */
#ifndef VIEW_RUN_END_H
#define VIEW_RUN_END_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/jsondoc.h"

struct view_run_wrapper {
	int64_t start_ns, end_ns; /* INT64_MAX: goes on, or was killed */
	bool told; /* how it ended */
	int status;
};

struct view_run_end { /* begin with { 0 } */
	struct view_run_wrapper *wrapper;
	size_t wrappers, room;
};

/* One more wrapper's record. 0 or -ENOMEM. */
int view_run_end_add(struct view_run_end *e, const struct base_json *root);

struct view_run_ended {
	bool over; /* a wrapper of the last start has said how it ended */
	bool known;
	int status; /* as a shell says it; 0 unless it is known */
};

/* Of all that were added, which are sorted. */
struct view_run_ended view_run_end_tell(struct view_run_end *e);
void view_run_end_fini(struct view_run_end *e);

#endif
