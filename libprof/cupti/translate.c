/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Record kinds to events, one small function each.
 */
#include "translate.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cbids.h"
#include "cuda_api.h"
#include "names.h"
#include "record.h"
#include "timebase.h"

#define HOUR_NS 3600000000000
#define SECOND_NS 1000000000
#define API_CBIDS 4096u

static const uint8_t record_least[CUPTI_KIND_PROBED] = {
#define KIND(symbol, number, bytes, ...) [number] = bytes,
#include "facts/cupti_kinds.def"
};

uint32_t prof_record_least(uint32_t kind)
{
	return kind < CUPTI_KIND_PROBED ? record_least[kind] : 0;
}

void prof_translator_init(struct prof_translator *t, struct wire_strtab *names,
			  const uint32_t *record_bytes)
{
	memset(t, 0, sizeof(*t));
	t->names = names;
	t->record_bytes = record_bytes;
	t->latest_ns = INT64_MAX;
}

void prof_translator_window(struct prof_translator *t, int64_t last_flush_ns, int64_t now_ns)
{
	t->earliest_ns = last_flush_ns - HOUR_NS;
	t->latest_ns = now_ns + SECOND_NS;
}

uint64_t prof_corr_extend(uint64_t *latest, uint32_t id)
{
	uint64_t full;

	if (!id)
		return 0;
	if (!*latest)
		*latest = id;
	full = *latest + (uint64_t)(int64_t)(int32_t)(id - (uint32_t)*latest);
	if (full > *latest && full - *latest <= INT32_MAX)
		*latest = full;
	/* Below the first epoch only the ids of calls before the first record lie. */
	return (int64_t)full > 0 ? full : id;
}

static enum prof_outcome check(const struct prof_translator *t, const struct wire_event *ev)
{
	if (ev->start_ns <= 0 || ev->end_ns < ev->start_ns || ev->start_ns < t->earliest_ns ||
	    ev->end_ns > t->latest_ns)
		return PROF_BAD;
	return PROF_EVENT;
}

static int64_t stamp(const struct prof_translator *t, const uint8_t *r, int at)
{
	int64_t ns = (int64_t)rec_u64(r, at), carried;

	if (ns >= t->earliest_ns && ns <= t->latest_ns)
		return ns;
	carried = prof_timebase_convert(ns);
	return carried ? carried : ns;
}

static void read_times(const struct prof_translator *t, struct wire_event *ev, const uint8_t *r,
		       int start, int end)
{
	ev->start_ns = stamp(t, r, start);
	ev->end_ns = stamp(t, r, end);
}

static enum prof_outcome kernel(struct prof_translator *t, const uint8_t *r, struct wire_event *ev)
{
	ev->kind = WIRE_KIND_OP;
	ev->op = WIRE_OP_KERNEL;
	read_times(t, ev, r, REC_KERNEL_START, REC_KERNEL_END);
	ev->device = rec_u32(r, REC_KERNEL_DEVICE);
	ev->context = rec_u32(r, REC_KERNEL_CONTEXT);
	ev->stream = rec_u32(r, REC_KERNEL_STREAM);
	ev->graph = rec_u32(r, REC_KERNEL_GRAPH);
	ev->corr = prof_corr_extend(&t->latest_corr, rec_u32(r, REC_KERNEL_CORRELATION));
	ev->name = prof_names_string((uint32_t)rec_u64(r, REC_KERNEL_NAME));
	return check(t, ev);
}

