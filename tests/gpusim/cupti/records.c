/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.c - formats records. Offsets are CUPTI's, the same in every version; a test compares
 * them with the real headers where those are installed.
 */
#include "records.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../clock.h"
#include "../config.h"
#include "buffers.h"
#include "cost.h"
#include "external.h"
#include "faults.h"
#include "layout.h"
#include "second.h"
#include "subscriber.h"
#include "timebase.h"

struct rec_config rec_config;
const struct sim_export *rec_driver;

static atomic_uint next_correlation;
static pthread_once_t correlation_once = PTHREAD_ONCE_INIT;
static uint32_t pid;
static bool always;

static void put8(uint8_t *r, uint32_t at, uint8_t v)
{
	r[at] = v;
}

static void put16(uint8_t *r, uint32_t at, uint16_t v)
{
	memcpy(r + at, &v, 2);
}

static void put32(uint8_t *r, uint32_t at, uint32_t v)
{
	memcpy(r + at, &v, 4);
}

static void put64(uint8_t *r, uint32_t at, uint64_t v)
{
	memcpy(r + at, &v, 8);
}

static uint64_t stamp(uint64_t t)
{
	return t == SIM_NEVER ? 0 : timebase_stamp(t);
}

/* Room for a record of this kind with its kind filled in; NULL: dropped, and unlocked. */
static uint8_t *begin(uint32_t kind)
{
	uint8_t *r = buf_reserve(rec_size(kind));

	if (!r) {
		buf_cancel();
		return NULL;
	}
	memset(r, 0, rec_size(kind));
	put32(r, 0, kind);
	return r;
}

/* ---- API calls ---- */

static void read_start(void)
{
	const char *v = getenv("GPUSIM_CORRELATION_START"), *mode = getenv("GPUSIM_CORRELATION");

	atomic_store(&next_correlation, v ? (uint32_t)strtoull(v, NULL, 10) : 1);
	always = mode ? !strcmp(mode, "always") : SIM_CUPTI_API >= 130000;
	pid = (uint32_t)getpid();
}

static bool wants_ids(void)
{
	return always || rec_config.kind[REC_RUNTIME] || rec_config.kind[REC_DRIVER] ||
	       rec_config.any_cbid || rec_config.subscribed;
}

/*
 * Version 13 makes an id for every call, as seen on an H100; older ones, by their manual, only
 * while API records are asked for. 0 is skipped when they wrap.
 */
static uint32_t correlate(enum sim_domain domain, uint32_t cbid)
{
	uint32_t id;

	(void)domain;
	(void)cbid;
	pthread_once(&correlation_once, read_start);
	if (!wants_ids())
		return 0;
	do
		id = atomic_fetch_add_explicit(&next_correlation, 1, memory_order_relaxed);
	while (!id);
	return id;
}

static bool wants_call(enum sim_domain domain, uint32_t cbid)
{
	uint8_t own = cbid < 2048 ? rec_config.api[domain][cbid] : 0;

	if (own)
		return own == 1;
	return rec_config.kind[domain == SIM_DRIVER ? REC_DRIVER : REC_RUNTIME];
}

/*
 * What the thread has pushed: before the records of the call and of what it launches. A reader that
 * looks for a kernel's operator when it comes to the kernel, as Kineto does, depends on that.
 */
static void entered(enum sim_domain domain, uint32_t cbid, uint32_t correlation)
{
	uint64_t id;
	uint8_t *r;
	int kind;

	if (!rec_config.kind[REC_EXTERNAL_CORRELATION] || !wants_call(domain, cbid) || !correlation)
		return;
	for (kind = 1; kind < EXT_KINDS; kind++) {
		r = ext_top(kind, &id) ? begin(REC_EXTERNAL_CORRELATION) : NULL;
		if (!r)
			continue;
		put32(r, 4, (uint32_t)kind);
		put64(r, 8, id);
		put32(r, 16, correlation);
		buf_commit(0);
	}
}

/*
 * On the thread that calls. By default CUPTI gives half of its pthread_t, as an H100 showed: no
 * other source of a process's threads knows them by that.
 */
static uint32_t thread_id(uint32_t tid)
{
	return rec_config.system_tids ? tid : (uint32_t)(uintptr_t)pthread_self();
}

/* None while the second interface has the process, nor once it was ended after that. */
static bool first_records(void)
{
	return !second_holds() && !second_poisoned();
}

