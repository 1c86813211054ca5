/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_context.c - contexts and the thread's stack of them.
 */
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "config.h"
#include "driver.h"
#include "memory.h"
#include "shm.h"
#include "state.h"
#include "submit.h"

/* ---- contexts ---- */

static void note_context(const struct sim_ctx *ctx, bool created)
{
	struct sim_shm *shm = sim_shm();
	int32_t slot = sim_proc_slot();
	const struct sim_tracer *t = sim_tracer();

	sim_shm_lock(shm);
	shm->proc[slot].contexts[ctx->physical] += created ? 1 : -1u;
	sim_shm_unlock(shm);
	if (t)
		t->context(ctx->id, ctx->device, created);
}

static int create(struct sim_ctx **out, int device)
{
	struct sim_ctx *ctx;

	if (device < 0 || (uint32_t)device >= sim_state.devices)
		return SIM_INVALID_DEVICE;
	ctx = sim_ctx_new((uint32_t)device);
	if (!ctx)
		return SIM_OUT_OF_MEMORY;
	ctx->refs = 1;
	note_context(ctx, true);
	*out = ctx;
	return SIM_OK;
}

static void push(struct sim_ctx *ctx)
{
	struct sim_thread *th = &sim_thread;

	if (th->stack_depth < sizeof th->stack / sizeof th->stack[0])
		th->stack[th->stack_depth++] = th->current;
	th->current = ctx;
}

static struct sim_ctx *pop(void)
{
	struct sim_thread *th = &sim_thread;
	struct sim_ctx *ctx = th->current;

	th->current = th->stack_depth ? th->stack[--th->stack_depth] : NULL;
	return ctx;
}

/* One way to wait, and what says nothing about time. */
static bool flags_known(unsigned flags)
{
	unsigned wait = flags & 7;

	return !(flags & ~0xffu) && (wait & (wait - 1)) == 0;
}

int cuCtxCreate_v2(void **out, unsigned flags, int device)
{
	struct sim_call call;
	struct sim_ctx *ctx = NULL;
	int rc = sim_call_begin(&call, SIM_CBID_cuCtxCreate_v2);

	if (!rc && !flags_known(flags))
		rc = SIM_INVALID_VALUE;
	if (!rc) {
		sim_lock();
		rc = create(&ctx, device);
		sim_unlock();
	}
	if (!rc) {
		ctx->flags = flags;
		push(ctx);
		*out = ctx;
	}
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuCtxCreate, cuCtxCreate_v2);

int cuCtxCreate_v4(void **out, void *params, unsigned flags, int device)
{
	(void)params;
	return cuCtxCreate_v2(out, flags, device);
}

static struct sim_ctx *find(void *handle)
{
	struct sim_ctx *ctx;

	for (ctx = sim_state.contexts; ctx; ctx = ctx->next)
		if (ctx == handle)
			return ctx;
	return NULL;
}

/*
 * Its device memory goes when its work is over. The struct stays: stream handles of a destroyed
 * context may still be looked at.
 */
static void end(struct sim_ctx *ctx)
{
	struct sim_ctx **p;

	sim_context_wait(ctx);
	sim_lock();
	for (p = &sim_state.contexts; *p && *p != ctx; p = &(*p)->next)
		;
	if (*p)
		*p = ctx->next;
	if (ctx->primary)
		sim_state.primary[ctx->device] = NULL;
	note_context(ctx, false);
	sim_unlock();
	sim_memory_release(ctx);
}

int cuCtxDestroy_v2(void *handle)
{
	struct sim_call call;
	struct sim_ctx *ctx = NULL;
	int rc = sim_call_begin(&call, SIM_CBID_cuCtxDestroy_v2);

	if (!rc) {
		sim_lock();
		ctx = find(handle);
		sim_unlock();
		rc = ctx && !ctx->primary ? SIM_OK : SIM_INVALID_CONTEXT;
	}
	if (!rc) {
		end(ctx);
		if (sim_thread.current == ctx)
			pop();
	}
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuCtxDestroy, cuCtxDestroy_v2);

int cuCtxGetCurrent(void **ctx)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuCtxGetCurrent);

	if (!rc)
		*ctx = sim_thread.current;
	return sim_call_end(&call, rc);
}

int cuCtxSetCurrent(void *handle)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuCtxSetCurrent);

	if (!rc) {
		sim_lock();
		if (handle && !find(handle))
			rc = SIM_INVALID_CONTEXT;
		sim_unlock();
	}
	if (!rc)
		sim_thread.current = handle;
	return sim_call_end(&call, rc);
}

