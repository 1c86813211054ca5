/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feeds watchdog and governor, carries out what they say, writes down the time it cost.
 *
 * Changes are calls of CUPTI, so they run on the flusher: `wanted` is what shall be, `traced` what
 * is.
 */
#include "capture_policy.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "activity.h"
#include "bufpool.h"
#include "core/clockpoll.h"
#include "core/config.h"
#include "core/log.h"
#include "core/notes.h"
#include "exposure.h"
#include "handover.h"
#include "intake.h"
#include "nvml.h"
#include "sample/sampler.h"
#include "stream/loss.h"
#include "stream/stream.h"
#include "stream/transport.h"
#include "stream/writer.h"
#include "wire/windows.h"
#include "watchdog.h"
#include "windows.h"

#define SECOND_NS 1000000000ll
/* What other clients may keep of ours for good: of memory, and of address space (bufblock.h). */
#define GONE_BYTES ((uint64_t)32 << 20)
#define GONE_BUFFERS 512u
#define STOPPED_NS (SECOND_NS * 3 / 2) /* later than this, and idle: it was stopped */

struct job {
	struct prof_level before, after;
	bool rearm, off;
	int rc; /* CUPTI's, once it is done */
};

static struct {
	const struct prof_cupti *cupti;
	struct prof_level configured, traced, wanted;
	bool rearm, renew, off; /* renew: enable what shall be on, whatever we think it is */
	struct job job; /* the flusher's while `changing` */
	bool changing, detached; /* detached: CUPTI is off, too */
	bool handed_over, returning; /* to another client; it shall come back */
	bool busy; /* when it comes, the program will have launched on */
	struct prof_watchdog dog;
	struct prof_governor governor;
	struct prof_governor_calls calls; /* as the last flush told */
	struct prof_windows windows;
	bool left_told; /* that launches stay dearer */
	bool foreign_clock; /* seen */
	uint64_t dropped; /* a dropped record is a sign of life too */
	int64_t complete_ns; /* all before has been read */
	int64_t flush_ns; /* when the last flush began */
	int64_t written_ns; /* ongoing losses are written up to here */
	bool changed;
} g;

void prof_policy_init(const struct prof_level *level, const struct prof_cupti *cupti,
		      int64_t armed_ns)
{
	memset(&g, 0, sizeof(g));
	g.cupti = cupti;
	g.complete_ns = armed_ns;
	g.configured = g.traced = g.wanted = *level;
	prof_watchdog_init(&g.dog, prof_now_ns(), prof_mono_ns(),
			   (int64_t)prof_config()->rearm_seconds * SECOND_NS);
	prof_governor_init(&g.governor, prof_config()->max_overhead, level->api, prof_mono_ns());
	prof_windows_init(&g.windows,
			  ((uint64_t)prof_now_ns() << 20) ^ (uint64_t)prof_mono_ns() ^
				  (uint64_t)getpid() << 44,
			  prof_config()->max_overhead);
}

const char *prof_policy_level_name(void)
{
	return g.off ? "off" : prof_level_name(&g.traced);
}

const struct prof_governor *prof_policy_governor(void)
{
	return g.cupti && g.governor.deepest ? &g.governor : NULL;
}

const struct prof_windows *prof_policy_windows(void)
{
	return prof_config()->windows && prof_policy_governor() ? &g.windows : NULL;
}

bool prof_policy_full(void)
{
	return g.off;
}

/*
 * ---- changes of what is traced ----------------------------------------------------------------
 */

/*
 * What CUPTI dropped meanwhile was the other client's: Kineto gives it no more buffers over its
 * limit.
 */
static int take_back(void)
{
	prof_pool_disown();
	prof_cupti_dropped(g.cupti);
	return g.cupti->RegisterCallbacks(prof_activity_request, prof_activity_complete);
}

