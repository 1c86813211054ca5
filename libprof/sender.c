/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sender's loop: flush, drain, translate, write, send; twice a second, and in between whenever
 * much has come. What it may wait for is bounded, and CUPTI is not among it (flusher.h).
 *
 * "Complete up to T" of the pulse: a flush that began at F has ended, and every buffer that CUPTI
 * gave back by then has been translated. A buffer that is still out was requested at R; CUPTI puts a
 * record into a buffer when the call is made that launches the work, so whatever it holds was
 * launched, and ended, after R. Hence every operation that ended before T = min(F, all such R) is
 * in a frame, or in a loss span.
 */
#include "sender.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "activity.h"
#include "bufpool.h"
#include "clockpoll.h"
#include "config.h"
#include "devices.h"
#include "flusher.h"
#include "hello.h"
#include "log.h"
#include "loss.h"
#include "names.h"
#include "notes.h"
#include "ranges.h"
#include "record.h"
#include "stream.h"
#include "thread.h"
#include "translate.h"
#include "transport.h"
#include "wire/session.pb-c.h"

#define TICK_NS 500000000
#define PULSE_TICKS 2
#define CLOCK_TICKS 20
#define FACTS_TICKS 20
#define HELLO_TRIES 120 /* ticks in which devices are asked for */
#define FLUSH_PATIENCE_NS 50000000 /* a flush takes 0.2 ms, or as long as a kernel runs */
#define FLUSH_EXIT_NS 2000000000
#define SEND_NS 100000000
#define WAKE_BYTES ((size_t)4 << 20)
#define TRIPLETS 64

static struct {
	const struct prof_sender_opts *o;
	atomic_flag started;
	atomic_uint wake;
	atomic_uint ended;
	atomic_bool stopping, alive, woken;

	bool open; /* stream and translator are there */
	struct prof_translator translator;
	int64_t complete_ns; /* see above */
	int64_t last_flush_ns; /* begin of the last flush that ended */
	bool hello_written;
	size_t hello_devices;
	unsigned int tick;
	uint64_t drained_bytes, dropped, invalid, unknown, cut;
	int64_t drained_since_ns;
	struct prof_triplet triplet[TRIPLETS], last_clock;
	size_t triplets;
	bool have_clock;
	size_t peak;
} s = { .started = ATOMIC_FLAG_INIT };

void prof_sender_init(const struct prof_sender_opts *o)
{
	s.o = o;
}

void prof_sender_wake(void)
{
	prof_word_bump(&s.wake);
}

/* At most one system call per drain, for this runs in CUPTI's callback. */
void prof_sender_pending(size_t bytes)
{
	if (bytes >= WAKE_BYTES && !atomic_exchange(&s.woken, true))
		prof_word_bump(&s.wake);
}

/* ---- Hello ------------------------------------------------------------------------------------ */

static void write_hello(void)
{
	struct prof_hello h = { .process = &s.o->process,
				.run_id = s.o->run_id,
				.level = prof_level_name(&s.o->level),
				.graphs = prof_graphs_name(s.o->level.graphs),
				.torch_version = prof_ranges_torch_version(),
				.cupti_version = s.o->cupti ? s.o->cupti->version : 0,
				.armed_ns = s.o->armed_ns };

	prof_hello_write(&h);
	s.hello_written = true;
}

/* The driver names its devices only when cuInit has returned, so they may come with a later Hello. */
static void find_devices(void)
{
	const struct prof_device *list;

	if (s.hello_devices || s.tick > HELLO_TRIES || prof_devices_read())
		return;
	s.hello_devices = prof_devices(&list);
	if (s.hello_written && s.hello_devices)
		write_hello();
}

/* ---- buffers ---------------------------------------------------------------------------------- */

static void take_record(const uint8_t *record, const struct prof_pool_done *d)
{
	struct wire_event ev;

	switch (prof_translate(&s.translator, record, &ev)) {
	case PROF_EVENT:
		prof_stream_add(&ev);
		break;
	case PROF_BAD:
		s.invalid++;
		prof_loss_bad_stamp(&ev, d->request_ns);
		break;
	case PROF_UNKNOWN:
		s.unknown++;
		break;
	case PROF_SKIP:
		break;
	}
}

static void take_buffer(const struct prof_pool_done *d)
{
	struct prof_walk walk = { .data = d->data, .valid = d->valid };

	while (prof_walk_next(&walk))
		take_record(walk.record, d);
	if (walk.cut) {
		s.cut++;
		prof_loss_span(WIRE__LOSS_REASON__LOSS_DROPPED, d->request_ns, prof_now_ns(), 0);
	}
	s.drained_bytes += d->valid;
}

