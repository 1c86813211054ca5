/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the cost of tracing under the user's limit: adds our own CPU time, where cores are short,
 * to the exposed launches times the cost of one, and steps down when that was too dear. The ladder
 * gives up API records, then kernels, then copies and waits, for of that order each is worth least
 * without those behind it: API records tell nothing of time whose kernels are not recorded, and
 * kernels without copies would make the ledger wrong. Which step is taken follows from what they
 * cost: one by one until that is learnt here; then at once the first that stays below the limit,
 * which loses least, and on the way up the one with most that has room.
 *
 * The limit holds for any five minutes, and is borrowed from at the beginning, so that a short run
 * is seen whole: two minutes' share may be spent at once. Then a window of ten seconds that was
 * too dear ends a step, or one that has cost as soon what all of it may, and the five minutes. A
 * step is tried again when its launches would fit, and seldom where nobody can tell.
 *
 * What a launch costs on each step is learnt here: CUPTI numbers all calls, so a loop that is bound
 * by them tells by the CPU time of one, before and after a change, what the change was worth. Until
 * then it is what an H100 showed. Where less comes back than there, launches stay instrumented:
 * that part is told, and no step is taken for it.
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
	PROF_STEP_NO_KERNELS,
	PROF_STEP_LEAST, /* neither copies nor waits: graphs as a whole alone */
	PROF_STEPS
};

/*
 * Measured on an H100 host: added to the launching thread per launch by what each step leaves out.
 * The kernel kind and the others share a part, so kernels alone bring less than they cost.
 */
#define PROF_COST_API_NS 500 /* picked API records */
#define PROF_COST_KERNEL_NS 1240 /* the kernel kind */
#define PROF_COST_OTHERS_NS 560 /* copies, memsets and waits, to a launch */

#define PROF_GOVERNOR_WINDOW_NS 10000000000ll
#define PROF_GOVERNOR_SLOTS 30 /* windows in the time for which the limit holds */
#define PROF_GOVERNOR_RECENT 8

struct prof_governor_calls { /* so many calls of CUDA until then; at_ns 0: not known */
	uint64_t calls;
	int64_t at_ns; /* monotonic */
	int64_t cpu_ns; /* the program's CPU time by then, without ours */
};

struct prof_governor {
	uint64_t limit; /* millionths of wall time; 0: none */
	bool has_api; /* false at L0: the first step is no step */
	enum prof_step step, deepest;
	bool raised; /* by its last change */
	uint32_t passed; /* so often steps were passed over on the way down */
	int64_t since_ns, retry_ns, stepped_ns; /* monotonic */
	uint64_t cost; /* of the last window, millionths; what is left included */
	uint64_t worst;
	uint64_t spent_ns; /* since the beginning, what is left included */
	uint64_t drawn_ns; /* of that by windows of full recording, beyond the step's */
	int64_t quiet_ns; /* until then what a call takes is not the step's */

	/* of the present window, and of those before */
	uint64_t window_ns, window_left_ns; /* what it cost; what is left of earlier steps */
	uint64_t window_drawn_ns; /* what windows of full recording cost besides (windows.h) */
	uint64_t slot_ns[PROF_GOVERNOR_SLOTS];
	int64_t slot; /* number of the newest */
	uint64_t exposed, cpu_ns; /* at the last look; at the window's begin */
	int64_t looked_ns;
	struct prof_governor_calls calls; /* as last counted */
	uint64_t exposed_then; /* exposed launches by that time */
	uint64_t launches; /* of the present window */
	uint64_t rate; /* exposed launches a second, as last seen */
	uint64_t share, most; /* of calls that were exposed launches, 1024ths: as last seen, ever */

	/* what is learnt: by what a step down from each saves at a launch */
	uint32_t saves_ns[PROF_STEPS - 1];
	uint32_t seen[PROF_STEPS - 1]; /* times */
	struct prof_governor_calls recent[PROF_GOVERNOR_RECENT]; /* on this step */
	uint32_t recents;
	enum prof_step before; /* the step before, and what CPU a call took on it, 1024ths of ns */
	uint64_t before_period; /* 0: not known, or learnt already */
	int64_t settled_ns; /* when the change is sure to hold */
};

struct prof_governor_input { /* totals since the process was armed */
	int64_t now_ns; /* monotonic */
	uint64_t exposed;
	struct prof_governor_calls calls;
	uint64_t cpu_ns;
	bool cores_short;
	bool drawn; /* all is recorded whatever the step is: a window of full recording */
};

void prof_governor_init(struct prof_governor *g, uint64_t limit, bool has_api, int64_t now_ns);

/* True if the step changed. */
bool prof_governor_feed(struct prof_governor *g, const struct prof_governor_input *in);

/* What a launch costs on a step, as far as is known, and what no step takes away of it. */
uint32_t prof_governor_launch_ns(const struct prof_governor *g, enum prof_step step);
uint32_t prof_governor_left_ns(const struct prof_governor *g);

/*
 * What full recording for so long would cost beyond the step, as launches come now; UINT64_MAX: it
 * may not be tried. That is while kernels are on, or launches stay dear, or their costs are not all
 * learnt, or a step was just taken, or the limit might be broken.
 */
uint64_t prof_governor_drawn_ns(const struct prof_governor *g, int64_t now_ns, int64_t long_ns);

/* Has every part of what is on between a step and the next one been measured here? */
bool prof_governor_learnt(const struct prof_governor *g, enum prof_step step);

#endif