static void read_copy(const struct prof_translator *t, struct wire_event *ev, const uint8_t *r)
{
	ev->kind = WIRE_KIND_OP;
	ev->op = WIRE_OP_COPY;
	ev->copy = r[REC_MEMCPY_COPY_KIND];
	ev->src = r[REC_MEMCPY_SRC_KIND];
	ev->dst = r[REC_MEMCPY_DST_KIND];
	ev->flags = r[REC_MEMCPY_FLAGS] & 1 ? WIRE_EV_FL_ASYNC : 0;
	ev->bytes = rec_u64(r, REC_MEMCPY_SIZE);
	read_times(t, ev, r, REC_MEMCPY_START, REC_MEMCPY_END);
	ev->device = rec_u32(r, REC_MEMCPY_DEVICE);
	ev->context = rec_u32(r, REC_MEMCPY_CONTEXT);
	ev->stream = rec_u32(r, REC_MEMCPY_STREAM);
}

static enum prof_outcome copy(struct prof_translator *t, const uint8_t *r, struct wire_event *ev)
{
	uint32_t corr = rec_u32(r, REC_MEMCPY_CORRELATION);

	read_copy(t, ev, r);
	ev->graph = rec_u32(r, REC_MEMCPY_GRAPH);
	if (!corr)
		corr = rec_u32(r, REC_MEMCPY_RUNTIME_CORRELATION);
	ev->corr = prof_corr_extend(&t->latest_corr, corr);
	return check(t, ev);
}

/* The record's device is where the copy ran; the peer is the other end. */
static enum prof_outcome peer(struct prof_translator *t, const uint8_t *r, struct wire_event *ev)
{
	uint32_t other = rec_u32(r, REC_PEER_DST_DEVICE);

	read_copy(t, ev, r);
	if (other == ev->device)
		other = rec_u32(r, REC_PEER_SRC_DEVICE);
	ev->peer = other < UINT16_MAX ? (uint16_t)(other + 1) : 0;
	ev->graph = rec_u32(r, REC_PEER_GRAPH);
	ev->corr = prof_corr_extend(&t->latest_corr, rec_u32(r, REC_PEER_CORRELATION));
	return check(t, ev);
}

static enum prof_outcome set(struct prof_translator *t, const uint8_t *r, struct wire_event *ev)
{
	uint16_t memory;

	memcpy(&memory, r + REC_MEMSET_MEMORY_KIND, sizeof(memory));
	ev->kind = WIRE_KIND_OP;
	ev->op = WIRE_OP_MEMSET;
	ev->dst = (uint8_t)memory;
	ev->bytes = rec_u64(r, REC_MEMSET_SIZE);
	read_times(t, ev, r, REC_MEMSET_START, REC_MEMSET_END);
	ev->device = rec_u32(r, REC_MEMSET_DEVICE);
	ev->context = rec_u32(r, REC_MEMSET_CONTEXT);
	ev->stream = rec_u32(r, REC_MEMSET_STREAM);
	ev->graph = rec_u32(r, REC_MEMSET_GRAPH);
	ev->corr = prof_corr_extend(&t->latest_corr, rec_u32(r, REC_MEMSET_CORRELATION));
	return check(t, ev);
}

static enum prof_outcome graph(struct prof_translator *t, const uint8_t *r, struct wire_event *ev)
{
	ev->kind = WIRE_KIND_OP;
	ev->op = WIRE_OP_GRAPH;
	read_times(t, ev, r, REC_GRAPH_START, REC_GRAPH_END);
	ev->device = rec_u32(r, REC_GRAPH_DEVICE);
	if (ev->device == INT_MAX) /* it begins with a host node */
		ev->device = t->record_bytes[CUPTI_KIND_GRAPH_TRACE] >= REC_GRAPH_END_DEVICE + 4
				     ? rec_u32(r, REC_GRAPH_END_DEVICE)
				     : 0;
	if (ev->device == INT_MAX)
		return PROF_SKIP; /* host nodes only: nothing ran on a device */
	ev->context = rec_u32(r, REC_GRAPH_CONTEXT);
	ev->stream = rec_u32(r, REC_GRAPH_STREAM);
	ev->graph = rec_u32(r, REC_GRAPH_ID);
	ev->corr = prof_corr_extend(&t->latest_corr, rec_u32(r, REC_GRAPH_CORRELATION));
	return check(t, ev);
}

