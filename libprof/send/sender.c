/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sender's loop: flush, drain, send; twice a second, and in between whenever much has come.
 * What it may wait for is bounded, and CUPTI is not among it (cupti/flusher.h).
 */
#include "sender.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect.h"
#include "core/clockpoll.h"
#include "core/config.h"
#include "core/notes.h"
#include "core/thread.h"
#include "cupti/capture_policy.h"
#include "cupti/devices.h"
#include "cupti/drained.h"
#include "cupti/handover.h"
#include "cupti/intake.h"
#include "cupti/nvml.h"
#include "devicefacts.h"
#include "hello.h"
#include "latenotes.h"
#include "loader/shim.h"
#include "ranges/ranges.h"
#include "report.h"
#include "sample/evidence.h"
#include "sample/sampler.h"
#include "sample/submitters.h"
#include "savewatch.h"
#include "stream/loss.h"
#include "stream/stream.h"
#include "stream/transport.h"
#include "stream/writer.h"
#include "traceclock.h"
#include "written.h"

#define MS 1000000ll
#define BEGIN 2u /* of s.begin */
#define TICK_NS (500 * MS)
#define PULSE_TICKS 2
#define PULSE_TICKS_FULL 60 /* once the trace may not grow any more */
#define CLOCK_TICKS 20
#define HELLO_TRIES 240 /* as often are devices asked for */
#define FLUSH_EXIT_NS (2000 * MS)
#define SEND_NS (100 * MS)
#define SEND_EXIT_NS (1000 * MS)
#define SAMPLER_EXIT_NS (200 * MS)
#define IDENTIFY_NS (200 * MS) /* NVML takes some 20 ms; what comes later stands in a later Hello */
#define FACTS_EXIT_NS (200 * MS)
/* left, in a hurry, for what comes after the sampler's end ... */
#define LEAVE_SAMPLER_NS (150 * MS)
#define LEAVE_FLUSH_NS (60 * MS) /* ... after the last flush ... */
#define LEAVE_SEND_NS (10 * MS) /* ... and after the last bytes */
#define HANDOVER_NS (500 * MS) /* for what runs on the devices when CUPTI is handed over */
#define CLOCK_READINGS 3
#define CLOCK_READING_NS (5 * MS)

static struct {
	const struct prof_sender_opts *o;
	atomic_flag started;
	/* what it waits for before it begins: the arm's end, something to send */
	atomic_uint begin;
	atomic_uint wake, ended;
	atomic_bool stopping, alive;
	atomic_int tid; /* of the thread; 0: it has not come to run yet */
	/* when the process is gone (monotonic); 0: it waits, within reason */
	_Atomic int64_t leave_ns;

	unsigned int tries; /* to find devices */
	unsigned int tick;
	struct prof_counters count;
	size_t devices;
	struct prof_alive seen;
} s = { .started = ATOMIC_FLAG_INIT };

void prof_sender_wake(void)
{
	prof_word_bump(&s.wake);
}

/* At most one system call per drain, for this runs in CUPTI's callback. */
void prof_sender_pending(void)
{
	if (prof_collect_pending())
		prof_word_bump(&s.wake);
}

/*
 * ---- Hello ------------------------------------------------------------------------------------
 */

static void write_hello(void)
{
	struct prof_hello h = { .process = &s.o->process,
				.run_id = s.o->run_id,
				.level = prof_policy_level_name(),
				.graphs = prof_graphs_name(s.o->level.graphs),
				.torch_version = prof_ranges_torch_version(),
				.cupti_version = s.o->cupti ? s.o->cupti->version : 0,
				.armed_ns = s.o->armed_ns };

	if (*prof_ranges_note())
		prof_note("%s", prof_ranges_note());
	prof_hello_write(&h);
}

/*
 * The driver names its devices only when cuInit has returned, so they may come with a later Hello.
 * One of the calls is the canary, which CUPTI records: not while another client is about to have
 * its buffers, and would find one of ours among them.
 */
static bool find_devices(void)
{
	const struct prof_device *list;

	if (s.devices)
		return prof_devices_learn();
	if (s.tries > HELLO_TRIES || (s.o->cupti && !prof_policy_may_flush()))
		return false;
	s.tries++;
	if (prof_devices_read())
		return false;
	s.devices = prof_devices(&list);
	if (!s.devices)
		return false;
	prof_nvml_identify(prof_mono_ns() + IDENTIFY_NS);
	prof_devices_learn();
	return true;
}

/*
 * ---- another client of CUPTI ------------------------------------------------------------------
 */

static void hand_cupti_over(void)
{
	int64_t deadline = prof_mono_ns() + HANDOVER_NS;
	bool ours = prof_policy_may_flush();

	if (ours)
		prof_collect_buffers(deadline);
	if (!prof_policy_release())
		return;
	if (ours)
		prof_collect_buffers(deadline);
	prof_policy_released();
}

/*
 * A clock of the other client's is read some times before anything is recorded on it, for stamps
 * can be carried only between readings.
 */
