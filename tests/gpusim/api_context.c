/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_context.c - contexts, the thread's stack of them, modules and functions.
 */
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "config.h"
#include "driver.h"
#include "names.h"
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

int cuCtxCreate_v2(void **out, unsigned flags, int device)
{
	struct sim_call call;
	struct sim_ctx *ctx = NULL;
	int rc = sim_call_begin(&call, SIM_CBID_cuCtxCreate_v2);

	(void)flags;
	if (!rc) {
		sim_lock();
		rc = create(&ctx, device);
		sim_unlock();
	}
	if (!rc) {
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

/* The memory stays: stream handles of a destroyed context may still be looked at. */
int cuCtxDestroy_v2(void *handle)
{
	struct sim_call call;
	struct sim_ctx *ctx = NULL, **p;
	int rc = sim_call_begin(&call, SIM_CBID_cuCtxDestroy_v2);

	if (!rc) {
		sim_lock();
		ctx = find(handle);
		sim_unlock();
		rc = ctx && !ctx->primary ? SIM_OK : SIM_INVALID_CONTEXT;
	}
	if (!rc) {
		sim_context_wait(ctx);
		sim_lock();
		for (p = &sim_state.contexts; *p != ctx; p = &(*p)->next)
			;
		*p = ctx->next;
		note_context(ctx, false);
		sim_unlock();
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
		*flags = 0;
		*active = sim_state.primary[device] != NULL;
	}
	return sim_call_end(&call, rc);
}

/* ---- modules ---- */

struct sim_module {
	struct sim_function *functions;
};

struct sim_function_link {
	struct sim_function function;
	struct sim_function_link *next;
};

static int load(void **out)
{
	struct sim_module *m;

	if (!sim_thread.current)
		return SIM_INVALID_CONTEXT;
	m = calloc(1, sizeof *m);
	if (!m)
		return SIM_OUT_OF_MEMORY;
	sim_sleep_until(sim_now() + sim_config()->module_ns);
	*out = m;
	return SIM_OK;
}

int cuModuleLoad(void **out, const char *path)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuModuleLoad);

	(void)path;
	if (!rc)
		rc = load(out);
	return sim_call_end(&call, rc);
}

int cuModuleLoadData(void **out, const void *image)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuModuleLoadData);

	(void)image;
	if (!rc)
		rc = load(out);
	return sim_call_end(&call, rc);
}

int cuModuleLoadDataEx(void **out, const void *image, unsigned n, int *options, void **values)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuModuleLoadDataEx);

	(void)image;
	(void)n;
	(void)options;
	(void)values;
	if (!rc)
		rc = load(out);
	return sim_call_end(&call, rc);
}

/* Any name is a kernel of any module. */
static int get_function(void **out, struct sim_module *m, const char *name)
{
	struct sim_function *f;

	if (!m || !name || !*name)
		return SIM_INVALID_HANDLE;
	f = calloc(1, sizeof *f);
	if (!f)
		return SIM_OUT_OF_MEMORY;
	f->name = sim_name(name);
	f->nccl = !strncmp(name, "nccl", 4);
	f->module = m;
	*out = f;
	return SIM_OK;
}

int cuModuleGetFunction(void **out, void *module, const char *name)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuModuleGetFunction);

	if (!rc)
		rc = get_function(out, module, name);
	return sim_call_end(&call, rc);
}

/* Functions stay valid: the model does not check what the driver does not check either. */
int cuModuleUnload(void *module)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuModuleUnload);

	if (!rc && !module)
		rc = SIM_INVALID_HANDLE;
	return sim_call_end(&call, rc);
}
