/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_copy.c - copies and memsets of plain memory, and the work behind those of rectangles
 * (api_rows.c). Where memory has content the bytes move at the call, or
 * behind what is pending (data.h).
 */
#include "clock.h"
#include "config.h"
#include "copy.h"
#include "driver.h"
#include "graph.h"
#include "ranges.h"
#include "shm.h"
#include "state.h"
#include "submit.h"

#define CHUNK (1u << 20) /* piece of a pageable copy */

/* ---- copies ---- */

/* One end of a copy. What lies on no device is the stream's. */
struct end {
	enum sim_memory kind;
	uint32_t physical, device, context;
};

static struct end end_of(uint64_t address, const struct sim_op *op)
{
	struct end e = { SIM_PAGEABLE, op->physical, op->device, op->context };
	const struct sim_ctx *ctx;
	struct sim_range range;

	if (!sim_range_find(address, &range))
		return e;
	e.kind = range.kind;
	if (range.kind == SIM_PINNED || range.physical == op->physical)
		return e;
	e.physical = range.physical;
	e.device = sim_device_of(range.physical);
	ctx = range.owner ? range.owner : sim_state.primary[e.device];
	e.context = ctx ? ctx->id : 0;
	return e;
}

static uint64_t copy_time(uint64_t bytes, double rate)
{
	return sim_config()->copy_ns + (uint64_t)((double)bytes / rate);
}

static bool on_device(uint8_t kind)
{
	return kind == SIM_DEVICE || kind == SIM_ARRAY || kind == SIM_MANAGED;
}

static uint8_t within_device(const struct sim_op *op)
{
	if (op->src == SIM_ARRAY)
		return op->dst == SIM_ARRAY ? SIM_A2A : SIM_A2D;
	return op->dst == SIM_ARRAY ? SIM_D2A : SIM_D2D;
}

/* Direction, engine and duration, from where the two ends lie. */
void sim_copy_plan(struct sim_op *op, uint64_t dst, uint64_t src)
{
	const struct sim_config *c = sim_config();
	struct end a = end_of(src, op), b = end_of(dst, op);
	uint32_t from = a.physical, to = b.physical;
	double rate = c->d2d;

	op->src = (uint8_t)a.kind;
	op->dst = (uint8_t)b.kind;
	op->from_device = a.device;
	op->from_context = a.context;
	op->peer_device = b.device;
	op->peer_context = b.context;
	if (on_device(op->src) && on_device(op->dst)) {
		op->copy = from == to ? within_device(op) : SIM_P2P;
		op->engine = from == to ? SIM_ENGINE_D2D : SIM_ENGINE_D2H;
		rate = from == to ? c->d2d : c->peer;
	} else if (on_device(op->dst)) {
		op->copy = op->dst == SIM_ARRAY ? SIM_H2A : SIM_H2D;
		op->engine = SIM_ENGINE_H2D;
		rate = op->src == SIM_PINNED || op->bytes <= CHUNK ? c->h2d : c->pageable;
	} else if (on_device(op->src)) {
		op->copy = op->src == SIM_ARRAY ? SIM_A2H : SIM_D2H;
		op->engine = SIM_ENGINE_D2H;
		rate = op->dst == SIM_PINNED ? c->d2h : c->pageable;
	} else {
		op->copy = SIM_H2H;
		op->engine = SIM_ENGINE_H2D;
		rate = c->pageable;
	}
	op->duration = copy_time(op->bytes, rate);
}

static bool staged(const struct sim_op *op)
{
	return op->src == SIM_PAGEABLE && on_device(op->dst);
}

/*
 * Pageable memory goes through a staging buffer that the calling thread fills: a small copy is
 * begun when it is staged, and the call returns; a large one begins with its first piece. To fill
 * it is work of that thread's: one that gave its CPU away meanwhile would, on a busy machine, be
 * late by what others compute, and the batch with it.
 */
static void stage(const struct sim_op *op)
{
	uint64_t piece = op->bytes < CHUNK ? op->bytes : CHUNK;

	sim_work_until(sim_now() + (uint64_t)((double)piece / sim_config()->pageable));
}