static void drain(void)
{
	struct prof_pool_done d;

	atomic_store(&s.woken, false);
	prof_translator_window(&s.translator, s.last_flush_ns, prof_now_ns());
	while (prof_pool_next(&d)) {
		prof_names_collect(prof_stream_names());
		take_buffer(&d);
		prof_pool_give_back(&d);
	}
}

/* A buffer should hold no more than half a second: one unfinished record withholds all of it. */
static void adapt_buffers(void)
{
	struct prof_pool_stats pool;
	int64_t now = prof_mono_ns(), past = now - s.drained_since_ns;
	uint64_t rate;

	if (past < TICK_NS)
		return;
	prof_pool_stats(&pool);
	rate = s.drained_bytes * 1000 / (uint64_t)(past / 1000000 + 1);
	prof_pool_want(rate / 2 / (pool.out ? pool.out : 1));
	s.drained_bytes = 0;
	s.drained_since_ns = now;
}

/* ---- flushes ---------------------------------------------------------------------------------- */

static void keep_triplet(const struct prof_triplet *t)
{
	int64_t step = s.have_clock ? prof_clock_step(&s.last_clock, t) : 0;

	if (s.triplets < TRIPLETS)
		s.triplet[s.triplets++] = *t;
	if (step > 1000000 || step < -1000000)
		prof_loss_span(
			WIRE__LOSS_REASON__LOSS_CLOCK_STEP,
			s.last_clock.cupti_ns < t->cupti_ns ? s.last_clock.cupti_ns : t->cupti_ns,
			s.last_clock.cupti_ns > t->cupti_ns ? s.last_clock.cupti_ns : t->cupti_ns,
			0);
	s.last_clock = *t;
	s.have_clock = true;
}

static void count_discards(int64_t end_ns)
{
	uint64_t count;
	int64_t start = prof_pool_discards(&count);

	if (start == INT64_MAX)
		return;
	s.dropped += count;
	prof_loss_span(WIRE__LOSS_REASON__LOSS_DROPPED, start, end_ns, count);
}

/* A flush has ended and what it gave back has been translated. */
static void account_flush(const struct prof_flush *f)
{
	int64_t oldest = prof_pool_oldest_out();

	if (f->dropped) {
		s.dropped += f->dropped;
		prof_loss_span(WIRE__LOSS_REASON__LOSS_DROPPED,
			       s.last_flush_ns ? s.last_flush_ns : s.o->armed_ns, f->end_ns,
			       f->dropped);
	}
	count_discards(f->end_ns);
	keep_triplet(&f->clock);
	prof_loss_write(f->end_ns);
	if (!f->rc)
		s.complete_ns = oldest < f->begin_ns ? oldest : f->begin_ns;
	s.last_flush_ns = f->begin_ns;
}

static void flush_and_drain(void)
{
	struct prof_flush f;

	if (!s.o->cupti)
		return;
	prof_flusher_ask(false);
	prof_flusher_wait(prof_mono_ns() + FLUSH_PATIENCE_NS);
	if (!prof_flusher_take(&f)) {
		drain();
		return;
	}
	drain();
	account_flush(&f);
}

/* ---- ranges ----------------------------------------------------------------------------------- */

static int64_t realtime_to_axis(int64_t realtime_ns)
{
	return realtime_ns - s.last_clock.realtime_ns + s.last_clock.cupti_ns;
}

static void take_range(void *unused, const struct wire_event *ev)
{
	(void)unused;
	prof_stream_add(ev);
}

static void drain_ranges(bool final)
{
	bool realtime = !strcmp(prof_clock_name(), "realtime");

	if (prof_ranges_poll()) {
		if (*prof_ranges_note())
			prof_note("%s", prof_ranges_note());
		if (s.hello_written)
			write_hello();
	}
	prof_ranges_drain(prof_stream_names(), realtime ? NULL : realtime_to_axis, take_range, NULL,
			  final);
}

/* ---- messages --------------------------------------------------------------------------------- */

