/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_memory.c - allocations, copies and memsets. Device memory is reserved address space; it
 * has content only with GPUSIM_DATA=1, where copies move their bytes at the call.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "clock.h"
#include "config.h"
#include "copy.h"
#include "driver.h"
#include "graph.h"
#include "ranges.h"
#include "shm.h"
#include "state.h"
#include "submit.h"

#define PAGE 4096u
#define CHUNK (1u << 20) /* piece of a pageable copy */

/* ---- device memory ---- */

static uint64_t round_up(uint64_t n)
{
	return (n + 511) / 512 * 512;
}

/* Counts it against the device; false when the device has no room. */
static bool account(uint32_t physical, int64_t bytes)
{
	struct sim_device *d = &sim_shm()->device[physical];
	struct sim_proc *p = &sim_shm()->proc[sim_proc_slot()];
	bool fits;

	sim_device_lock(d);
	fits = bytes < 0 || d->memory_used + (uint64_t)bytes <= sim_config()->unit[physical].memory;
	if (fits) {
		d->memory_used += (uint64_t)bytes;
		p->memory[physical] += (uint64_t)bytes;
	}
	sim_device_unlock(d);
	return fits;
}

static int device_alloc(uint64_t *out, size_t bytes)
{
	struct sim_ctx *ctx = sim_ctx_current();
	uint64_t size = round_up(bytes);
	int protection = sim_config()->data ? PROT_READ | PROT_WRITE : PROT_NONE;
	void *p;

	if (!ctx)
		return SIM_INVALID_CONTEXT;
	if (!bytes)
		return SIM_INVALID_VALUE;
	sim_sleep_until(sim_now() + sim_config()->malloc_ns);
	if (!account(ctx->physical, (int64_t)size))
		return SIM_OUT_OF_MEMORY;
	p = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED ||
	    sim_range_add((uint64_t)(uintptr_t)p, size, SIM_DEVICE, ctx->physical)) {
		account(ctx->physical, -(int64_t)size);
		return SIM_OUT_OF_MEMORY;
	}
	*out = (uint64_t)(uintptr_t)p;
	return SIM_OK;
}

int cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemAlloc_v2);

	if (!rc)
		rc = device_alloc(address, bytes);
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuMemAlloc, cuMemAlloc_v2);

/* Freeing waits for the device, as the driver's does. */
int cuMemFree_v2(uint64_t address)
{
	struct sim_call call;
	struct sim_range range;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemFree_v2);

	if (!rc && address && !sim_range_remove(address, &range))
		rc = SIM_INVALID_VALUE;
	if (!rc && address) {
		struct sim_stream *s = sim_stream_get(NULL);

		if (s)
			sim_context_wait(s->ctx);
		account(range.physical, -(int64_t)range.size);
		munmap((void *)(uintptr_t)range.start, range.size);
	}
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuMemFree, cuMemFree_v2);

int cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
	struct sim_call call;
	struct sim_ctx *ctx = sim_ctx_current();
	int rc = sim_call_begin(&call, SIM_CBID_cuMemGetInfo_v2);

	if (!rc && !ctx)
		rc = SIM_INVALID_CONTEXT;
	if (!rc) {
		*total = sim_config()->unit[ctx->physical].memory;
		*free_bytes = *total - sim_shm()->device[ctx->physical].memory_used;
	}
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuMemGetInfo, cuMemGetInfo_v2);

/* ---- host memory ---- */

static int host_alloc(void **out, size_t bytes)
{
	void *p;

	if (!sim_ctx_current())
		return SIM_INVALID_CONTEXT;
	if (!bytes)
		return SIM_INVALID_VALUE;
	sim_sleep_until(sim_now() + sim_config()->malloc_ns);
	if (posix_memalign(&p, PAGE, bytes))
		return SIM_OUT_OF_MEMORY;
	sim_range_add((uint64_t)(uintptr_t)p, bytes, SIM_PINNED, 0);
	*out = p;
	return SIM_OK;
}