int cuCtxPushCurrent_v2(void *handle)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuCtxPushCurrent_v2);

	if (!rc && !handle)
		rc = SIM_INVALID_CONTEXT;
	if (!rc)
		push(handle);
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuCtxPushCurrent, cuCtxPushCurrent_v2);

int cuCtxPopCurrent_v2(void **out)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuCtxPopCurrent_v2);

	if (!rc && !sim_thread.current)
		rc = SIM_INVALID_CONTEXT;
	if (!rc) {
		struct sim_ctx *ctx = pop();

		if (out)
			*out = ctx;
	}
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuCtxPopCurrent, cuCtxPopCurrent_v2);

int cuCtxGetDevice(int *device)
{
	struct sim_call call;
	struct sim_ctx *ctx = sim_thread.current;
	int rc = sim_call_begin(&call, SIM_CBID_cuCtxGetDevice);

	if (!rc && !ctx)
		rc = SIM_INVALID_CONTEXT;
	if (!rc)
		*device = (int)ctx->device;
	return sim_call_end(&call, rc);
}

int cuCtxSynchronize(void)
{
	struct sim_call call;
	struct sim_ctx *ctx = sim_thread.current;
	int rc = sim_call_begin(&call, SIM_CBID_cuCtxSynchronize);

	if (!rc && !ctx)
		rc = SIM_INVALID_CONTEXT;
	if (!rc) {
		uint64_t start = sim_now();

		sim_context_wait(ctx);
		sim_note_sync(SIM_SYNC_CONTEXT, &ctx->null_stream, NULL, start, rc);
	}
	return sim_call_end(&call, rc);
}

int cuCtxGetFlags(unsigned *flags)
{
	struct sim_call call;
	const struct sim_ctx *ctx = sim_thread.current;
	int rc = sim_call_begin(&call, SIM_CBID_cuCtxGetFlags);

	if (!rc && !ctx)
		rc = SIM_INVALID_CONTEXT;
	if (!rc)
		*flags = ctx->primary ? sim_state.primary_flags[ctx->device] : ctx->flags;
	return sim_call_end(&call, rc);
}

/* Of the contexts that cuCtxCreate_v2 and later make. */
int cuCtxGetApiVersion(void *handle, unsigned *version)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuCtxGetApiVersion);

	if (!rc && !handle && !sim_thread.current)
		rc = SIM_INVALID_CONTEXT;
	if (!rc)
		*version = 3020;
	return sim_call_end(&call, rc);
}

/* What a context says of its limits; they bind nothing here. Depth is none since Hopper. */
static int limit(struct sim_ctx *ctx, int which, size_t **value)
{
	if (!ctx)
		return SIM_INVALID_CONTEXT;
	if (which < 0 || which >= SIM_LIMITS || which == 3)
		return SIM_UNSUPPORTED_LIMIT;
	*value = &ctx->limit[which];
	return SIM_OK;
}

int cuCtxSetLimit(int which, size_t value)
{
	struct sim_call call;
	size_t *at;
	int rc = sim_call_begin(&call, SIM_CBID_cuCtxSetLimit);

	if (!rc)
		rc = limit(sim_thread.current, which, &at);
	if (!rc)
		*at = value;
	return sim_call_end(&call, rc);
}

int cuCtxGetLimit(size_t *value, int which)
{
	struct sim_call call;
	size_t *at;
	int rc = sim_call_begin(&call, SIM_CBID_cuCtxGetLimit);

	if (!rc)
		rc = limit(sim_thread.current, which, &at);
	if (!rc)
		*value = *at;
	return sim_call_end(&call, rc);
}

/* Lower is sooner; the model runs all alike. */
int cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuCtxGetStreamPriorityRange);

	if (!rc && !sim_ctx_current())
		rc = SIM_INVALID_CONTEXT;
	if (!rc && least)
		*least = 0;
	if (!rc && greatest)
		*greatest = -5;
	return sim_call_end(&call, rc);
}

int cuCtxGetId(void *handle, uint64_t *id)
{
	struct sim_call call;
	const struct sim_ctx *ctx = handle ? handle : sim_ctx_current();
	int rc = sim_call_begin(&call, SIM_CBID_cuCtxGetId);

	if (!rc && !ctx)
		rc = SIM_INVALID_CONTEXT;
	if (!rc)
		*id = ctx->id;
	return sim_call_end(&call, rc);
}

