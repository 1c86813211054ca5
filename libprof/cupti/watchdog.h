/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notices that another client has taken CUPTI from us (v1 activity state is the process's: the last
 * to register gets all buffers, and anyone can disable a kind), yields to it for a while, and says
 * when to register again.
 *
 * No call tells. So when nothing has come for a second, the flusher makes a harmless driver call
 * that is traced, a canary, before it flushes: its record must come back. While an unfinished
 * record withholds the buffer that the canary landed in, so many follow that they must need another
 * buffer. Silence proves nothing until a first canary has come back: until then each flush makes
 * one. Only if a buffer is out, and does not come back however many follow, it does, after some
 * seconds. A program that does not touch the GPU for an hour is no theft.
 * Where calls cannot be traced, silence together with NVML's load has to do. Disabled kinds show as
 * calls that launch kernels and calls that wait for that, without any operation. Copies and graphs
 * prove less: one of nothing, or of host functions, makes none. Then the kinds are enabled anew,
 * for the callbacks are ours; if operations come again, they had been off.
 *
 * A pure function of what it is fed. Sender thread.
 */
#ifndef PROF_WATCHDOG_H
#define PROF_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

struct prof_watchdog {
	bool foreign; /* somebody else has CUPTI */
	bool handed_over; /* ... and was handed it (handover.h): nothing is done until it is back */
	int64_t lost_ns; /* since when at the latest, the trace's clock */
	unsigned int rearms; /* tries so far */
	bool rearmed; /* in this foreign time */
	bool gave_up; /* others keep too much of ours: nothing is done until that changes */
	bool answered; /* canaries are known to come back */
	bool unanswered; /* one was made since the last sign of life */

	uint64_t traffic, launches, maybe_launches, ops, waits, captures; /* at the last check */
	int64_t check_ns; /* of the last check, the trace's clock */
	int64_t traffic_ns; /* the check before the last sign of life, the trace's clock ... */
	int64_t traffic_mono_ns; /* ... and that sign, monotonic */
	int64_t ops_ns; /* the check before the last operation */
	unsigned int silent; /* checks in a row that a canary or NVML's load should have broken */
	uint64_t launches_without_ops;
	unsigned int waits_without_ops; /* checks in which something waited for those launches */
	uint64_t maybe_launches_without_ops;
	unsigned int maybe_waits;
	enum {
		PROF_TRIAL_NONE,
		PROF_TRIAL_ON, /* kinds were enabled anew */
		PROF_TRIAL_VAIN /* that changed nothing: there is nothing to record */
	} trial;
	int64_t off_ns; /* the last operation before the trial, the trace's clock */
	int64_t rearm_at_ns, pause_ns, first_pause_ns; /* monotonic */
	int64_t ours_ns; /* monotonic, since when it is ours */
	bool queue_seen; /* operations come again */
	int64_t queue_until_ns; /* monotonic; buffers come again, operations may not yet; 0: no */
	bool detached; /* in this foreign time nobody has it */
	int64_t back_ns; /* monotonic, when it came back; 0: it was never handed over */
};

struct prof_watchdog_input { /* totals, when a flush has ended and was drained */
	int64_t now_ns, mono_ns; /* begin of that flush on the trace's clock; monotonic now */
	uint64_t traffic; /* buffers asked for and given back */
	uint64_t launches; /* calls recorded that make operations */
	uint64_t maybe_launches; /* ... that may make some */
	uint64_t ops; /* operations recorded */
	uint64_t waits; /* calls recorded that wait for operations */
	uint64_t captures; /* graphs made: what was launched before may have gone into one */
	uint32_t canaries; /* made before this flush */
	bool answered; /* some canary's record has come back in this run */
	uint32_t out; /* buffers that CUPTI holds now */
	bool taken; /* a buffer of ours was freed by somebody: CUPTI gave it to another client */
	bool loaded; /* no canaries can be had, no buffer is out, and NVML shows load */
};

enum prof_watchdog_action {
	PROF_WATCHDOG_NONE,
	PROF_WATCHDOG_YIELD, /* CUPTI is gone: give up the buffers that are out */
	PROF_WATCHDOG_REARM, /* register and enable again */
	PROF_WATCHDOG_ENABLE, /* enable again, without registering */
	PROF_WATCHDOG_WAS_OFF, /* that helped: from off_ns until now operations were not recorded */
	PROF_WATCHDOG_BACK, /* operations come to us again, or none run: the foreign time is over */
};

/*
 * @pause_ns: how long it yields before it first registers again. No call tells that the other
 * client
 * is done, and registering again during its session takes its records away, so it is long, and
 * grows with each time until CUPTI was left to us for ten minutes.
 */
void prof_watchdog_init(struct prof_watchdog *w, int64_t now_ns, int64_t mono_ns, int64_t pause_ns);

/* How many canaries the next flush shall make; @out_bytes: size of all buffers that are out. */
uint32_t prof_watchdog_canaries(const struct prof_watchdog *w, int64_t mono_ns, uint64_t out_bytes);

/*
 * CUPTI was handed over (handover.h): what was launched after @lost_ns is not ours. And it has come
 * back, we have registered again. If it falls silent soon after that, the borrower has detached it:
 * nobody has it, and the next try comes at once and does not count. @busy: the program launched on
 * meanwhile; what it had launched before we registered runs on, and is foreign as after any rearm.
 */
void prof_watchdog_handed_over(struct prof_watchdog *w, int64_t lost_ns);
void prof_watchdog_back(struct prof_watchdog *w, int64_t now_ns, int64_t mono_ns, bool busy);

/*
 * At the end, when all that is ours has come: since when at the latest operations are missing that
 * calls have launched and waited for, or everything is, the trace's clock; 0: nothing is known to
 * be.
 */
int64_t prof_watchdog_missing(const struct prof_watchdog *w);

/* CUPTI refused us, and nothing of ours is on: it is tried again after the pause. */
void prof_watchdog_refused(struct prof_watchdog *w, int64_t now_ns, int64_t mono_ns);

enum prof_watchdog_action prof_watchdog_feed(struct prof_watchdog *w,
					     const struct prof_watchdog_input *in);

#endif