static void call(enum sim_domain domain, uint32_t cbid, uint64_t start, uint64_t end,
		 uint32_t correlation, uint32_t tid, int result)
{
	uint8_t *r;

	if (!wants_call(domain, cbid) || !correlation || !first_records())
		return;
	cost_api();
	r = begin(domain == SIM_DRIVER ? REC_DRIVER : REC_RUNTIME);
	if (!r)
		return;
	put32(r, 4, cbid);
	put64(r, 8, stamp(start));
	put64(r, 16, stamp(end));
	put32(r, 24, pid);
	put32(r, 28, thread_id(tid));
	put32(r, 32, correlation);
	put32(r, 36, (uint32_t)result);
	buf_commit(end);
}

/* ---- device work ---- */

#define REGISTERS 32 /* of a thread, every kernel's: what cudart/launch.c says of them */

static void kernel(uint8_t *r, const struct sim_op *op)
{
	put16(r, 6, REGISTERS);
	put32(r, 40, op->device);
	put32(r, 44, op->context);
	put32(r, 48, op->stream);
	memcpy(r + 52, op->grid, 12);
	memcpy(r + 64, op->block, 12);
	put32(r, 80, op->shared);
	put32(r, 92, op->correlation);
	put64(r, 96, op->call);
	put64(r, 104, (uint64_t)(uintptr_t)op->label);
	if (rec_config.latency) {
		put64(r, 120, timebase_stamp(op->call_start));
		put64(r, 128, timebase_stamp(op->call_start));
	}
	put64(r, 144, op->node);
	put32(r, 156, op->graph);
}

static void copy(uint8_t *r, const struct sim_op *op)
{
	put8(r, 4, op->copy);
	put8(r, 5, op->src);
	put8(r, 6, op->dst);
	put8(r, 7, op->async);
	put64(r, 8, op->bytes);
	put32(r, 32, op->device);
	put32(r, 36, op->context);
	put32(r, 40, op->stream);
	put32(r, 44, op->correlation);
	put64(r, 64, op->node);
	put32(r, 72, op->graph);
	if (rec_size(REC_MEMCPY) >= 96)
		put64(r, 88, 1);
}

static void peer_copy(uint8_t *r, const struct sim_op *op)
{
	put8(r, 4, op->copy);
	put8(r, 5, op->src);
	put8(r, 6, op->dst);
	put8(r, 7, op->async);
	put64(r, 8, op->bytes);
	put32(r, 32, op->device);
	put32(r, 36, op->context);
	put32(r, 40, op->stream);
	put32(r, 44, op->from_device);
	put32(r, 48, op->from_context);
	put32(r, 52, op->peer_device);
	put32(r, 56, op->peer_context);
	put32(r, 60, op->correlation);
	put64(r, 72, op->node);
	put32(r, 80, op->graph);
}

static void fill(uint8_t *r, const struct sim_op *op)
{
	put32(r, 4, op->value);
	put64(r, 8, op->bytes);
	put32(r, 32, op->device);
	put32(r, 36, op->context);
	put32(r, 40, op->stream);
	put32(r, 44, op->correlation);
	put16(r, 50, op->dst);
	put64(r, 64, op->node);
	put32(r, 72, op->graph);
}

static void graph(uint8_t *r, const struct sim_op *op)
{
	put32(r, 4, op->correlation);
	put32(r, 24, op->device);
	put32(r, 28, op->graph);
	put32(r, 32, op->context);
	put32(r, 36, op->stream);
	if (rec_size(REC_GRAPH_TRACE) >= 56) {
		put32(r, 48, op->device);
		put32(r, 52, op->context);
	}
}

/* The stream and what of the program it waits for. Whose thread that is comes with its end. */
static void host_function(uint8_t *r, const struct sim_op *op)
{
	put32(r, 4, op->stream);
	put32(r, 8, op->context);
	put32(r, 12, op->device);
	put32(r, 16, op->correlation);
	put32(r, 20, pid);
	put32(r, 24, op->host_tid);
}

static void host_node(uint8_t *r, const struct sim_op *op)
{
	put32(r, 4, op->stream);
	put32(r, 8, op->context);
	put32(r, 12, op->device);
	put32(r, 16, op->correlation);
	put32(r, 20, op->graph);
	put64(r, 24, op->node);
	put32(r, 32, pid);
	put32(r, 36, op->host_tid);
}

/* Before 13.1 there are none. */
static uint32_t kind_of_host(const struct sim_op *op)
{
	uint32_t kind = op->in_graph ? REC_GRAPH_HOST_NODE : REC_HOST_LAUNCH;

	return rec_size(kind) ? kind : 0;
}