/* Does the call last until the copy is over? */
static bool synchronous(const struct sim_op *op)
{
	if (staged(op))
		return op->bytes > CHUNK;
	if (op->src == SIM_PAGEABLE || op->dst == SIM_PAGEABLE)
		return true;
	return !op->async && op->engine != SIM_ENGINE_D2D;
}

int sim_copy(void *stream, uint64_t dst, uint64_t src, const struct sim_box *box, bool async,
	     const uint32_t *peer)
{
	struct sim_work work = { .data = sim_data_copy(dst, src, box) };
	struct sim_stream *s = sim_stream_get(stream);
	struct sim_when when;
	struct sim_op op;

	if (!s)
		return sim_ctx_current() ? SIM_INVALID_HANDLE : SIM_INVALID_CONTEXT;
	if (!box->width || !box->height || !box->depth)
		return SIM_OK;
	sim_lock();
	sim_throttle(s);
	sim_op_init(&op, SIM_MEMCPY, s);
	op.bytes = box->width * box->height * box->depth;
	op.async = async;
	sim_copy_plan(&op, dst, src);
	if (peer && op.copy != SIM_P2P && peer[0] != op.device) {
		op.copy = SIM_P2P;
		op.peer_device = peer[0];
		op.peer_context = peer[1];
	}
	if (sim_capture(s, &op, &work)) {
		sim_unlock();
		return SIM_OK;
	}
	if (staged(&op)) {
		sim_unlock();
		stage(&op);
		sim_lock();
	}
	when = sim_submit_work(s, &op, NULL, 0, &work);
	if (when.pending && staged(&op) && !synchronous(&op))
		sim_data_stage(&when.pending->work.data);
	when = sim_when_copy(&when);
	sim_unlock();
	sim_data_move(&work.data);
	if (synchronous(&op))
		sim_when_wait(when);
	else
		sim_when_drop(when);
	return SIM_OK;
}

static int copy(void *stream, uint64_t dst, uint64_t src, size_t bytes, bool async,
		const uint32_t *peer)
{
	struct sim_box row = { .width = bytes, .height = 1, .depth = 1 };

	return sim_copy(stream, dst, src, &row, async, peer);
}

#define ADDRESS(p) ((uint64_t)(uintptr_t)(p))

/* One entry point per name: they differ in what the address parameters are called. */
#define COPY(name, dst_type, src_type)                                                   \
	int name(dst_type dst, src_type src, size_t bytes)                               \
	{                                                                                \
		struct sim_call call;                                                    \
		int rc = sim_call_begin(&call, SIM_CBID_##name);                         \
                                                                                         \
		if (!rc)                                                                 \
			rc = copy(NULL, ADDRESS(dst), ADDRESS(src), bytes, false, NULL); \
		return sim_call_end(&call, rc);                                          \
	}

#define COPY_ASYNC(name, dst_type, src_type)                                              \
	int name(dst_type dst, src_type src, size_t bytes, void *stream)                  \
	{                                                                                 \
		struct sim_call call;                                                     \
		int rc = sim_call_begin(&call, SIM_CBID_##name);                          \
                                                                                          \
		if (!rc)                                                                  \
			rc = copy(stream, ADDRESS(dst), ADDRESS(src), bytes, true, NULL); \
		return sim_call_end(&call, rc);                                           \
	}

COPY(cuMemcpy, uint64_t, uint64_t)
COPY(cuMemcpyHtoD_v2, uint64_t, const void *)
COPY(cuMemcpyDtoH_v2, void *, uint64_t)
COPY(cuMemcpyDtoD_v2, uint64_t, uint64_t)
COPY_ASYNC(cuMemcpyAsync, uint64_t, uint64_t)
COPY_ASYNC(cuMemcpyHtoDAsync_v2, uint64_t, const void *)
COPY_ASYNC(cuMemcpyDtoHAsync_v2, void *, uint64_t)
COPY_ASYNC(cuMemcpyDtoDAsync_v2, uint64_t, uint64_t)
SIM_ALIAS(cuMemcpyHtoD, cuMemcpyHtoD_v2);
SIM_ALIAS(cuMemcpyDtoH, cuMemcpyDtoH_v2);
SIM_ALIAS(cuMemcpyDtoD, cuMemcpyDtoD_v2);
SIM_ALIAS(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2);
SIM_ALIAS(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2);
SIM_ALIAS(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2);

static int copy_peer(uint64_t dst, void *dst_ctx, uint64_t src, size_t bytes, void *stream,
		     bool async)
{
	const struct sim_ctx *to = dst_ctx;
	uint32_t peer[2];

	if (!to)
		return SIM_INVALID_CONTEXT;
	peer[0] = to->device;
	peer[1] = to->id;
	return copy(stream, dst, src, bytes, async, peer);
}

int cuMemcpyPeer(uint64_t dst, void *dst_ctx, uint64_t src, void *src_ctx, size_t bytes)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemcpyPeer);

	(void)src_ctx;
	if (!rc)
		rc = copy_peer(dst, dst_ctx, src, bytes, NULL, false);
	return sim_call_end(&call, rc);
}

