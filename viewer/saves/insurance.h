/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a kill costs, and what kills have cost (LEDGER 9): from saves, loads, the lives of processes
 * and what GPUs were held, to durable, unsaved, redone and lost time, and the mean loss. Pure
 * functions over integers; every input is hostile.
 */
#ifndef VIEW_INSURANCE_H
#define VIEW_INSURANCE_H

#include "base/units.h"
#include "marks.h"
#include "state.h"

enum saves_part {
	SAVES_DURABLE,
	SAVES_UNSAVED,
	SAVES_REDONE,
	SAVES_UNKNOWN,
	SAVES_LOST,
	SAVES_OTHER, /* held by no process, or after all work; below 0 where a clock stepped */
	SAVES_PARTS
};
extern const char *const saves_part_names[SAVES_PARTS];

enum saves_end {
	SAVES_END_ORDERED,
	SAVES_END_ON, /* it goes on */
	SAVES_END_KILLED, /* by a signal, or with all who could have told */
	SAVES_END_FAILED, /* by itself: with a status that is none of a signal */
	SAVES_ENDS
};
extern const char *const saves_end_names[SAVES_ENDS];

/* What was not saved is thrown away. */
static inline bool saves_end_broke(enum saves_end e)
{
	return e == SAVES_END_KILLED || e == SAVES_END_FAILED;
}

struct saves_segment {
	int64_t start_ns, end_ns;
	enum saves_end end;
	int64_t covered_ns; /* beginning of the checkpoint that is there at its end, or start_ns */
	int64_t unsure_ns; /* up to here something may cover more; covered_ns: nothing may */
	int64_t worked_ns; /* when its last kernel was submitted; LIVE_NEVER: not known */
	int64_t done_ns; /* when the last operation of its GPUs ended; LIVE_NEVER: not known */
	int64_t redone_from_ns; /* LIVE_NEVER: nothing is known to have been done again */
	int64_t maybe_from_ns; /* ... what it may have been from; LIVE_NEVER, or no later */
	bool opened; /* it is known which save it began with: ... */
	uint32_t opened_segment; /* ... of that one */
	int64_t broke_ns; /* when the first of its processes ended that did so out of order */
	/* killed: from the last word to the end, the longest of those that did not say goodbye */
	int64_t silent_ns;
};

struct view_insurance {
	uint64_t saves, whole, failed, synced; /* calls of savers, to a place with a name */
	uint64_t untold; /* of before: what became of them is not known */
	uint64_t checkpoints; /* that were there at some time */
	uint64_t unsure; /* what may have been others: nothing of a training was seen in them */
	uint64_t deleted; /* checkpoints whose files were, and which nothing newer makes up for */
	uint64_t unmoved; /* ... that were to be renamed to their place, and were not seen to be */
	uint64_t writtens, written_bytes; /* times of files by what is no save that is known */
	int64_t written_ns; /* the last of them; 0: there is none */
	struct saves_segment *segment;
	size_t segments;
	uint64_t kills, failures; /* of segments */
	int64_t (*gpu_part)[SAVES_PARTS]; /* of each GPU; sums to what it was held */
	int64_t part[SAVES_PARTS]; /* sums of these */
	/* of each GPU: twice the integral of what is unsaved over all instants, which is whole */
	base_wide *gpu_loss2;
	base_wide loss2; /* their sum ... */
	int64_t *gpu_now_ns; /* of each GPU: what a kill at the end would lose */
	int64_t instants_ns; /* ... over so much time in which a GPU was held; 0: none */
	int64_t worst_ns; /* the most that a kill would have lost */
	int64_t now_ns; /* that a kill at the end would lose; -1: nothing goes on */
	int64_t every_ns; /* median from checkpoint to checkpoint; -1: there are no two */
	int64_t silent_ns; /* longest of the killed segments */
	int64_t lost_silent_ns; /* of the last one, if it broke: what is lost is at most that */
	struct saves_state state; /* of the newest checkpoint that covers anything at an end */
	int64_t waited_last_ns; /* by GPUs for saves behind their last operations */
	struct saves_chain chain; /* its dollars are 0 */
	int64_t (*gpu_moved)[SAVES_MARKS_MAX + 1][SAVES_MOVED]; /* of each GPU, by mark */
};

/*
 * Fills @out, whose arrays are free()d by saves_insure_fini. 0; -ENOMEM; -ERANGE: times that no run
 * has. @out is then empty.
 */
int saves_insure(const struct saves_input *in, struct view_insurance *out);
void saves_insure_fini(struct view_insurance *out);

/*
 * How a segment's held time is cut: durable before one instant, unknown from there to the other,
 * and what the rest is. @last: none came after it.
 */
struct saves_cut {
	int64_t durable_ns, unknown_ns;
	int64_t rest_ns; /* the rest is up to then; what is behind it is no work */
	enum saves_part rest;
};
struct saves_cut saves_cut_of(const struct saves_segment *s, bool last);

/* The segment in which @t lies, or the last one before it; SIZE_MAX: none. */
size_t saves_segment_at(const struct view_insurance *i, int64_t t);

/* What was held since it began is done again from @from_ns on, if it broke. */
void saves_redo(struct saves_segment *s, int64_t from_ns);
/* ... may be done again: a restart opened what covers it up to there, and something newer. */
void saves_maybe_redo(struct saves_segment *s, int64_t from_ns);

/* Mean loss, rounded half to even to ns; of all GPUs, or of one. */
int64_t saves_mean_ns(const struct view_insurance *i);
int64_t saves_gpu_mean_ns(const struct view_insurance *i, size_t gpu);

/* Young's interval: the root of 2 x @cost x @between, rounded down. Both from 0 up. */
int64_t saves_best_interval(int64_t cost_ns, int64_t between_ns);

/* How seldom a kill must come for @spot to pay, rounded up; -1: never (it is no cheaper). */
int64_t saves_spot_pays_ns(int64_t price, int64_t spot, int64_t loss_ns);

/* 'A' to 'D', 'F'; by what a kill loses of a GPU's time, start-up included. */
char saves_grade(const struct view_insurance *i, int64_t loss_ns);
#define SAVES_GRADE_RULE                                                                      \
	"A: a kill loses at most 5 minutes, start-up included; B: 15; C: 60; D: more; F: no " \
	"checkpoint was ever there"

#endif