/* Graph level and node level exclude each other: the graph kind hides the nodes. */
static uint32_t kind_of(const struct sim_op *op)
{
	if (op->kind == SIM_HOST)
		return kind_of_host(op);
	if (op->in_graph && rec_config.kind[REC_GRAPH_TRACE])
		return 0;
	switch (op->kind) {
	case SIM_KERNEL:
		return rec_config.kind[REC_CONCURRENT_KERNEL] ? REC_CONCURRENT_KERNEL : REC_KERNEL;
	case SIM_MEMCPY:
		return op->copy == SIM_P2P ? REC_MEMCPY2 : REC_MEMCPY;
	case SIM_MEMSET:
		return REC_MEMSET;
	case SIM_GRAPH:
		return REC_GRAPH_TRACE;
	}
	return 0;
}

static void times(uint8_t *r, uint32_t kind, const struct sim_op *op, enum fault_stamp fault)
{
	uint32_t at = rec_start_offset(kind);
	uint64_t start = stamp(op->start), end = stamp(op->end);

	if (fault == FAULT_ZERO)
		start = end = 0;
	put64(r, at, fault == FAULT_REVERSE ? end + 1 : start);
	put64(r, at + 8, fault == FAULT_REVERSE ? start : end);
}

static void cost_of_kernel(const struct sim_op *op)
{
	const bool *on = rec_config.kind;
	bool others =
		on[REC_MEMCPY] || on[REC_MEMCPY2] || on[REC_MEMSET] || on[REC_SYNCHRONIZATION];

	if (op->in_graph && on[REC_GRAPH_TRACE]) {
		cost_within();
		return;
	}
	if (!op->in_graph)
		cost_launch();
	cost_kernel(on[REC_CONCURRENT_KERNEL] || on[REC_KERNEL], others && !op->in_graph);
}

static void cost_of(const struct sim_op *op, uint32_t kind)
{
	if (op->kind == SIM_KERNEL)
		cost_of_kernel(op);
	else if (kind && rec_config.kind[kind] && op->kind == SIM_GRAPH)
		cost_graph();
	else if (kind && rec_config.kind[kind] && op->kind != SIM_HOST)
		cost_copy();
}

static void (*const writers[])(uint8_t *, const struct sim_op *) = {
	[REC_KERNEL] = kernel,
	[REC_CONCURRENT_KERNEL] = kernel,
	[REC_MEMCPY] = copy,
	[REC_MEMCPY2] = peer_copy,
	[REC_MEMSET] = fill,
	[REC_GRAPH_TRACE] = graph,
	[REC_HOST_LAUNCH] = host_function,
	[REC_GRAPH_HOST_NODE] = host_node,
};

/* For the second interface: kinds are a subscriber's own, graphs are told by their nodes. */
uint32_t rec_kind_of(const struct sim_op *op)
{
	switch (op->kind) {
	case SIM_KERNEL:
		return REC_CONCURRENT_KERNEL;
	case SIM_MEMCPY:
		return op->copy == SIM_P2P ? REC_MEMCPY2 : REC_MEMCPY;
	case SIM_MEMSET:
		return REC_MEMSET;
	default:
		return 0;
	}
}

void rec_whole(uint8_t *r, uint32_t kind, const struct sim_op *op)
{
	memset(r, 0, rec_size(kind));
	put32(r, 0, kind);
	writers[kind](r, op);
	times(r, kind, op, FAULT_NONE);
}

static void *op_record(const struct sim_op *op)
{
	uint32_t kind = kind_of(op);
	enum fault_stamp fault;
	uint8_t *r;

	cost_of(op, kind);
	if (second_holds()) {
		second_op(op);
		return NULL;
	}
	if (second_poisoned() || !kind || !rec_config.kind[kind])
		return NULL;
	fault = op->kind == SIM_HOST ? FAULT_NONE : fault_record(op);
	if (fault == FAULT_DROP) {
		buf_count_drop();
		return NULL;
	}
	r = begin(kind);
	if (!r) {
		fault_lost(rec_driver, op);
		return NULL;
	}
	writers[kind](r, op);
	times(r, kind, op, fault);
	if (op->end == SIM_NEVER)
		return buf_commit_open(r);
	buf_commit(op->end);
	return NULL;
}

static void op_done(void *token, const struct sim_op *op)
{
	uint8_t *r = buf_reopen(token);

	if (!r)
		return;
	times(r, *(uint32_t *)r, op, FAULT_NONE);
	if (op->kind == SIM_HOST)
		put32(r, op->in_graph ? 36 : 24, op->host_tid);
	buf_finish(token, op->end);
}

/* ---- synchronisation ---- */