/* On the flusher, with a copy of what was asked for. */
static void apply(void)
{
	if (g.job.off) {
		prof_level_disable(g.cupti);
		return;
	}
	if (g.job.rearm)
		g.job.rc = take_back();
	if (g.job.rc)
		return;
	prof_level_reduce(&g.job.before, &g.job.after, g.cupti);
	g.job.rc = prof_level_enable(&g.job.after, g.cupti);
}

/* Tried again at each tick while the flusher is busy. */
static void begin_change(void)
{
	bool differs = g.wanted.api != g.traced.api || g.wanted.kernels != g.traced.kernels ||
		       g.wanted.others != g.traced.others;
	bool off = g.off && !g.detached;

	if (g.detached || (!differs && !g.rearm && !g.renew && !off) || (g.dog.gave_up && !off))
		return;
	g.job = (struct job){ .before = g.traced, .after = g.wanted, .rearm = g.rearm, .off = off };
	g.changing = prof_flusher_call(apply);
	g.renew = g.renew && !g.changing;
	if (g.changing)
		prof_flusher_wait(prof_mono_ns() + SECOND_NS / 4);
}

/* We have registered again after CUPTI was handed over. */
static void resumed(void)
{
	int64_t now = prof_now_ns();

	prof_loss_span(WIRE__LOSS_REASON__LOSS_FOREIGN, g.written_ns, now, 0);
	g.written_ns = now;
	g.handed_over = g.returning = false;
	prof_watchdog_back(&g.dog, now, prof_mono_ns(), g.busy);
}

static void give_up_buffers(void);

/* Who it is, is told once; how often, the loss spans tell. */
static void note_second(const char *holder)
{
	static char told[64] = "?";
	char who[80] = "another client";

	if (!strcmp(told, holder) || (!*holder && strcmp(told, "?")))
		return;
	snprintf(told, sizeof(told), "%s", holder);
	if (*holder)
		snprintf(who, sizeof(who), "\"%s\"", holder);
	prof_note("CUPTI refuses us (error %d) because %s uses its second interface in this "
		  "process: what ran on the GPU meanwhile is not in this trace; we try again from "
		  "time to time",
		  CUPTI_NOT_COMPATIBLE, who);
}

/* All of ours is off: CUPTI is as good as another client's, and is tried again as if it were. */
static void refused(void)
{
	int64_t since = g.dog.foreign && g.written_ns ? g.written_ns : prof_now_ns();

	prof_watchdog_refused(&g.dog, since, prof_mono_ns());
	give_up_buffers();
	if (g.job.rc == CUPTI_NOT_COMPATIBLE) {
		note_second("");
		return;
	}
	prof_note("CUPTI answered with error %d when it was switched on again: what ran until it "
		  "could be is not in this trace",
		  g.job.rc);
}

static void write_ongoing(int64_t now_ns);

/* What was asked for holds once the flusher has done it; until then kernels were lost. */
static void end_change(void)
{
	if (!g.changing || !prof_flusher_wait(0))
		return;
	if (g.job.after.kernels && !g.traced.kernels)
		write_ongoing(prof_now_ns());
	g.changing = false;
	g.changed = true;
	g.detached = g.job.off;
	g.traced = g.job.after;
	g.rearm = g.rearm && !g.job.rearm;
	if (g.returning && g.job.rearm)
		resumed();
	if (g.job.rc)
		refused();
}

static void change(void)
{
	end_change();
	if (!g.changing)
		begin_change();
	end_change();
}

/*
 * ---- another client ---------------------------------------------------------------------------
 */

/* What is out stays there, and what was launched since the earliest of it was asked for is lost. */
static void give_up_buffers(void)
{
	int64_t oldest;

	prof_pool_abandon(&oldest);
	if (oldest < g.dog.lost_ns)
		g.dog.lost_ns = oldest;
	g.written_ns = g.dog.lost_ns;
	g.changed = true;
}