/* Never PROF_BAD: these are no operations, so a bad one is only not written. */
static enum prof_outcome sync(struct prof_translator *t, const uint8_t *r, struct wire_event *ev)
{
	uint32_t type = rec_u32(r, REC_SYNC_TYPE);

	if (type < WIRE_SYNC_EVENT || type > WIRE_SYNC_CONTEXT)
		return PROF_SKIP;
	ev->kind = WIRE_KIND_SYNC;
	ev->op = (uint8_t)type;
	read_times(t, ev, r, REC_SYNC_START, REC_SYNC_END);
	ev->context = rec_u32(r, REC_SYNC_CONTEXT);
	ev->stream = rec_u32(r, REC_SYNC_STREAM);
	ev->corr = prof_corr_extend(&t->latest_corr, rec_u32(r, REC_SYNC_CORRELATION));
	return check(t, ev) == PROF_EVENT ? PROF_EVENT : PROF_SKIP;
}

/* A function of the program that a stream runs on the CPU; all behind it waits. As sync(). */
static enum prof_outcome host_function(struct prof_translator *t, const uint8_t *r,
				       struct wire_event *ev)
{
	bool node = rec_u32(r, REC_KIND) == CUPTI_KIND_GRAPH_HOST_NODE;

	ev->kind = WIRE_KIND_SYNC;
	ev->op = WIRE_SYNC_HOST_FUNCTION;
	read_times(t, ev, r, node ? REC_HOST_NODE_START : REC_HOST_START,
		   node ? REC_HOST_NODE_END : REC_HOST_END);
	ev->device = rec_u32(r, REC_HOST_DEVICE);
	ev->context = rec_u32(r, REC_HOST_CONTEXT);
	ev->stream = rec_u32(r, REC_HOST_STREAM);
	ev->tid = rec_u32(r, node ? REC_HOST_NODE_THREAD : REC_HOST_THREAD);
	ev->graph = node ? rec_u32(r, REC_HOST_NODE_GRAPH) : 0;
	ev->corr = prof_corr_extend(&t->latest_corr, rec_u32(r, REC_HOST_CORRELATION));
	return check(t, ev) == PROF_EVENT ? PROF_EVENT : PROF_SKIP;
}

static enum prof_outcome host_node(struct prof_translator *t, const uint8_t *r,
				   struct wire_event *ev)
{
	return host_function(t, r, ev);
}

static uint8_t range_of(uint32_t overhead)
{
	switch (overhead) {
	case OVERHEAD_COMPILER:
	case OVERHEAD_MODULE_LOAD:
	case OVERHEAD_LAZY_LOAD:
		return WIRE_RANGE_CODE_LOAD;
	case OVERHEAD_QUEUE_FULL:
		return WIRE_RANGE_QUEUE_FULL;
	}
	return 0;
}

/* "Client is responsible for freeing this memory using the free function": only what is known. */
static void free_overhead_data(const struct prof_translator *t, const uint8_t *r)
{
	void *data;

	if (t->record_bytes[CUPTI_KIND_OVERHEAD] < REC_OVERHEAD_DATA + sizeof(data))
		return;
	memcpy(&data, r + REC_OVERHEAD_DATA, sizeof(data));
	free(data);
}

/* What held a call of the thread up. CUPTI's own costs are not among it. As sync(). */
static enum prof_outcome overhead(struct prof_translator *t, const uint8_t *r,
				  struct wire_event *ev)
{
	ev->op = range_of(rec_u32(r, REC_OVERHEAD_WHAT));
	if (ev->op == WIRE_RANGE_QUEUE_FULL)
		free_overhead_data(t, r);
	if (!ev->op || rec_u32(r, REC_OVERHEAD_OBJECT) != OVERHEAD_OF_THREAD)
		return PROF_SKIP;
	ev->kind = WIRE_KIND_RANGE;
	read_times(t, ev, r, REC_OVERHEAD_START, REC_OVERHEAD_END);
	ev->tid = rec_u32(r, REC_OVERHEAD_THREAD);
	return check(t, ev) == PROF_EVENT ? PROF_EVENT : PROF_SKIP;
}

