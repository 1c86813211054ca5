/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who held which GPU for how long, out of looks. Time between two looks counts for a process
 * that held the GPU in both, and in equal parts for all that did: a GPU counts once, however
 * many are on it. What processes that are recorded held is in their runs, and what cannot be
 * told of a process is nobody's: both only take their parts away from the others. How busy the
 * GPU was is what NVML said at the later look. Pure functions but for the clock that the caller
 * brings; one thread.
 */
#ifndef VIEW_HOLDERS_H
#define VIEW_HOLDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "analysis/ledger.h"
#include "look.h"

#define VIEW_HOLDERS_MAX 1024 /* at a time */
#define VIEW_HOLDER_GPUS 16 /* of a process */

struct view_held { /* a GPU, by one process */
	char uuid[96], name[128];
	int64_t held_ns, busy_ns; /* busy: as far as it is known */
	int64_t minutes[ANA_BANDS];
	int64_t minute_ns, minute_busy_ns; /* of the present minute; ... */
	bool seen; /* in the last look */
};

enum view_holder_kind {
	VIEW_HOLDER_UNWRAPPED,
	VIEW_HOLDER_RECORDED,
	VIEW_HOLDER_UNKNOWN /* it cannot be told: another's process, or of another namespace */
};

struct view_holder {
	pid_t pid;
	int64_t start_ticks; /* since boot: tells processes of one number apart */
	enum view_holder_kind kind;
	int64_t first_ns, last_ns; /* since 1970: looks that it was in */
	struct view_held gpu[VIEW_HOLDER_GPUS];
	size_t gpus;
	bool seen, changed; /* in the last look; since its row was written */
	/* who it is, "" where nothing tells */
	char user[64], command[64], account[64], partition[64], cluster[64], job[32];
};

struct view_holders {
	struct view_holder *list; /* in no order; calloc */
	size_t count, room;
	int64_t looked_ns; /* monotonic: the last look, 0: none */
	uint64_t left_out; /* processes or GPUs for which there was no room */
};

/* Who tells of processes: who.h. */
struct view_holder_source {
	/* When it began, in ticks since boot; -1: it is gone, or of another namespace. */
	int64_t (*began)(pid_t pid);
	/* Fills in kind and texts of one that is new. */
	void (*describe)(struct view_holder *h);
};

/*
 * Takes a look at @now_ns (monotonic) and @unix_ns. Time longer than @most_ns since the last one
 * is of nobody: the machine slept, or NVML did not answer. 0 or -ENOMEM.
 */
int view_holders_take(struct view_holders *all, const struct view_look *look, int64_t now_ns,
		      int64_t unix_ns, int64_t most_ns, const struct view_holder_source *who);

/* Forgets those that were not in the last look; the caller has written what they held. */
void view_holders_forget(struct view_holders *all);
void view_holders_fini(struct view_holders *all);

#endif
