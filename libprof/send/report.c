/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fills and writes Clock, Facts, Pulse and Bye.
 */
#include "report.h"

#include <string.h>

#include "core/notes.h"
#include "cupti/bufpool.h"
#include "cupti/capture_policy.h"
#include "cupti/devices.h"
#include "cupti/flusher.h"
#include "cupti/intake.h"
#include "cupti/names.h"
#include "cupti/nvml.h"
#include "ranges/ranges.h"
#include "sample/evidence.h"
#include "sample/sampler.h"
#include "stream/stream.h"
#include "stream/transport.h"
#include "stream/writer.h"
#include "wire/session.pb-c.h"

#define TRIPLETS 64

static struct prof_triplet triplet[TRIPLETS];
static size_t triplets;
static size_t peak_memory;
static uint64_t saves_told; /* things told of saves: who reads a part sees what it lacks */

void prof_report_clock(void)
{
	Wire__ClockTriplet m[TRIPLETS], *list[TRIPLETS];
	Wire__Clock msg = WIRE__CLOCK__INIT;
	size_t i;

	for (i = 0; i < triplets; i++) {
		wire__clock_triplet__init(&m[i]);
		m[i].monotonic_before_ns = triplet[i].before_ns;
		m[i].cupti_ns = triplet[i].axis_ns; /* what stamps mean in this trace */
		m[i].monotonic_after_ns = triplet[i].after_ns;
		m[i].realtime_ns = triplet[i].realtime_ns;
		m[i].boottime_ns = triplet[i].boottime_ns;
		list[i] = &m[i];
	}
	msg.n_triplets = triplets;
	msg.triplets = list;
	if (triplets)
		prof_stream_message(WIRE_FRAME_CLOCK, &msg.base);
	triplets = 0;
}

void prof_report_triplet(const struct prof_triplet *t)
{
	if (triplets == TRIPLETS)
		prof_report_clock();
	triplet[triplets++] = *t;
}

void prof_report_facts(int64_t since_ns)
{
	Wire__DeviceFacts m[PROF_DEVICES_MAX], *list[PROF_DEVICES_MAX];
	Wire__Facts msg = WIRE__FACTS__INIT;
	struct prof_device_facts f;
	const struct prof_device *devices;
	size_t n = prof_devices(&devices), i;

	msg.t_ns = prof_now_ns();
	for (i = 0; i < n; i++) {
		Wire__DeviceFacts *d = &m[msg.n_devices];

		if (!prof_stream_device((uint32_t)i)->ops ||
		    !prof_nvml_get((uint32_t)i, since_ns, &f))
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

/* Not what was loaded, nor bytes that were written by whatever means. */
static bool is_of_save(const Wire__Checkpoint *c)
{
	return c->number && c->state != WIRE__SAVE_STATE__SAVE_OPENED &&
	       c->state != WIRE__SAVE_STATE__SAVE_WRITTEN;
}

void prof_report_checkpoint(const struct prof_checkpoint *c, const char *saver, const char *path)
{
	Wire__Checkpoint point = WIRE__CHECKPOINT__INIT, *list[] = { &point };
	Wire__Facts msg = WIRE__FACTS__INIT;

	point.start_ns = c->start_ns;
	point.end_ns = c->end_ns;
	point.bytes = c->bytes;
	point.path = prof_text(path);
	point.saver = prof_text(saver);
	point.state = (Wire__SaveState)(c->state & ~PROF_SAVE_BITS);
	point.synced = c->state & PROF_SAVE_SYNCED;
	point.content = c->state & PROF_SAVE_STATE  ? WIRE__SAVE_CONTENT__CONTENT_STATE
			: c->state & PROF_SAVE_NONE ? WIRE__SAVE_CONTENT__CONTENT_NONE
						    : WIRE__SAVE_CONTENT__CONTENT_UNSAID;
	point.number = c->number;
	point.before_inode = c->before_inode;
	point.inode = c->inode;
	point.size = c->size;
	point.mtime_ns = c->mtime_ns;
	if (is_of_save(&point))
		point.told = ++saves_told;
	msg.t_ns = c->end_ns ? c->end_ns : c->start_ns;
	msg.n_checkpoints = 1;
	msg.checkpoints = list;
	prof_stream_message(WIRE_FRAME_FACTS, &msg.base);
}

static size_t memory_held(const struct prof_ranges_stats *ranges)
{
	struct prof_transport_stats transport;
	struct prof_evidence_stats evidence;
	struct prof_stream_stats stream;
	struct prof_pool_stats pool;
	size_t held;

	prof_pool_stats(&pool);
	prof_stream_stats(&stream);
	prof_evidence_stats(&evidence);
	prof_transport_stats(&transport);
	held = pool.touched_bytes + stream.memory + transport.memory + prof_names_bytes() +
	       ranges->bytes + evidence.memory;
	if (held > peak_memory)
		peak_memory = held;
	return peak_memory;
}

struct pulse {
	Wire__Pulse msg;
	Wire__PulseDevice device[PROF_STREAM_DEVICES], *devices[PROF_STREAM_DEVICES];
	Wire__PulseMeter meter[PROF_STREAM_DEVICES];
	Wire__PulseCost cost;
	uint32_t launch_ns[PROF_STEPS];
};

static uint64_t us_of(int64_t ns)
{
	return ns > 0 ? (uint64_t)ns / 1000 : 0;
}

/* What NVML's meter has said since the pulse before; NULL: nothing. */
static Wire__PulseMeter *fill_meter(Wire__PulseMeter *w, uint32_t ordinal, int64_t now_ns)
{
	struct prof_meter m;

	if (!prof_nvml_meter(ordinal, &m))
		return NULL;
	wire__pulse_meter__init(w);
	w->source = m.source;
	w->known = m.known;
	w->age_us = us_of(now_ns - m.end_ns);
	w->span_us = us_of(m.span_ns);
	w->busy = m.value[PROF_METER_BUSY];
	w->sm = m.value[PROF_METER_SM];
	w->occupancy = m.value[PROF_METER_OCCUPANCY];
	w->tensor = m.value[PROF_METER_TENSOR];
	w->dram = m.value[PROF_METER_DRAM];
	w->pcie_tx_mib = m.value[PROF_METER_PCIE_TX];
	w->pcie_rx_mib = m.value[PROF_METER_PCIE_RX];
	return w;
}

static void fill_devices(struct pulse *p)
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
		p->device[i].meter = fill_meter(&p->meter[i], i, p->msg.t_ns);
		p->devices[p->msg.n_devices++] = &p->device[i];
	}
	p->msg.devices = p->devices;
}

