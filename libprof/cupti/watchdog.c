/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signs of life, and what follows when there are none.
 */
#include "watchdog.h"

#include <string.h>

#define SECOND_NS 1000000000ll
#define SILENCE_NS (SECOND_NS - SECOND_NS / 10)
#define SILENT_LOOKS 3u
#define SILENT_UNANSWERED 8u /* where no canary has come back yet */
#define LAUNCHES_MANY 64u
#define WAITS_MANY 2u /* checks */
#define MORE 4u /* times as much, where CUPTI holds buffers */
#define CANARY_BYTES 40u
#define CANARIES_MAX 65536u
#define PAUSE_LAST_NS (300 * SECOND_NS)
#define REARMS_MANY 20u /* in vain, or soon taken away again */
#define PAUSE_MANY_NS (3600 * SECOND_NS)
#define CALM_NS (600 * SECOND_NS)
#define QUEUE_NS (2 * SECOND_NS)
#define BACK_NS (30 * SECOND_NS) /* a borrower may detach CUPTI so long after it gave it back */

void prof_watchdog_init(struct prof_watchdog *w, int64_t now_ns, int64_t mono_ns, int64_t pause_ns)
{
	memset(w, 0, sizeof(*w));
	w->traffic_ns = w->ops_ns = w->check_ns = now_ns;
	w->traffic_mono_ns = mono_ns;
	w->pause_ns = w->first_pause_ns = pause_ns;
	w->ours_ns = mono_ns;
}

uint32_t prof_watchdog_canaries(const struct prof_watchdog *w, int64_t mono_ns, uint64_t out_bytes)
{
	uint64_t many = out_bytes / CANARY_BYTES + 8;

	if (w->foreign && !w->rearmed)
		return 0;
	if (w->answered && mono_ns - w->traffic_mono_ns < SILENCE_NS)
		return 0;
	if (!w->silent)
		return 1;
	return many < CANARIES_MAX ? (uint32_t)many : CANARIES_MAX;
}

static void forget_launches(struct prof_watchdog *w)
{
	w->launches_without_ops = w->maybe_launches_without_ops = 0;
	w->waits_without_ops = w->maybe_waits = 0;
}

static void see_operations(struct prof_watchdog *w, const struct prof_watchdog_input *in)
{
	if (in->ops != w->ops)
		w->ops_ns = w->check_ns;
	if (in->ops != w->ops || in->captures != w->captures) {
		forget_launches(w);
		w->trial = PROF_TRIAL_NONE;
	} else {
		w->launches_without_ops += in->launches - w->launches;
		w->waits_without_ops += in->waits != w->waits && w->launches_without_ops;
		w->maybe_launches_without_ops += in->maybe_launches - w->maybe_launches;
		w->maybe_waits += in->waits != w->waits && w->maybe_launches_without_ops;
	}
	w->ops = in->ops;
	w->launches = in->launches;
	w->maybe_launches = in->maybe_launches;
	w->waits = in->waits;
	w->captures = in->captures;
}

static bool stolen(struct prof_watchdog *w, const struct prof_watchdog_input *in)
{
	/*
	 * Before the first answer, so many canaries that a buffer which is out could not hold them.
	 */
	const bool asked = in->canaries && (w->answered || in->out);

	w->unanswered = in->traffic == w->traffic && (asked || w->unanswered);
	if (in->traffic != w->traffic || (!asked && !in->loaded))
		w->silent = 0;
	else
		w->silent++;
	return w->silent >= (w->answered || in->loaded ? SILENT_LOOKS : SILENT_UNANSWERED) ||
	       in->taken;
}

/*
 * Buffers come back with calls that launch and calls that waited for it, but none of what was
 * launched. Launches into a capture make nothing either, but none may wait for them. A buffer that
 * is out may hold the operations; but it may also be an empty one, of a thread that does nothing
 * any more.
 */
static bool enough(const struct prof_watchdog_input *in, uint64_t launches, unsigned int waits)
{
	unsigned int more = in->out ? MORE : 1;

	return launches >= LAUNCHES_MANY * more && waits >= WAITS_MANY * more;
}

static bool disabled(const struct prof_watchdog *w, const struct prof_watchdog_input *in)
{
	return w->ops && enough(in, w->launches_without_ops, w->waits_without_ops);
}

/* After the kinds were enabled anew: do calls make operations now, as they do when those are on? */
static bool was_off(const struct prof_watchdog *w, const struct prof_watchdog_input *in)
{
	uint64_t ops = in->ops - w->ops;

	return w->trial == PROF_TRIAL_ON && ops &&
	       ops * 4 >= in->maybe_launches - w->maybe_launches;
}

/* The same as disabled(), of calls that need not make any. */
static enum prof_watchdog_action try_kinds(struct prof_watchdog *w,
					   const struct prof_watchdog_input *in)
{
	if (!w->ops || w->trial == PROF_TRIAL_VAIN ||
	    !enough(in, w->maybe_launches_without_ops, w->maybe_waits))
		return PROF_WATCHDOG_NONE;
	if (w->trial == PROF_TRIAL_ON) {
		w->trial = PROF_TRIAL_VAIN;
		return PROF_WATCHDOG_NONE;
	}
	w->trial = PROF_TRIAL_ON;
	w->off_ns = w->ops_ns;
	w->maybe_launches_without_ops = w->maybe_waits = 0;
	return PROF_WATCHDOG_ENABLE;
}