static bool may_make_operations(const char *name)
{
	return strstr(name, "GraphLaunch") || strstr(name, "Memcpy") || strstr(name, "Memset");
}

static enum prof_outcome outcome_of(const char *name)
{
	if (strstr(name, "LaunchKernel"))
		return PROF_LAUNCH;
	if (may_make_operations(name))
		return PROF_MAYBE_LAUNCH;
	if (strstr(name, "Synchronize"))
		return PROF_WAIT;
	return strstr(name, "GraphInstantiate") ? PROF_CAPTURED : PROF_EVENT;
}

static const struct prof_call *find_call(struct prof_translator *t, uint8_t domain, uint32_t cbid)
{
	struct prof_call *call = &t->call[domain - 1][cbid % API_CBIDS];
	const char *name;

	if (cbid >= API_CBIDS)
		return NULL;
	if (!call->seen) {
		call->seen = true;
		name = prof_cbid_name(domain, cbid);
		call->name = name ? wire_strtab_intern(t->names, name, strlen(name)) : 0;
		call->outcome = name ? outcome_of(name) : PROF_SKIP;
	}
	return call->name ? call : NULL;
}

static enum prof_outcome api(struct prof_translator *t, const uint8_t *r, struct wire_event *ev,
			     uint8_t domain)
{
	const uint32_t cbid = rec_u32(r, REC_API_CBID);
	const struct prof_call *call = find_call(t, domain, cbid);

	if (!call && domain == WIRE_DOMAIN_DRIVER && cbid == CBID_DRIVER_GET_VERSION) {
		prof_corr_extend(&t->latest_corr, rec_u32(r, REC_API_CORRELATION));
		return PROF_CANARY;
	}
	if (!call)
		return PROF_SKIP;
	ev->kind = WIRE_KIND_API;
	ev->op = domain;
	ev->name = call->name;
	read_times(t, ev, r, REC_API_START, REC_API_END);
	ev->tid = rec_u32(r, REC_API_THREAD);
	ev->corr = prof_corr_extend(&t->latest_corr, rec_u32(r, REC_API_CORRELATION));
	if (check(t, ev) != PROF_EVENT)
		return PROF_SKIP;
	return call->outcome;
}

static enum prof_outcome runtime(struct prof_translator *t, const uint8_t *r, struct wire_event *ev)
{
	return api(t, r, ev, WIRE_DOMAIN_RUNTIME);
}

static enum prof_outcome driver(struct prof_translator *t, const uint8_t *r, struct wire_event *ev)
{
	return api(t, r, ev, WIRE_DOMAIN_DRIVER);
}

uint8_t prof_translate_kind(uint32_t record_kind)
{
	static const uint8_t kinds[CUPTI_KIND_PROBED] = {
#define KIND(symbol, number, bytes, event, ...) [number] = WIRE_KIND_##event,
#include "facts/cupti_kinds.def"
	};

	return record_kind < CUPTI_KIND_PROBED ? kinds[record_kind] : 0;
}

enum prof_outcome prof_translate(struct prof_translator *t, const uint8_t *record,
				 struct wire_event *ev)
{
	memset(ev, 0, sizeof(*ev));
	switch (rec_u32(record, REC_KIND)) {
#define KIND(symbol, number, bytes, event, only, when, needed, handed, parse, ...) \
	case CUPTI_KIND_##symbol:                                                  \
		return parse(t, record, ev);
#define PASSED(symbol, number)    \
	case CUPTI_KIND_##symbol: \
		return PROF_SKIP;
#include "facts/cupti_kinds.def"
	default:
		return PROF_UNKNOWN;
	}
}
