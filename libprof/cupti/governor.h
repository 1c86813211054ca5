/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the cost of tracing under the user's limit: adds our own CPU time, where cores are short,
 * to the exposed launches times the cost of one, and steps down when a window of time was too dear:
 * API records off first, then kernels. After a while it tries the step above again, for a phase of
 * many small launches may be over. The first window is seen whole, so that a short run is; after a
 * first step a window ends as soon as it has cost what all of it may cost.
 *
 * A pure function of what it is fed. Sender thread.
 */
#ifndef PROF_GOVERNOR_H
#define PROF_GOVERNOR_H

#include <stdbool.h>
#include <stdint.h>

enum prof_step {
	PROF_STEP_FULL,
	PROF_STEP_NO_API,
	PROF_STEP_NO_KERNELS
};

/* Measured on an H100 host: added to the launching thread per launch. */
#define PROF_COST_KERNEL_NS 1800 /* kinds alone */
#define PROF_COST_API_NS 500 /* picked API records on top */

#define PROF_GOVERNOR_WINDOW_NS 10000000000ll

struct prof_governor {
	uint64_t limit; /* millionths of wall time; 0: none */
	bool has_api; /* false at L0: the first step is no step */
	enum prof_step step;
	bool raised; /* by its last change */
	int64_t since_ns, retry_ns, stepped_ns; /* monotonic */
	uint64_t exposed, cpu_ns; /* at the window's begin */
	uint64_t cost; /* of the last window, millionths */
	uint64_t worst;
};

struct prof_governor_input { /* totals since the process was armed */
	int64_t now_ns; /* monotonic */
	uint64_t exposed;
	uint64_t cpu_ns;
	bool cores_short;
};

void prof_governor_init(struct prof_governor *g, uint64_t limit, bool has_api, int64_t now_ns);

/* True if the step changed. */
bool prof_governor_feed(struct prof_governor *g, const struct prof_governor_input *in);

#endif