/* Buffers that are known to have been freed count no more, so that this may end. */
static void count_gone(void)
{
	struct prof_pool_stats pool;
	bool gave_up = g.dog.gave_up;

	if (!g.dog.foreign && !gave_up)
		return;
	prof_pool_stats(&pool);
	g.dog.gave_up = pool.gone > GONE_BUFFERS || pool.gone_bytes > GONE_BYTES;
	if (g.dog.gave_up == gave_up)
		return;
	prof_note("other clients of CUPTI kept so many buffers (%llu MiB at most) that recording "
		  "%s",
		  (unsigned long long)(GONE_BYTES >> 20), g.dog.gave_up ? "paused" : "went on");
	g.changed = true;
}

static void note_foreign(void)
{
	prof_note(
		"another client of CUPTI took the records for a while (torch.profiler, or another "
		"profiler)");
}

static void yield(void)
{
	give_up_buffers();
	note_foreign();
}

/* Did anything run, since the last sign of life, on a device that is ours alone? */
static bool shows_load(void)
{
	struct prof_device_facts f;
	uint32_t i;

	for (i = 0; i < prof_stream_device_count(); i++)
		if (prof_stream_device(i)->ops && prof_nvml_get(i, g.dog.traffic_mono_ns, &f) &&
		    f.has_utilization && f.utilization && !f.other_processes)
			return true;
	return false;
}

/* NVML's word, where no canary can be had: asked for only in silence. */
static bool loaded(const struct prof_watchdog_input *in)
{
	bool canary = prof_level_has_canary(&g.traced, g.cupti) && in->answered;

	if (canary || !g.traced.others || in->out || in->traffic != g.dog.traffic || !g.dog.traffic)
		return false;
	prof_nvml_ask();
	return shows_load();
}

static void feed_watchdog(const struct prof_flush *f)
{
	struct prof_pool_stats pool;
	struct prof_watchdog_input in = { .now_ns = f->begin_ns,
					  .mono_ns = prof_mono_ns(),
					  .launches = prof_intake()->launches,
					  .maybe_launches = prof_intake()->maybe_launches,
					  .ops = prof_intake()->ops,
					  .waits = prof_intake()->waits,
					  .captures = prof_intake()->captures,
					  .canaries = f->canaries,
					  .answered = prof_intake()->canaries > 0 };

	prof_pool_stats(&pool);
	g.dropped += f->dropped;
	in.traffic = pool.requests + pool.completed + g.dropped;
	in.out = pool.out;
	in.taken = pool.taken;
	in.loaded = loaded(&in);
	switch (prof_watchdog_feed(&g.dog, &in)) {
	case PROF_WATCHDOG_YIELD:
		yield();
		break;
	case PROF_WATCHDOG_REARM:
		g.rearm = true;
		break;
	case PROF_WATCHDOG_ENABLE:
		g.renew = true;
		break;
	case PROF_WATCHDOG_WAS_OFF:
		prof_loss_span(WIRE__LOSS_REASON__LOSS_FOREIGN, g.dog.off_ns, f->end_ns, 0);
		note_foreign();
		g.changed = true;
		break;
	case PROF_WATCHDOG_BACK:
		prof_loss_span(WIRE__LOSS_REASON__LOSS_FOREIGN, g.written_ns, f->end_ns, 0);
		g.changed = true;
		break;
	case PROF_WATCHDOG_NONE:
		break;
	}
}

/* Where kernels are not recorded, a canary tells each time how many calls there were. */
uint32_t prof_policy_canaries(void)
{
	struct prof_pool_stats pool;
	uint32_t n;

	if (g.off || !prof_level_has_canary(&g.traced, g.cupti))
		return 0;
	prof_pool_stats(&pool);
	n = prof_watchdog_canaries(&g.dog, prof_mono_ns(), pool.out_bytes);
	return !n && g.configured.kernels && !g.traced.kernels && !g.dog.foreign ? 1 : n;
}