static void fill_evidence(Wire__Pulse *m)
{
	struct prof_evidence_stats e;

	prof_evidence_stats(&e);
	m->samples = e.samples;
	m->batches = e.batches;
	m->evidence_dropped = e.dropped;
	m->evidence_nameless = e.nameless;
	m->looks_left_out = prof_sampler_left_out();
}

static void fill_windows(Wire__PulseCost *m)
{
	const struct prof_windows *w = prof_policy_windows();

	if (!w)
		return;
	m->window_seed = w->seed;
	m->windows_since_ns = w->since_ns;
	m->windows = w->begun;
	m->window_begin_ns = w->begin_ns;
}

static void fill_cost(struct pulse *p)
{
	const struct prof_governor *g = prof_policy_governor();
	enum prof_step s;

	if (!g)
		return;
	wire__pulse_cost__init(&p->cost);
	p->cost.limit = (uint32_t)g->limit;
	p->cost.step = g->step;
	p->cost.deepest = g->deepest;
	p->cost.worst = g->worst < UINT32_MAX ? (uint32_t)g->worst : UINT32_MAX;
	p->cost.spent_ns = g->spent_ns;
	for (s = PROF_STEP_FULL; s < PROF_STEPS; s++) {
		p->launch_ns[s] = prof_governor_launch_ns(g, s);
		p->cost.learnt |= (uint32_t)prof_governor_learnt(g, s) << s;
	}
	p->cost.n_launch_ns = PROF_STEPS;
	p->cost.launch_ns = p->launch_ns;
	p->cost.left_ns = prof_governor_left_ns(g);
	p->cost.passed = g->passed;
	fill_windows(&p->cost);
	p->msg.cost = &p->cost;
}

static void fill_pulse(struct pulse *p, const struct prof_counters *c)
{
	struct prof_transport_stats transport;
	struct prof_ranges_stats ranges = { 0 };
	struct prof_stream_stats stream;

	prof_ranges_stats(&ranges);
	prof_transport_stats(&transport);
	prof_stream_stats(&stream);
	memset(p, 0, sizeof(*p));
	wire__pulse__init(&p->msg);
	p->msg.t_ns = prof_now_ns();
	fill_devices(p);
	p->msg.complete_ns = c->complete_ns;
	p->msg.loader_wait_ns = ranges.loader_wait_ns;
	p->msg.launches = stream.launches;
	p->msg.dropped = c->dropped + ranges.dropped + prof_shim_dropped();
	p->msg.own_cpu_ns = (uint64_t)(prof_cpu_ns() + prof_flusher_cpu_ns() + prof_nvml_cpu_ns() +
				       prof_sampler_cpu_ns() + prof_writer_cpu_ns());
	p->msg.events = stream.events;
	p->msg.frames_dropped = transport.frames_dropped;
	p->msg.memory_bytes = memory_held(&ranges);
	p->msg.level = prof_text(c->level);
	p->msg.invalid = prof_intake()->invalid;
	p->msg.saves_told = saves_told + 1;
	fill_evidence(&p->msg);
	fill_cost(p);
}

void prof_report_pulse(const struct prof_counters *c)
{
	static struct pulse p;

	fill_pulse(&p, c);
	prof_stream_message(WIRE_FRAME_PULSE, &p.msg.base);
}

void prof_report_bye(const struct prof_counters *c, const char *reason)
{
	static struct pulse p;
	const char *notes[PROF_NOTES];
	struct prof_stream_stats stream;
	Wire__Bye msg = WIRE__BYE__INIT;

	if (prof_names_lost())
		prof_note("kernels without a name, which could not be read or found no room: %llu",
			  (unsigned long long)prof_names_lost());
	fill_pulse(&p, c);
	prof_stream_stats(&stream);
	msg.t_ns = p.msg.t_ns;
	msg.reason = prof_text(reason);
	msg.frames = stream.frames + 1;
	msg.last = &p.msg;
	msg.n_notes = prof_notes(notes);
	msg.notes = (char **)(uintptr_t)notes;
	prof_stream_message(WIRE_FRAME_BYE, &msg.base);
}