static void reclaim_cupti(void)
{
	int i;

	prof_policy_reclaim(prof_handover_unwaited());
	for (i = 0; i < CLOCK_READINGS && prof_policy_may_flush(); i++) {
		if (!prof_collect_flush_whole() || !prof_traceclock_foreign())
			return;
		prof_word_wait(&s.ended, 0, prof_mono_ns() + CLOCK_READING_NS);
	}
}

/* Hands CUPTI over or takes it back, as somebody waits for. */
static void answer_handover(void)
{
	unsigned int number;
	bool out;

	if (!prof_handover_pending(&out, &number))
		return;
	if (s.o->cupti && out)
		hand_cupti_over();
	else if (s.o->cupti)
		reclaim_cupti();
	prof_handover_done(number);
}

/*
 * ---- ranges -----------------------------------------------------------------------------------
 */

/*
 * Libraries mark what their own threads do, too: who makes batches opens ranges, and submits
 * nothing.
 */
static bool is_trainers(const struct wire_event *ev)
{
	return ev->op == WIRE_RANGE_LOADER || ev->op == WIRE_RANGE_ITER ||
	       ev->op == WIRE_RANGE_STEP || ev->op == WIRE_RANGE_OPTIMIZER;
}

static void add_range(void *unused, const struct wire_event *ev)
{
	(void)unused;
	if (is_trainers(ev))
		prof_submitters_saw(ev->tid);
	prof_stream_add(ev);
}

static void drain_ranges(bool final)
{
	prof_ranges_drain(prof_stream_names(), prof_traceclock_axis(), add_range, NULL, final);
}

/*
 * Without a GPU nobody submits: who is looked at all the time are this process's threads that make
 * batches.
 */
static bool is_maker(const struct wire_batch *row)
{
	return prof_config()->loader && row->what == WIRE_BATCH_FETCH &&
	       row->pid == (uint32_t)getpid();
}

static void add_batch(const struct wire_batch *row, const char *text)
{
	if (is_maker(row))
		prof_submitters_saw(row->tid);
	prof_evidence_batch(row, *text ? text : NULL);
}

static void add_sample(const struct prof_thread_sample *sample)
{
	prof_evidence_sample(sample);
}

static void add_checkpoint(const struct prof_checkpoint *c, const char *saver, const char *path)
{
	if (c->state != PROF_SAVE_MOVED && c->state != PROF_SAVE_FOLDER)
		prof_report_checkpoint(c, saver, path);
	prof_savewatch_told(c, path);
}

static void drain_shim(bool final)
{
	struct prof_shim_sink sink = { .axis = prof_traceclock_axis(),
				       .batch = add_batch,
				       .checkpoint = add_checkpoint,
				       .sample = add_sample };

	prof_shim_drain(&sink, final);
}

/*
 * ---- loop -------------------------------------------------------------------------------------
 */

static void report_lost_frames(void)
{
	int64_t t0, t1;
	uint64_t frames;

	if (prof_transport_lost(&t0, &t1, &frames))
		prof_loss_span(WIRE__LOSS_REASON__LOSS_FRAMES, t0, t1, frames);
}

/* Without CUPTI nothing is flushed: the clock and the pulse go on. */
static void passive_tick(void)
{
	struct prof_triplet t;

	if (s.tick % CLOCK_TICKS == 1) {
		prof_clock_sample(NULL, &t);
		prof_traceclock_record(&t);
	}
	s.count.complete_ns = prof_now_ns();
}

static void write_reports(void)
{
	unsigned int pulse = prof_policy_full() ? PULSE_TICKS_FULL : PULSE_TICKS;

	if (s.tick % CLOCK_TICKS == 2)
		prof_report_clock();
	if (s.devices && !prof_policy_full())
		prof_devicefacts_tick(s.tick, s.o->run_id);
	if (s.tick % pulse)
		return;
	prof_stream_losses(prof_now_ns());
	prof_written_tick(false);
	s.count.level = prof_policy_level_name();
	prof_report_pulse(&s.count);
}

/* What the sampler needs to know: who submits, and whether the devices have anything to do. */
static void watch_devices(void)
{
	bool flushes = s.o->cupti && prof_policy_may_flush();

	prof_submitters_age(prof_mono_ns());
	prof_sampler_drained(flushes ? prof_drained(prof_collect_last_flush_ns()) : 0);
}

static void tick(void)
{
	struct prof_ranges_stats ranges;
	bool news;

	s.tick++;
	news = find_devices();
	news |= prof_ranges_poll();
	if (!s.o->cupti)
		passive_tick();
	else if (prof_policy_may_flush())
		prof_collect_flush();
	else
		prof_collect_no_flush();
	drain_ranges(false);
	drain_shim(false);
	prof_savewatch_tick();
	prof_ranges_stats(&ranges);
	news |= prof_shim_missing(ranges.loader_waits);
	news |= prof_policy_tick();
	news |= prof_latenotes_tick(s.o->cupti);
	if (news)
		write_hello();
	prof_evidence_flush();
	prof_stream_blocks();
	watch_devices();
	report_lost_frames();
	write_reports();
	prof_transport_pump(prof_mono_ns() + SEND_NS);
	prof_collect_keep_buffers();
}