int cuMemcpyPeerAsync(uint64_t dst, void *dst_ctx, uint64_t src, void *src_ctx, size_t bytes,
		      void *stream)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemcpyPeerAsync);

	(void)src_ctx;
	if (!rc)
		rc = copy_peer(dst, dst_ctx, src, bytes, stream, true);
	return sim_call_end(&call, rc);
}

/* ---- memsets ---- */

void sim_fill_plan(struct sim_op *op, uint64_t dst, unsigned value)
{
	enum sim_memory kind = end_of(dst, op).kind;

	op->engine = SIM_ENGINE_COMPUTE;
	op->value = value;
	op->dst = kind == SIM_PAGEABLE ? SIM_DEVICE : (uint8_t)kind;
	op->duration = copy_time(op->bytes, sim_config()->fill);
}

int sim_fill(void *stream, uint64_t dst, size_t pitch, unsigned value, unsigned element,
	     size_t width, size_t height)
{
	struct sim_work work = { .data = sim_data_fill(dst, pitch, value, element, width, height) };
	struct sim_stream *s = sim_stream_get(stream);
	struct sim_op op;

	if (!s)
		return sim_ctx_current() ? SIM_INVALID_HANDLE : SIM_INVALID_CONTEXT;
	if (dst % element || pitch % element || (pitch < width * element && height > 1))
		return SIM_INVALID_VALUE;
	if (!width || !height)
		return SIM_OK;
	sim_lock();
	sim_throttle(s);
	sim_op_init(&op, SIM_MEMSET, s);
	op.bytes = width * element * height;
	sim_fill_plan(&op, dst, value);
	if (!sim_capture(s, &op, &work))
		sim_submit_work(s, &op, NULL, 0, &work);
	else
		work.data.kind = SIM_DATA_NONE;
	sim_unlock();
	sim_data_move(&work.data);
	return SIM_OK;
}

#define FILL(name, type, element)                                          \
	int name(uint64_t dst, type value, size_t n)                       \
	{                                                                  \
		struct sim_call call;                                      \
		int rc = sim_call_begin(&call, SIM_CBID_##name);           \
                                                                           \
		if (!rc)                                                   \
			rc = sim_fill(NULL, dst, 0, value, element, n, 1); \
		return sim_call_end(&call, rc);                            \
	}

#define FILL_ASYNC(name, type, element)                                      \
	int name(uint64_t dst, type value, size_t n, void *stream)           \
	{                                                                    \
		struct sim_call call;                                        \
		int rc = sim_call_begin(&call, SIM_CBID_##name);             \
                                                                             \
		if (!rc)                                                     \
			rc = sim_fill(stream, dst, 0, value, element, n, 1); \
		return sim_call_end(&call, rc);                              \
	}

FILL(cuMemsetD8_v2, unsigned char, 1)
FILL(cuMemsetD16_v2, unsigned short, 2)
FILL(cuMemsetD32_v2, unsigned, 4)
FILL_ASYNC(cuMemsetD8Async, unsigned char, 1)
FILL_ASYNC(cuMemsetD16Async, unsigned short, 2)
FILL_ASYNC(cuMemsetD32Async, unsigned, 4)
SIM_ALIAS(cuMemsetD8, cuMemsetD8_v2);
SIM_ALIAS(cuMemsetD16, cuMemsetD16_v2);
SIM_ALIAS(cuMemsetD32, cuMemsetD32_v2);