/* ---- other devices' memory: within reach as it is; what was enabled is remembered ---- */

static int peer(void *handle, uint32_t *bit)
{
	const struct sim_ctx *ctx = sim_ctx_current(), *other;

	if (!ctx)
		return SIM_INVALID_CONTEXT;
	sim_lock();
	other = find(handle);
	sim_unlock();
	if (!other)
		return SIM_INVALID_CONTEXT;
	*bit = 1u << other->device;
	return other->device == ctx->device ? SIM_INVALID_DEVICE : SIM_OK;
}

int cuCtxEnablePeerAccess(void *handle, unsigned flags)
{
	struct sim_call call;
	uint32_t bit;
	int rc = sim_call_begin(&call, SIM_CBID_cuCtxEnablePeerAccess);

	if (!rc && flags)
		rc = SIM_INVALID_VALUE;
	if (!rc)
		rc = peer(handle, &bit);
	if (!rc && sim_ctx_current()->peers & bit)
		rc = SIM_PEER_ALREADY_ENABLED;
	if (!rc)
		sim_ctx_current()->peers |= bit;
	return sim_call_end(&call, rc);
}

int cuCtxDisablePeerAccess(void *handle)
{
	struct sim_call call;
	uint32_t bit;
	int rc = sim_call_begin(&call, SIM_CBID_cuCtxDisablePeerAccess);

	if (!rc)
		rc = peer(handle, &bit);
	if (!rc && !(sim_ctx_current()->peers & bit))
		rc = SIM_PEER_NOT_ENABLED;
	if (!rc)
		sim_ctx_current()->peers &= ~bit;
	return sim_call_end(&call, rc);
}

/* ---- primary contexts ---- */

int cuDevicePrimaryCtxRetain(void **out, int device)
{
	struct sim_call call;
	struct sim_ctx *ctx = NULL;
	int rc = sim_call_begin(&call, SIM_CBID_cuDevicePrimaryCtxRetain);

	if (!rc && (device < 0 || (uint32_t)device >= sim_state.devices))
		rc = SIM_INVALID_DEVICE;
	if (!rc) {
		sim_lock();
		ctx = sim_state.primary[device];
		if (ctx)
			ctx->refs++;
		else
			rc = create(&ctx, device);
		if (ctx)
			ctx->primary = true;
		sim_state.primary[device] = ctx;
		sim_unlock();
	}
	if (!rc)
		*out = ctx;
	return sim_call_end(&call, rc);
}

/* The primary context stays until the process ends, as it does for nearly every program. */
int cuDevicePrimaryCtxRelease_v2(int device)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuDevicePrimaryCtxRelease_v2);

	if (!rc && (device < 0 || (uint32_t)device >= sim_state.devices))
		rc = SIM_INVALID_DEVICE;
	if (!rc) {
		struct sim_ctx *ctx = sim_state.primary[device];

		if (!ctx || !ctx->refs)
			rc = SIM_INVALID_CONTEXT;
		else
			ctx->refs--;
	}
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2);

int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuDevicePrimaryCtxGetState);

	if (!rc && (device < 0 || (uint32_t)device >= sim_state.devices))
		rc = SIM_INVALID_DEVICE;
	if (!rc) {
		*flags = sim_state.primary_flags[device];
		*active = sim_state.primary[device] != NULL;
	}
	return sim_call_end(&call, rc);
}

int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuDevicePrimaryCtxSetFlags_v2);

	if (!rc && (device < 0 || (uint32_t)device >= sim_state.devices))
		rc = SIM_INVALID_DEVICE;
	if (!rc && !flags_known(flags))
		rc = SIM_INVALID_VALUE;
	if (!rc)
		sim_state.primary_flags[device] = flags;
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags_v2);

/* Who holds it keeps a handle to what is no context any more; the next to retain gets a new one. */
int cuDevicePrimaryCtxReset_v2(int device)
{
	struct sim_call call;
	struct sim_ctx *ctx = NULL;
	int rc = sim_call_begin(&call, SIM_CBID_cuDevicePrimaryCtxReset_v2);

	if (!rc && (device < 0 || (uint32_t)device >= sim_state.devices))
		rc = SIM_INVALID_DEVICE;
	if (!rc) {
		sim_lock();
		ctx = sim_state.primary[device];
		sim_unlock();
	}
	if (ctx)
		end(ctx);
	if (ctx && sim_thread.current == ctx)
		sim_thread.current = NULL;
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2);