/* Much has come between two ticks: translate it now, so that buffers and rings get free. */
static void between_ticks(void)
{
	if (s.o->cupti)
		prof_collect_drain();
	drain_ranges(false);
	drain_shim(false);
	prof_transport_pump(0);
}

static void open_all(void)
{
	struct prof_transport_opts t = { .socket = prof_config()->socket,
					 .out = prof_config()->out,
					 .run_id = s.o->run_id,
					 .stream = s.o->process.stream,
					 .max_bytes = prof_config()->max_trace };

	prof_transport_init(&t);
	prof_writer_start();
	prof_intake_init(s.o->cupti);
	prof_policy_init(&s.o->level, s.o->cupti, s.o->armed_ns);
	if (s.o->handed_over)
		prof_policy_released();
	else if (s.o->refused)
		prof_policy_refused(s.o->armed_ns);
	prof_collect_init(s.o->armed_ns, &s.count);
}

/* In @ns, but with @left ns to go before a process is gone that does not wait. */
static int64_t until(int64_t ns, int64_t left)
{
	int64_t leave = atomic_load(&s.leave_ns), deadline = prof_mono_ns() + ns;

	return leave && leave - left < deadline ? leave - left : deadline;
}

static void finish(void)
{
	prof_sampler_stop(until(SAMPLER_EXIT_NS, LEAVE_SAMPLER_NS));
	if (!atomic_load(&s.leave_ns) && !prof_nvml_stop(prof_mono_ns() + FACTS_EXIT_NS))
		prof_note("a call into NVML was still under way when the program ended");
	prof_devices_learn();
	if (s.o->cupti)
		prof_collect_last(until(FLUSH_EXIT_NS, LEAVE_FLUSH_NS));
	drain_ranges(true);
	drain_shim(true);
	prof_savewatch_tick();
	prof_policy_finish();
	prof_evidence_flush();
	prof_stream_blocks();
	report_lost_frames();
	prof_stream_losses(prof_now_ns());
	prof_written_tick(true);
	prof_report_clock();
	s.count.level = prof_policy_level_name();
	prof_report_bye(&s.count, atomic_load(&s.leave_ns) ? "_exit" : "exit");
	prof_transport_finish(until(SEND_EXIT_NS, LEAVE_SEND_NS));
}

static void loop(void)
{
	int64_t next = prof_mono_ns() + (s.o->cupti ? 0 : TICK_NS);
	unsigned int seen;

	while (!atomic_load(&s.stopping)) {
		seen = atomic_load(&s.wake);
		answer_handover();
		if (prof_mono_ns() >= next) {
			tick();
			next = prof_mono_ns() + TICK_NS;
		} else {
			between_ticks();
		}
		prof_policy_alive(&s.seen, INT64_MAX / 2); /* work may take long: no evidence */
		if (!atomic_load(&s.stopping))
			prof_word_wait(&s.wake, seen, next);
		prof_policy_alive(&s.seen, next - s.seen.mono_ns);
	}
}

static void *run(void *unused)
{
	(void)unused;
	prof_thread_begin("gpustarve-send");
	atomic_store(&s.tid, (int)syscall(SYS_gettid));
	prof_word_reach(&s.begin, BEGIN, INT64_MAX);
	open_all();
	find_devices();
	write_hello();
	prof_sampler_start();
	loop();
	finish();
	atomic_store(&s.alive, false);
	prof_word_bump(&s.ended);
	return NULL;
}

int prof_sender_prepare(const struct prof_sender_opts *o)
{
	int err = prof_stream_open(o->process.stream);

	s.o = o;
	return err ? err : prof_thread_start(run);
}

void prof_sender_armed(void)
{
	prof_word_bump(&s.begin);
}

void prof_sender_start(void)
{
	if (atomic_flag_test_and_set(&s.started))
		return;
	atomic_store(&s.alive, true);
	prof_word_bump(&s.begin);
}

void prof_sender_stop(int64_t deadline_ns)
{
	if (!atomic_load(&s.alive) || atomic_load(&s.begin) < BEGIN)
		return;
	atomic_store(&s.stopping, true);
	prof_word_bump(&s.wake);
	prof_word_reach(&s.ended, 1, deadline_ns);
}

bool prof_sender_there(void)
{
	int tid = atomic_load(&s.tid);

	if (!atomic_load(&s.alive) || atomic_load(&s.begin) < BEGIN)
		return false;
	return !tid || !syscall(SYS_tgkill, syscall(SYS_getpid), tid, 0);
}

void prof_sender_leave(int64_t deadline_ns)
{
	int64_t none = 0;

	atomic_compare_exchange_strong(&s.leave_ns, &none, deadline_ns);
	atomic_store(&s.stopping, true);
	prof_word_bump(&s.wake);
	prof_word_reach(&s.ended, 1, deadline_ns);
}