int cuMemHostAlloc(void **address, size_t bytes, unsigned flags)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemHostAlloc);

	(void)flags;
	if (!rc)
		rc = host_alloc(address, bytes);
	return sim_call_end(&call, rc);
}

int cuMemAllocHost_v2(void **address, size_t bytes)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemAllocHost_v2);

	if (!rc)
		rc = host_alloc(address, bytes);
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuMemAllocHost, cuMemAllocHost_v2);

int cuMemFreeHost(void *address)
{
	struct sim_call call;
	struct sim_range range;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemFreeHost);

	if (!rc && !sim_range_remove((uint64_t)(uintptr_t)address, &range))
		rc = SIM_INVALID_VALUE;
	if (!rc)
		free(address);
	return sim_call_end(&call, rc);
}

int cuMemHostRegister_v2(void *address, size_t bytes, unsigned flags)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemHostRegister_v2);

	(void)flags;
	if (!rc && (!address || !bytes))
		rc = SIM_INVALID_VALUE;
	if (!rc && sim_range_add((uint64_t)(uintptr_t)address, bytes, SIM_PINNED, 0))
		rc = SIM_OUT_OF_MEMORY;
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuMemHostRegister, cuMemHostRegister_v2);

int cuMemHostUnregister(void *address)
{
	struct sim_call call;
	struct sim_range range;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemHostUnregister);

	if (!rc && !sim_range_remove((uint64_t)(uintptr_t)address, &range))
		rc = SIM_INVALID_VALUE;
	return sim_call_end(&call, rc);
}

/* ---- copies ---- */

static enum sim_memory kind_of(uint64_t address, uint32_t *physical)
{
	struct sim_range range;

	if (!sim_range_find(address, &range))
		return SIM_PAGEABLE;
	*physical = range.physical;
	return range.kind;
}

static uint64_t copy_time(uint64_t bytes, double rate)
{
	return sim_config()->copy_ns + (uint64_t)((double)bytes / rate);
}

/* Direction, engine and duration, from where the two ends lie. */
void sim_copy_plan(struct sim_op *op, uint64_t dst, uint64_t src)
{
	const struct sim_config *c = sim_config();
	uint32_t from = op->physical, to = op->physical;
	double rate = c->d2d;

	op->src = (uint8_t)kind_of(src, &from);
	op->dst = (uint8_t)kind_of(dst, &to);
	if (op->src == SIM_DEVICE && op->dst == SIM_DEVICE) {
		op->copy = from == to ? SIM_D2D : SIM_P2P;
		op->engine = from == to ? SIM_ENGINE_D2D : SIM_ENGINE_D2H;
		rate = from == to ? c->d2d : c->peer;
	} else if (op->dst == SIM_DEVICE) {
		op->copy = SIM_H2D;
		op->engine = SIM_ENGINE_H2D;
		rate = op->src == SIM_PINNED || op->bytes <= CHUNK ? c->h2d : c->pageable;
	} else if (op->src == SIM_DEVICE) {
		op->copy = SIM_D2H;
		op->engine = SIM_ENGINE_D2H;
		rate = op->dst == SIM_PINNED ? c->d2h : c->pageable;
	} else {
		op->copy = SIM_H2H;
		op->engine = SIM_ENGINE_H2D;
		rate = c->pageable;
	}
	op->duration = copy_time(op->bytes, rate);
}

static void move_bytes(uint64_t dst, uint64_t src, size_t bytes)
{
	if (sim_config()->data)
		memmove((void *)(uintptr_t)dst, (const void *)(uintptr_t)src, bytes);
}

/*
 * Pageable memory goes through a staging buffer that the calling thread fills: a small copy is
 * begun when it is staged, and the call returns; a large one begins with its first piece.
 */