/* Nothing is flushed, so nothing is learnt but that time passes. */
static void wait_for_client(void)
{
	struct prof_flush f = { .begin_ns = prof_now_ns(), .end_ns = prof_now_ns() };

	feed_watchdog(&f);
}

bool prof_policy_may_flush(void)
{
	return !g.handed_over && (!g.dog.foreign || g.dog.rearmed) && !g.detached;
}

/*
 * ---- handing over -----------------------------------------------------------------------------
 */

static void switch_off(void)
{
	prof_level_hand_over(g.cupti);
}

bool prof_policy_release(void)
{
	g.returning = false;
	if (!g.cupti || g.handed_over || g.off)
		return false;
	prof_flusher_wait(prof_mono_ns() + SECOND_NS);
	end_change();
	g.rearm = false;
	if (prof_flusher_call(switch_off))
		prof_flusher_wait(prof_mono_ns() + SECOND_NS);
	return true;
}

void prof_policy_released(void)
{
	g.handed_over = true;
	prof_watchdog_handed_over(&g.dog, g.complete_ns);
	give_up_buffers();
	prof_note("CUPTI was lent to %s: what ran on the GPU during its sessions is not in this "
		  "trace",
		  prof_handover_client());
}

void prof_policy_reclaim(bool busy)
{
	if (!g.handed_over)
		return;
	g.busy = busy;
	g.returning = g.rearm = true;
	change();
}

/*
 * ---- cost -------------------------------------------------------------------------------------
 */

/* Does everything that wants to run get a core? Then our own threads take nothing away. */
static bool cores_short(void)
{
	static int64_t last_cpu, last_mono;
	int64_t cpu = prof_process_cpu_ns(), mono = prof_mono_ns();
	cpu_set_t set;
	bool is_short;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof(set), &set))
		return true;
	is_short = last_mono && (cpu - last_cpu) * 10 > (mono - last_mono) * CPU_COUNT(&set) * 8;
	last_cpu = cpu;
	last_mono = mono;
	return is_short;
}

static void percent(char *out, size_t size, uint64_t millionths)
{
	snprintf(out, size, "%llu.%02llu %%", (unsigned long long)(millionths / 10000),
		 (unsigned long long)(millionths / 100 % 100));
}

/* A step's first time says what made it necessary. */
static void note_step(enum prof_step step, bool down)
{
	static const char *const what[PROF_STEPS] = {
		"everything", "kernels and copies, no API calls",
		"copies, no kernels and no API calls",
		"graphs as a whole, no kernels, copies, waits and API calls"
	};
	static bool told[PROF_STEPS];
	const struct prof_governor *l = &g.governor;
	char limit[32], cost[32], words[160] = "";

	percent(limit, sizeof(limit), g.governor.limit);
	percent(cost, sizeof(cost), g.governor.cost);
	if (down && !told[step])
		snprintf(
			words, sizeof(words),
			"; it cost %s: a launch takes %u ns for calls, %u kernels, %u copies and waits "
			"(%s)",
			cost, l->has_api ? l->saves_ns[PROF_STEP_FULL] : 0,
			l->saves_ns[PROF_STEP_NO_API], l->saves_ns[PROF_STEP_NO_KERNELS],
			prof_governor_learnt(l, PROF_STEP_FULL) ? "measured" : "an H100's");
	told[step] |= down;
	prof_note("the governor changed what is traced to stay under %s: %s%s", limit, what[step],
		  words);
}

/* Said once: where launches stay instrumented there is a cost that no step takes away. */
static void note_left(void)
{
	uint32_t left = prof_governor_left_ns(&g.governor);
	char limit[32], share[32];

	if (!left || g.left_told)
		return;
	g.left_told = g.changed = true;
	percent(limit, sizeof(limit), g.governor.limit);
	percent(share, sizeof(share), g.governor.rate * left / 1000);
	prof_note("launches stay dearer than without tracing though their kernels are recorded no "
		  "more: about %u ns each, %s of the time, which lasts until the program ends; the "
		  "limit of %s is for what can be switched off",
		  left, share, limit);
}

