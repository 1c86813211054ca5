/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a run's steps are slower than those of the last runs of its training, for alerts on
 * step_slower_pct. Pulses know no steps: `gpustarve check --at-step 200 --baselines` reads the
 * trace as a child, and keeps what it read in COLL_STEPS_FOLDER beside the run. Of each run once
 * it has held its GPUs for the limit steps-after, and while it has not taken 200 steps again each
 * time that has doubled. One child at a time, at low priority, of the run that is longest due; no
 * run whose trace is larger than the limit steps-size. One thread, the loop's.
 */
#ifndef COLL_STEPS_H
#define COLL_STEPS_H

#include "core/context.h"
#include "retain/limits.h"
#include "runs.h"

#define COLL_STEPS_FOLDER ".steps" /* beside runs: FINGERPRINT.json, the last 16 runs of each */
#define COLL_STEPS_NEVER INT64_MAX

struct coll_steps { /* zero: nobody asks */
	struct coll_context *context; /* borrowed, as the next two */
	struct coll_runs *runs;
	const struct coll_limits *limits;
	bool available;
	char program[COLL_CHILD_PATH_BYTES];
	char *dir; /* of the run that is looked at; NULL: none is */
};

/* Without the program beside ours no run is looked at, which is logged. */
void coll_steps_init(struct coll_steps *s, struct coll_runs *runs, const struct coll_limits *limits,
		     struct coll_context *context);
void coll_steps_fini(struct coll_steps *s);

/* To be called about once a second. */
void coll_steps_tick(struct coll_steps *s);

/* When a run is looked at again that was due at @due_ns of held time, and has held @held_ns. */
int64_t coll_steps_next_ns(int64_t due_ns, int64_t held_ns);

/* What the child says, JSON, in millionths: the greatest change that is sure; 0: there is none. */
int64_t coll_steps_slower_ppm(const char *text, size_t len);

#endif