static enum prof_watchdog_action yield(struct prof_watchdog *w, int64_t lost_ns, int64_t mono_ns)
{
	if (mono_ns - w->ours_ns >= CALM_NS) { /* this is another client, or another session */
		w->rearms = 0;
		w->pause_ns = w->first_pause_ns;
	}
	w->foreign = true;
	w->rearmed = false;
	w->queue_until_ns = 0;
	w->lost_ns = lost_ns;
	w->detached = w->back_ns && mono_ns - w->back_ns < BACK_NS;
	w->rearm_at_ns = mono_ns + (w->detached ? 0 : w->pause_ns);
	w->silent = 0;
	return PROF_WATCHDOG_YIELD;
}

/* Once: if that does not help, somebody has CUPTI. */
static enum prof_watchdog_action rearm_detached(struct prof_watchdog *w, int64_t mono_ns)
{
	w->detached = false;
	w->rearmed = true;
	forget_launches(w);
	w->rearm_at_ns = mono_ns + w->pause_ns;
	return PROF_WATCHDOG_REARM;
}

/*
 * Buffers come to us, but what was launched before runs on and leaves no records. The first
 * operation that leaves one ran behind it, at least on its own stream; for others one more check
 * must do. If none comes for so long, the device is taken to have nothing to do.
 */
static enum prof_watchdog_action queue_runs_on(struct prof_watchdog *w,
					       const struct prof_watchdog_input *in)
{
	bool seen = w->queue_seen;

	if (!w->queue_until_ns)
		w->queue_until_ns = in->mono_ns + QUEUE_NS;
	w->queue_seen = in->ops != w->ops;
	if (!seen && in->mono_ns < w->queue_until_ns)
		return PROF_WATCHDOG_NONE;
	w->queue_seen = false;
	w->queue_until_ns = 0;
	w->foreign = false;
	w->ours_ns = in->mono_ns;
	return PROF_WATCHDOG_BACK;
}

static enum prof_watchdog_action while_foreign(struct prof_watchdog *w,
					       const struct prof_watchdog_input *in)
{
	if (w->rearmed && (w->queue_until_ns || in->traffic != w->traffic))
		return queue_runs_on(w, in);
	if (in->mono_ns < w->rearm_at_ns || w->gave_up || w->handed_over)
		return PROF_WATCHDOG_NONE;
	if (w->detached)
		return rearm_detached(w, in->mono_ns);
	w->rearms++;
	w->rearmed = true;
	forget_launches(w);
	w->pause_ns = w->pause_ns * 2 < PAUSE_LAST_NS ? w->pause_ns * 2 : PAUSE_LAST_NS;
	if (w->rearms >= REARMS_MANY)
		w->pause_ns = PAUSE_MANY_NS;
	w->rearm_at_ns = in->mono_ns + w->pause_ns;
	return PROF_WATCHDOG_REARM;
}

static enum prof_watchdog_action next_action(struct prof_watchdog *w,
					     const struct prof_watchdog_input *in)
{
	if (w->foreign)
		return while_foreign(w, in);
	if (stolen(w, in))
		return yield(w, w->traffic_ns, in->mono_ns);
	return PROF_WATCHDOG_NONE;
}

void prof_watchdog_handed_over(struct prof_watchdog *w, int64_t lost_ns)
{
	w->foreign = w->handed_over = true;
	w->rearmed = w->detached = false;
	w->queue_until_ns = 0;
	w->lost_ns = lost_ns;
	w->silent = 0;
}

void prof_watchdog_back(struct prof_watchdog *w, int64_t now_ns, int64_t mono_ns, bool busy)
{
	w->foreign = w->rearmed = w->detached = busy;
	w->rearm_at_ns = mono_ns + QUEUE_NS;
	w->handed_over = false;
	w->back_ns = w->traffic_mono_ns = w->ours_ns = mono_ns;
	w->traffic_ns = w->ops_ns = w->check_ns = now_ns;
	w->silent = 0;
	w->trial = PROF_TRIAL_NONE;
	forget_launches(w);
}

int64_t prof_watchdog_missing(const struct prof_watchdog *w)
{
	bool missing = w->ops && w->launches_without_ops >= LAUNCHES_MANY && w->waits_without_ops;

	if (w->foreign)
		return 0;
	return missing ? w->ops_ns : w->answered && w->unanswered ? w->traffic_ns : 0;
}

void prof_watchdog_refused(struct prof_watchdog *w, int64_t now_ns, int64_t mono_ns)
{
	yield(w, now_ns, mono_ns);
	w->detached = false;
	w->rearm_at_ns = mono_ns + w->pause_ns;
}

enum prof_watchdog_action prof_watchdog_feed(struct prof_watchdog *w,
					     const struct prof_watchdog_input *in)
{
	enum prof_watchdog_action action;

	w->answered = w->answered || in->answered;
	action = next_action(w, in);
	if (action == PROF_WATCHDOG_NONE && !w->foreign && was_off(w, in))
		action = PROF_WATCHDOG_WAS_OFF;

	if (in->traffic != w->traffic) {
		w->traffic_ns = w->check_ns;
		w->traffic_mono_ns = in->mono_ns;
	}
	w->traffic = in->traffic;
	see_operations(w, in);
	w->check_ns = in->now_ns;
	if (action == PROF_WATCHDOG_BACK)
		forget_launches(w);
	if (!w->foreign && disabled(w, in))
		return yield(w, w->ops_ns, in->mono_ns);
	return !w->foreign && action == PROF_WATCHDOG_NONE ? try_kinds(w, in) : action;
}