static void sync_record(const struct sim_sync_info *info, const struct sim_op *where)
{
	uint8_t *r;

	(void)where;
	if (!rec_config.kind[REC_SYNCHRONIZATION] || !first_records())
		return;
	if (info->query && !rec_config.all_sync)
		return;
	cost_sync();
	r = begin(REC_SYNCHRONIZATION);
	if (!r)
		return;
	put32(r, 4, info->type);
	put64(r, 8, stamp(info->start));
	put64(r, 16, stamp(info->end));
	put32(r, 24, info->correlation);
	put32(r, 28, info->context);
	put32(r, 32, info->stream);
	put32(r, 36, info->event);
	if (rec_size(REC_SYNCHRONIZATION) >= 56)
		put32(r, 48, (uint32_t)info->result);
	buf_commit(info->end);
}

/* Up to 12.8 the synchronisation kind brings an event record for each cuEventRecord. */
static void event_record(const struct sim_op *where, uint32_t event)
{
	uint8_t *r;

	if (!rec_config.kind[REC_CUDA_EVENT] &&
	    !(SIM_CUPTI_API < 27 && rec_config.kind[REC_SYNCHRONIZATION]))
		return;
	if (rec_config.event_stamps)
		cost_event();
	r = begin(REC_CUDA_EVENT);
	if (!r)
		return;
	put32(r, 4, where->correlation);
	put32(r, 8, where->context);
	put32(r, 12, where->stream);
	put32(r, 16, event);
	if (rec_size(REC_CUDA_EVENT) >= 56) {
		put32(r, 24, where->device);
		put64(r, 40, rec_config.event_stamps ? stamp(sim_now()) : 0);
	}
	buf_commit(0);
}

/* What CUPTI gives with the record, and the client has to free. */
static void *full_queue(void)
{
	return calloc(3, sizeof(uint32_t));
}

static void overhead_record(const struct sim_op *where, enum sim_overhead what, uint64_t start)
{
	uint64_t now = sim_now();
	uint8_t *r;

	if (!rec_config.kind[REC_OVERHEAD] || SIM_CUPTI_API < 130100)
		return;
	r = begin(REC_OVERHEAD);
	if (!r)
		return;
	put32(r, 4, (uint32_t)what);
	put32(r, 8, 2); /* the object is a thread */
	put32(r, 12, pid);
	put32(r, 16, thread_id(where->tid));
	put64(r, 24, stamp(start));
	put64(r, 32, stamp(now));
	put32(r, 40, where->correlation);
	if (what == SIM_OVERHEAD_QUEUE_FULL)
		put64(r, 48, (uint64_t)(uintptr_t)full_queue());
	buf_commit(now);
}

static void context_record(uint32_t context, uint32_t device, bool created)
{
	uint8_t *r;

	if (!created || !rec_config.kind[REC_CONTEXT])
		return;
	r = begin(REC_CONTEXT);
	if (!r)
		return;
	put32(r, 4, context);
	put32(r, 8, device);
	put16(r, 12, sim_config()->mps ? 2 : 1);
	put16(r, 14, 7);
	buf_commit(0);
}

void rec_devices(const struct sim_export *driver)
{
	uint32_t i;

	for (i = 0; i < driver->device_count(); i++) {
		uint32_t physical = driver->device_physical(i);
		const struct sim_unit *unit = &sim_config()->unit[physical];
		uint8_t *r = begin(REC_DEVICE);

		if (!r)
			return;
		put64(r, 8, 3352320000u); /* kB/s */
		put64(r, 16, unit->memory);
		put32(r, 44, 132);
		put32(r, 112, i);
		sim_device_uuid(physical, r + 120);
		put64(r, 136, (uint64_t)(uintptr_t)unit->name);
		if (*unit->profile) {
			put8(r, 145, 1);
			put32(r, 152, unit->instance);
			sim_device_uuid(physical, r + 160);
		}
		buf_commit(0);
	}
}

int rec_next(uint8_t *buffer, size_t valid, void **record)
{
	uint8_t *next, *end = buffer + valid;
	uint32_t size;

	if (!buffer || !record)
		return CUPTI_INVALID_PARAMETER;
	next = buffer;
	if (*record) {
		size = rec_size(*(uint32_t *)*record);
		if (!size)
			return CUPTI_INVALID_KIND;
		next = (uint8_t *)*record + size;
	}
	if (next >= end)
		return CUPTI_MAX_LIMIT_REACHED;
	size = rec_size(*(uint32_t *)next);
	if (!size)
		return CUPTI_INVALID_KIND;
	if (next + size > end)
		return CUPTI_MAX_LIMIT_REACHED;
	*record = next;
	return CUPTI_OK;
}

const struct sim_tracer rec_tracer = {
	.correlate = correlate,
	.enter = sub_enter,
	.leave = sub_exit,
	.entered = entered,
	.call = call,
	.op = op_record,
	.op_done = op_done,
	.sync = sync_record,
	.event_record = event_record,
	.overhead = overhead_record,
	.context = context_record,
};
