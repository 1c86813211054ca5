/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recorded run's GPU without the GPU: the command runs with torch's DataLoader paced by how long
 * the recorded steps took without their waits, and what the loader still lets wait is what that GPU
 * would have waited. Python does the pacing (replay/sitecustomize.py) and looks at whoever makes
 * the awaited batch (replay/look.py); nothing is preloaded, no line of the command changes. What
 * comes back is a run like others, to be held against budgets and against another replay.
 */
#ifndef CHECK_REPLAY_H
#define CHECK_REPLAY_H

#include "check_run.h"

struct check_replay {
	struct check_run run; /* the time of the replayed GPUs; owned */
	/* predicted; compute, comm and copies of the recorded run per step */
	int64_t utilization_ppm;
	int64_t recorded_utilization_ppm,
		recorded_starved_ppm; /* of the recorded run, steps alone */
	int64_t recorded_cores, cores; /* 0: not known */
	uint64_t processes; /* that took batches */
};

/*
 * Runs @command and waits. 0; -ENODATA: it took fewer than CHECK_STEPS_LEAST batches from a
 * DataLoader of torch; -ECHILD: it failed (said on stderr); -EINVAL: @base has no steps; other
 * negative errno. Strings go into @mem. Says what is wrong on stderr.
 */
int check_replay(const struct check_run *base, char *const *command, struct base_arena *mem,
		 struct check_replay *out);

#endif