/* Of all our threads. */
static int64_t own_cpu_ns(void)
{
	return prof_cpu_ns() + prof_flusher_cpu_ns() + prof_nvml_cpu_ns() + prof_sampler_cpu_ns() +
	       prof_writer_cpu_ns();
}

/* What the governor's step leaves, or in a window of full recording all. */
static void want(enum prof_step step)
{
	g.wanted = g.configured;
	g.wanted.api &= step < PROF_STEP_NO_API;
	g.wanted.kernels &= step < PROF_STEP_NO_KERNELS;
	g.wanted.others &= step < PROF_STEP_LEAST;
}

static void draw_windows(int64_t mono_ns)
{
	bool was = g.windows.open, may = !g.off && !g.dog.foreign && !g.handed_over;
	struct prof_windows_input in = { .now_ns = prof_now_ns(),
					 .drawn_ns = g.governor.drawn_ns,
					 .ahead_ns = UINT64_MAX };

	if (may)
		in.ahead_ns = prof_governor_drawn_ns(&g.governor, mono_ns, WIRE_WINDOW_NS);
	if (prof_windows_feed(&g.windows, &in) != was)
		want(was ? g.governor.step : PROF_STEP_FULL);
}

static void govern(void)
{
	struct prof_governor_input in = { .now_ns = prof_mono_ns(),
					  .exposed = prof_exposure()->exposed,
					  .calls = g.calls,
					  .cpu_ns = (uint64_t)own_cpu_ns(),
					  .drawn = g.windows.begun && g.traced.kernels };
	enum prof_step before = g.governor.step, step;

	in.cores_short =
		in.now_ns - g.governor.since_ns >= PROF_GOVERNOR_WINDOW_NS && cores_short();
	if (prof_governor_feed(&g.governor, &in)) {
		step = g.governor.step;
		want(step);
		note_step(step, step > before);
	}
	if (prof_config()->windows)
		draw_windows(in.now_ns);
	note_left();
}

/* CUPTI's ids count the calls: the records that a flush brings tell how many there were by then. */
static void count_calls(const struct prof_flush *f)
{
	int64_t ago = prof_now_ns() - f->begin_ns;

	if (!prof_intake()->calls || ago < 0)
		return;
	g.calls = (struct prof_governor_calls){ .calls = prof_intake()->calls,
						.at_ns = prof_mono_ns() - ago,
						.cpu_ns = f->cpu_ns - own_cpu_ns() };
}

/*
 * ---- size -------------------------------------------------------------------------------------
 */

static void watch_size(void)
{
	struct prof_transport_stats t;
	uint64_t limit = prof_config()->max_trace;

	if (!limit || g.off)
		return;
	prof_transport_stats(&t);
	if (t.bytes < limit / 4 * 3)
		return;
	g.off = true;
	g.written_ns =
		g.complete_ns ? g.complete_ns : prof_now_ns(); /* later ones are held back yet */
	g.changed = true;
	prof_note("the trace reached its limit of %llu bytes: nothing more was recorded",
		  (unsigned long long)limit);
	prof_stream_stop();
}

/*
 * ---- all of it --------------------------------------------------------------------------------
 */

/* Losses that go on are written piece by piece, so that they stand in a killed process's trace. */
static void write_ongoing(int64_t now_ns)
{
	if (!g.written_ns)
		g.written_ns = now_ns;
	if (g.off)
		prof_loss_span(WIRE__LOSS_REASON__LOSS_DETACHED, g.written_ns, now_ns, 0);
	else if (g.dog.foreign)
		prof_loss_span(WIRE__LOSS_REASON__LOSS_FOREIGN, g.written_ns, now_ns, 0);
	else if (g.configured.kernels && !g.traced.kernels)
		prof_loss_span(WIRE__LOSS_REASON__LOSS_GOVERNOR, g.written_ns, now_ns, 0);
	g.written_ns = now_ns;
}