static void write_clock(void)
{
	Wire__ClockTriplet m[TRIPLETS], *list[TRIPLETS];
	Wire__Clock msg = WIRE__CLOCK__INIT;
	size_t i;

	if (!s.o->cupti) {
		prof_clock_sample(NULL, &s.triplet[0]);
		s.triplets = 1;
	}
	for (i = 0; i < s.triplets; i++) {
		wire__clock_triplet__init(&m[i]);
		m[i].monotonic_before_ns = s.triplet[i].before_ns;
		m[i].cupti_ns = s.triplet[i].cupti_ns;
		m[i].monotonic_after_ns = s.triplet[i].after_ns;
		m[i].realtime_ns = s.triplet[i].realtime_ns;
		m[i].boottime_ns = s.triplet[i].boottime_ns;
		list[i] = &m[i];
	}
	msg.n_triplets = s.triplets;
	msg.triplets = list;
	if (s.triplets)
		prof_stream_message(WIRE_FRAME_CLOCK, &msg.base);
	s.triplets = 0;
}

static void write_facts(void)
{
	Wire__DeviceFacts m[PROF_DEVICES_MAX], *list[PROF_DEVICES_MAX];
	Wire__Facts msg = WIRE__FACTS__INIT;
	struct prof_device_facts f;
	const struct prof_device *devices;
	size_t n = prof_devices(&devices), i;

	msg.t_ns = prof_now_ns();
	for (i = 0; i < n; i++) {
		Wire__DeviceFacts *d = &m[msg.n_devices];

		if (!prof_stream_device((uint32_t)i)->ops || !prof_devices_facts((uint32_t)i, &f))
			continue;
		wire__device_facts__init(d);
		d->ordinal = (uint32_t)i;
		d->memory_used_bytes = f.memory_used;
		d->memory_total_bytes = f.memory_total;
		d->nvml_utilization_pct = f.utilization;
		d->has_utilization = f.has_utilization;
		d->other_processes = f.other_processes;
		list[msg.n_devices++] = d;
	}
	msg.devices = list;
	if (msg.n_devices)
		prof_stream_message(WIRE_FRAME_FACTS, &msg.base);
}

static size_t memory_held(const struct prof_ranges_stats *ranges)
{
	struct prof_transport_stats transport;
	struct prof_stream_stats stream;
	struct prof_pool_stats pool;

	prof_pool_stats(&pool);
	prof_stream_stats(&stream);
	prof_transport_stats(&transport);
	return pool.touched_bytes + stream.memory + transport.memory + prof_names_bytes() +
	       ranges->bytes;
}

struct pulse {
	Wire__Pulse msg;
	Wire__PulseDevice device[PROF_STREAM_DEVICES], *devices[PROF_STREAM_DEVICES];
};

static void fill_pulse_devices(struct pulse *p)
{
	uint32_t i;

	for (i = 0; i < prof_stream_device_count(); i++) {
		const struct prof_stream_device *d = prof_stream_device(i);

		if (!d->ops)
			continue;
		wire__pulse_device__init(&p->device[i]);
		p->device[i].ordinal = i;
		p->device[i].busy_ns = d->busy_ns;
		p->device[i].ops = d->ops;
		p->devices[p->msg.n_devices++] = &p->device[i];
	}
	p->msg.devices = p->devices;
}

static void fill_pulse(struct pulse *p)
{
	struct prof_transport_stats transport;
	struct prof_ranges_stats ranges = { 0 };
	struct prof_stream_stats stream;
	size_t memory;

	prof_ranges_stats(&ranges);
	prof_transport_stats(&transport);
	prof_stream_stats(&stream);
	memory = memory_held(&ranges);
	if (memory > s.peak)
		s.peak = memory;
	wire__pulse__init(&p->msg);
	fill_pulse_devices(p);
	p->msg.t_ns = prof_now_ns();
	p->msg.complete_ns = s.complete_ns;
	p->msg.loader_wait_ns = ranges.loader_wait_ns;
	p->msg.launches = stream.launches;
	p->msg.dropped = s.dropped + ranges.dropped;
	p->msg.own_cpu_ns = (uint64_t)(prof_cpu_ns() + prof_flusher_cpu_ns());
	p->msg.events = stream.events;
	p->msg.frames_dropped = transport.frames_dropped;
	p->msg.memory_bytes = s.peak;
	p->msg.level = (char *)(uintptr_t)prof_level_name(&s.o->level);
	p->msg.invalid = s.invalid;
}

static void write_pulse(void)
{
	static struct pulse p;

	memset(&p, 0, sizeof(p));
	fill_pulse(&p);
	prof_stream_message(WIRE_FRAME_PULSE, &p.msg.base);
}