static void stage(const struct sim_op *op)
{
	uint64_t piece = op->bytes < CHUNK ? op->bytes : CHUNK;

	sim_sleep_until(sim_now() + (uint64_t)((double)piece / sim_config()->pageable));
}

/* Does the call last until the copy is over? */
static bool synchronous(const struct sim_op *op)
{
	if (op->src == SIM_PAGEABLE && op->dst == SIM_DEVICE)
		return op->bytes > CHUNK;
	if (op->src == SIM_PAGEABLE || op->dst == SIM_PAGEABLE)
		return true;
	return !op->async && op->copy != SIM_D2D;
}

static int copy(void *stream, uint64_t dst, uint64_t src, size_t bytes, bool async,
		const uint32_t *peer)
{
	struct sim_stream *s = sim_stream_get(stream);
	struct sim_when when;
	struct sim_op op;

	if (!s)
		return sim_ctx_current() ? SIM_INVALID_HANDLE : SIM_INVALID_CONTEXT;
	if (!bytes)
		return SIM_OK;
	sim_lock();
	sim_throttle(s);
	sim_op_init(&op, SIM_MEMCPY, s);
	op.bytes = bytes;
	op.async = async;
	sim_copy_plan(&op, dst, src);
	if (peer && peer[0] != op.device) {
		op.copy = SIM_P2P;
		op.peer_device = peer[0];
		op.peer_context = peer[1];
	}
	if (sim_capture(s, &op, NULL, NULL)) {
		sim_unlock();
		return SIM_OK;
	}
	if (op.copy == SIM_H2D && op.src == SIM_PAGEABLE) {
		sim_unlock();
		stage(&op);
		sim_lock();
	}
	when = sim_submit(s, &op, NULL, 0);
	when = sim_when_copy(&when);
	sim_unlock();
	move_bytes(dst, src, bytes);
	if (synchronous(&op))
		sim_when_wait(when);
	else
		sim_when_drop(when);
	return SIM_OK;
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

void sim_fill_plan(struct sim_op *op, unsigned value)
{
	op->engine = SIM_ENGINE_COMPUTE;
	op->value = value;
	op->dst = SIM_DEVICE;
	op->duration = copy_time(op->bytes, sim_config()->fill);
}

static int fill(void *stream, uint64_t dst, unsigned value, size_t bytes)
{
	struct sim_stream *s = sim_stream_get(stream);
	struct sim_op op;

	if (!s)
		return sim_ctx_current() ? SIM_INVALID_HANDLE : SIM_INVALID_CONTEXT;
	if (!bytes)
		return SIM_OK;
	sim_lock();
	sim_throttle(s);
	sim_op_init(&op, SIM_MEMSET, s);
	op.bytes = bytes;
	sim_fill_plan(&op, value);
	if (!sim_capture(s, &op, NULL, NULL))
		sim_submit(s, &op, NULL, 0);
	sim_unlock();
	if (sim_config()->data)
		memset((void *)(uintptr_t)dst, (int)value, bytes);
	return SIM_OK;
}

int cuMemsetD8_v2(uint64_t dst, unsigned char value, size_t n)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemsetD8_v2);

	if (!rc)
		rc = fill(NULL, dst, value, n);
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuMemsetD8, cuMemsetD8_v2);

int cuMemsetD32_v2(uint64_t dst, unsigned value, size_t n)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemsetD32_v2);

	if (!rc)
		rc = fill(NULL, dst, value, 4 * n);
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuMemsetD32, cuMemsetD32_v2);

int cuMemsetD8Async(uint64_t dst, unsigned char value, size_t n, void *stream)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemsetD8Async);

	if (!rc)
		rc = fill(stream, dst, value, n);
	return sim_call_end(&call, rc);
}

int cuMemsetD32Async(uint64_t dst, unsigned value, size_t n, void *stream)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemsetD32Async);

	if (!rc)
		rc = fill(stream, dst, value, 4 * n);
	return sim_call_end(&call, rc);
}