/* Whose time it was, is known, so stamps that cannot be read count as foreign, not as bad. */
static void foreign_clock(const struct prof_flush *f, int64_t last_ns)
{
	prof_loss_forget_bad_stamps();
	prof_loss_span(WIRE__LOSS_REASON__LOSS_FOREIGN, last_ns, f->end_ns, 0);
	if (g.foreign_clock)
		return;
	g.foreign_clock = true;
	prof_note("another client of CUPTI put its own clock into the records (torch.profiler "
		  "does); their times are carried to the trace's clock");
	g.changed = true;
}

/*
 * The process is the second interface's, since some time after the last flush: our records end
 * there, and what was asked for before that may be gone with its buffers.
 */
static void step_aside(const struct prof_flush *f, int64_t last_ns)
{
	note_second(f->holder);
	if (g.dog.foreign && !g.dog.rearmed)
		return;
	prof_watchdog_refused(&g.dog, last_ns < g.complete_ns ? last_ns : g.complete_ns,
			      prof_mono_ns());
	give_up_buffers();
}

void prof_policy_refused(int64_t armed_ns)
{
	prof_watchdog_refused(&g.dog, armed_ns, prof_mono_ns());
	give_up_buffers();
	note_second("");
}

void prof_policy_flushed(const struct prof_flush *f, int64_t last_ns, enum prof_timebase base)
{
	int64_t oldest = prof_pool_oldest_out();

	if (f->refused) {
		step_aside(f, last_ns);
		return;
	}

	g.flush_ns = f->begin_ns;
	g.complete_ns = f->begin_ns - PROF_POOL_BEFORE_NS;
	g.complete_ns = oldest < g.complete_ns ? oldest : g.complete_ns;
	if (base == PROF_TIMEBASE_CHANGED)
		foreign_clock(f, last_ns);
	if (!f->rc && !g.off) {
		count_calls(f);
		feed_watchdog(f);
	}
}

/*
 * The last flush was forced and brings all that is ours. What is out all the same has gone to
 * another client, or with CUPTI's end, too late for the watchdog to be sure of it.
 */
static void write_missing(int64_t now_ns)
{
	int64_t since = prof_pool_oldest_out(), missing = prof_watchdog_missing(&g.dog);

	if (since >= g.flush_ns - PROF_POOL_BEFORE_NS) /* asked for by what came since */
		since = now_ns;
	if (missing && missing < since)
		since = missing;
	if (!g.off && !g.dog.foreign && since < now_ns)
		prof_loss_span(WIRE__LOSS_REASON__LOSS_FOREIGN, since, now_ns, 0);
}

void prof_policy_finish(void)
{
	int64_t now = prof_now_ns();

	write_ongoing(now);
	if (g.cupti)
		write_missing(now);
}

bool prof_policy_tick(void)
{
	bool changed;

	if (g.cupti) {
		count_gone();
		if (g.dog.foreign && !prof_policy_may_flush())
			wait_for_client();
		govern();
		change();
	}
	watch_size();
	write_ongoing(prof_now_ns());
	changed = g.changed;
	g.changed = false;
	return changed;
}

void prof_policy_alive(struct prof_alive *last, int64_t expected_ns)
{
	struct prof_alive now = { prof_mono_ns(), prof_now_ns(), prof_process_cpu_ns() };
	int64_t late = now.mono_ns - last->mono_ns - expected_ns;

	if (last->mono_ns && late > STOPPED_NS && (now.cpu_ns - last->cpu_ns) * 20 < late)
		prof_loss_span(WIRE__LOSS_REASON__LOSS_SUSPENDED, last->now_ns, now.now_ns, 0);
	*last = now;
}