static void write_bye(void)
{
	static struct pulse p;
	const char *notes[PROF_NOTES];
	struct prof_stream_stats stream;
	Wire__Bye msg = WIRE__BYE__INIT;

	memset(&p, 0, sizeof(p));
	fill_pulse(&p);
	prof_stream_stats(&stream);
	msg.t_ns = p.msg.t_ns;
	msg.reason = (char *)(uintptr_t) "exit";
	msg.frames = stream.frames + 1;
	msg.last = &p.msg;
	msg.n_notes = prof_notes(notes);
	msg.notes = (char **)(uintptr_t)notes;
	prof_stream_message(WIRE_FRAME_BYE, &msg.base);
}

/* ---- loop ------------------------------------------------------------------------------------- */

static void report_lost_frames(void)
{
	int64_t t0, t1;
	uint64_t frames;

	if (prof_transport_lost(&t0, &t1, &frames))
		prof_loss_span(WIRE__LOSS_REASON__LOSS_FRAMES, t0, t1, frames);
}

static void tick(void)
{
	s.tick++;
	find_devices();
	flush_and_drain();
	drain_ranges(false);
	prof_stream_blocks();
	report_lost_frames();
	if (!s.o->cupti)
		s.complete_ns = prof_now_ns();
	if (s.triplets == TRIPLETS || s.tick % CLOCK_TICKS == 2)
		write_clock();
	if (s.tick % FACTS_TICKS == 4)
		write_facts();
	if (s.tick % PULSE_TICKS == 0)
		write_pulse();
	prof_transport_pump(prof_mono_ns() + SEND_NS);
	adapt_buffers();
}

static int open_stream(void)
{
	struct prof_transport_opts t = { .socket = prof_config()->socket,
					 .out = prof_config()->out,
					 .run_id = s.o->run_id,
					 .stream = s.o->process.stream };
	static const uint32_t no_records[CUPTI_KIND_PROBED];
	int err = prof_stream_open(s.o->process.stream);

	if (err)
		return err;
	prof_transport_init(&t);
	prof_translator_init(&s.translator, prof_stream_names(),
			     s.o->cupti ? s.o->cupti->record_bytes : no_records);
	s.last_flush_ns = s.o->armed_ns;
	s.drained_since_ns = prof_mono_ns();
	s.open = true;
	return 0;
}

/* Much has come between two ticks: translate it now, so that buffers get free. */
static void between_ticks(void)
{
	if (s.o->cupti)
		drain();
	drain_ranges(false);
	prof_transport_pump(0);
}

static void finish(void)
{
	struct prof_flush f;
	bool flushed = false;

	if (s.o->cupti) {
		int64_t deadline = prof_mono_ns() + FLUSH_EXIT_NS;

		if (prof_flusher_wait(deadline) && prof_flusher_ask(true))
			flushed = prof_flusher_wait(deadline);
		drain();
		if (flushed && prof_flusher_take(&f))
			account_flush(&f);
		else
			prof_loss_span(WIRE__LOSS_REASON__LOSS_DROPPED, s.complete_ns,
				       prof_now_ns(), 0);
	}
	drain_ranges(true);
	prof_stream_blocks();
	report_lost_frames();
	prof_loss_write(prof_now_ns());
	write_clock();
	write_bye();
	prof_transport_finish(prof_mono_ns() + 10 * SEND_NS);
}

static void *run(void *unused)
{
	int64_t next = prof_mono_ns();
	unsigned int seen;

	(void)unused;
	if (open_stream() || (s.o->cupti && prof_flusher_start(s.o->cupti, prof_sender_wake))) {
		prof_complain("nothing is recorded: no memory or no thread; the job goes on");
		goto out;
	}
	find_devices();
	write_hello();
	while (!atomic_load(&s.stopping)) {
		seen = atomic_load(&s.wake);
		if (prof_mono_ns() >= next) {
			tick();
			next = prof_mono_ns() + TICK_NS;
		} else {
			between_ticks();
		}
		if (!atomic_load(&s.stopping))
			prof_word_wait(&s.wake, seen, next);
	}
	finish();
out:
	atomic_store(&s.alive, false);
	prof_word_bump(&s.ended);
	return NULL;
}

void prof_sender_start(void)
{
	if (atomic_flag_test_and_set(&s.started))
		return;
	atomic_store(&s.alive, true);
	if (prof_thread_start("gpustarve-send", run)) {
		atomic_store(&s.alive, false);
		prof_note("nothing is recorded: no thread could be started");
	}
}

void prof_sender_stop(int64_t deadline_ns)
{
	if (!atomic_load(&s.alive))
		return;
	atomic_store(&s.stopping, true);
	prof_word_bump(&s.wake);
	prof_word_reach(&s.ended, 1, deadline_ns);
}
