/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.c - entry and exit of API calls, the tracer's door, and what a fork does to all of it.
 */
#include "call.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "config.h"
#include "shm.h"
#include "spec.h"
#include "standin.h"
#include "state.h"
#include "truth.h"

__thread struct sim_thread sim_thread;

static _Atomic(const struct sim_tracer *) tracer;
static atomic_uint_fast64_t calls;

const struct sim_tracer *sim_tracer(void)
{
	return atomic_load_explicit(&tracer, memory_order_acquire);
}

uint32_t sim_tid(void)
{
	if (!sim_thread.tid)
		sim_thread.tid = (uint32_t)syscall(SYS_gettid);
	return sim_thread.tid;
}

/* ---- callbacks ---- */

/*
 * Driver calls by which a stand-in of the runtime finds its context: the real one has other ways.
 */
static bool housekeeping(uint32_t cbid)
{
	return cbid == SIM_CBID_cuInit || cbid == SIM_CBID_cuCtxGetCurrent ||
	       cbid == SIM_CBID_cuCtxSetCurrent || cbid == SIM_CBID_cuDevicePrimaryCtxRetain;
}

/*
 * A driver call that the runtime makes for its caller leaves no record, but callbacks are made for
 * it, under the runtime call's id: parcagpu and HPCToolkit sort them out (src/cupti.cpp,
 * src/hpcrun/gpu/api/nvidia/cupti-api.c).
 */
static bool called_back(const struct sim_call *call)
{
	const struct sim_thread *th = &sim_thread;

	if (!call->tracer || !call->tracer->enter || sim_state.forked)
		return false;
	if (call->domain != SIM_DRIVER || !th->runtime)
		return true;
	return th->depth == 2 && !housekeeping(call->cbid);
}

static struct sim_site site_of(struct sim_call *call)
{
	const struct sim_ctx *ctx = sim_ctx_current();

	return (struct sim_site){ .domain = call->domain,
				  .cbid = call->cbid,
				  .kernel = call->kernel,
				  .context = (void *)ctx,
				  .context_id = ctx ? ctx->id : 0,
				  .correlation = sim_thread.correlation,
				  .data = &call->data };
}

/* What the callback itself calls is no part of the call that it is told of. */
static void leave_alone(struct sim_thread *th)
{
	th->depth = 0;
	th->correlation = 0;
	th->given = NULL;
}

/* The context that the callback leaves current stays so. */
static void take_up(struct sim_thread *th, const struct sim_thread *was)
{
	th->depth = was->depth;
	th->correlation = was->correlation;
	th->runtime = was->runtime;
	th->call = was->call;
	th->call_start = was->call_start;
	th->given = was->given;
}

static void call_back_entry(struct sim_call *call)
{
	struct sim_thread was;
	struct sim_site site;

	if (!called_back(call))
		return;
	was = sim_thread;
	site = site_of(call);
	leave_alone(&sim_thread);
	call->told = call->tracer->enter(&site);
	take_up(&sim_thread, &was);
}

static void call_back_exit(struct sim_call *call, int result)
{
	struct sim_thread was;
	struct sim_site site;

	if (!call->told || sim_state.forked)
		return;
	was = sim_thread;
	site = site_of(call);
	site.exit = true;
	site.result = result;
	leave_alone(&sim_thread);
	call->tracer->leave(&site, call->told);
	take_up(&sim_thread, &was);
}

/* ---- entry ---- */

/* A driver call that the runtime makes for its caller. */
static bool hidden(const struct sim_call *call)
{
	return call->domain == SIM_DRIVER && sim_thread.runtime && !sim_config()->runtime_nested;
}

static void begin(struct sim_call *call, enum sim_domain domain, uint32_t cbid,
		  const void *function)
{
	const struct sim_function *f = function;
	const struct sim_tracer *t = sim_tracer();
	struct sim_thread *th = &sim_thread;

	*call = (struct sim_call){
		.tracer = t, .domain = domain, .cbid = cbid, .start = sim_now()
	};
	call->kernel = f ? f->name : NULL;
	if (!th->depth++) {
		sim_tid();
		th->call = atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed) + 1;
		th->call_start = call->start;
		th->correlation = t && !sim_state.forked ? t->correlate(domain, cbid) : 0;
		th->runtime = domain == SIM_RUNTIME;
	}
	call_back_entry(call);
	if (t && !sim_state.forked && !hidden(call))
		t->entered(domain, cbid, th->correlation);
}

int sim_call_begin_early(struct sim_call *call, enum sim_domain domain, uint32_t cbid)
{
	begin(call, domain, cbid, NULL);
	return 0;
}

/* ---- calls that fail by script ---- */

#define MAX_FAILS 8

static struct {
	struct sim_spec spec[MAX_FAILS];
	atomic_uint_fast64_t seen[MAX_FAILS];
	size_t n;
} fails;

static pthread_once_t fails_once = PTHREAD_ONCE_INIT;

static void fails_read(void)
{
	struct sim_spec all[16];
	size_t i, n = sim_spec_read("GPUSIM_FAULT", all, 16);

	for (i = 0; i < n && fails.n < MAX_FAILS; i++)
		if (!strcmp(all[i].name, "fail"))
			fails.spec[fails.n++] = all[i];
}

static void tell_failure(const struct sim_spec *s, const struct sim_call *call)
{
	char line[256];
	int n = snprintf(line, sizeof line,
			 "{\"fault\":\"fail\",\"call\":\"%s\",\"pid\":%d,\"start_ns\":%llu,"
			 "\"end_ns\":%llu,\"code\":%d}",
			 s->call, getpid(), (unsigned long long)call->start,
			 (unsigned long long)call->start, (int)s->code);

	sim_truth_line(line, (size_t)n);
}

static int scripted_failure(const struct sim_call *call)
{
	size_t i;

	pthread_once(&fails_once, fails_read);
	for (i = 0; i < fails.n; i++) {
		const struct sim_spec *s = &fails.spec[i];
		uint64_t n;

		if (strcmp(s->call, sim_call_name(call->domain, call->cbid)))
			continue;
		n = atomic_fetch_add(&fails.seen[i], 1) + 1;
		if (s->every ? n % s->every : n != s->nth)
			continue;
		tell_failure(s, call);
		return s->code ? (int)s->code : SIM_UNKNOWN;
	}
	return 0;
}

int sim_call_begin(struct sim_call *call, uint32_t cbid)
{
	return sim_call_begin_launch(call, cbid, NULL);
}

int sim_call_begin_launch(struct sim_call *call, uint32_t cbid, const void *function)
{
	begin(call, SIM_DRIVER, cbid, function);
	if (!sim_state.initialised || sim_state.forked)
		return SIM_NOT_INITIALIZED;
	return scripted_failure(call);
}

int gpusim_runtime_begin(struct sim_call *call, uint32_t cbid)
{
	return gpusim_runtime_begin_launch(call, cbid, NULL);
}

int gpusim_runtime_begin_launch(struct sim_call *call, uint32_t cbid, const void *function)
{
	begin(call, SIM_RUNTIME, cbid, function);
	return scripted_failure(call);
}

int gpusim_runtime_end(struct sim_call *call, int result)
{
	return sim_call_end(call, result);
}

int sim_call_end(struct sim_call *call, int result)
{
	const struct sim_tracer *t = call->tracer;
	struct sim_thread *th = &sim_thread;
	bool api = sim_config()->truth_api;

	if ((t || api) && !sim_state.forked && !hidden(call)) {
		uint64_t end = sim_now();

		if (t)
			t->call(call->domain, call->cbid, call->start, end, th->correlation,
				th->tid, result);
		if (api)
			sim_truth_call(call->domain, call->cbid, th->call, call->start, end,
				       th->correlation, th->tid, result);
	}
	call_back_exit(call, result);
	if (!--th->depth)
		th->correlation = 0;
	return result;
}

static bool export_alive(void)
{
	return sim_state.initialised && !sim_state.forked;
}

static void export_attach(const struct sim_tracer *t)
{
	atomic_store_explicit(&tracer, t, memory_order_release);
}

static uint32_t export_device_count(void)
{
	return sim_state.devices;
}

static uint32_t export_physical(uint32_t device)
{
	return device < sim_state.devices ? sim_state.physical[device] : device;
}

/* The context of this handle, if it is one; with the process lock held. */
static const struct sim_ctx *context_of(const void *handle)
{
	const struct sim_ctx *ctx;

	for (ctx = sim_state.contexts; ctx && ctx != handle; ctx = ctx->next)
		;
	return ctx;
}

static int export_context_device(void *handle)
{
	const struct sim_ctx *ctx;
	int device;

	sim_lock();
	ctx = context_of(handle);
	device = ctx ? (int)ctx->device : -1;
	sim_unlock();
	return device;
}

static uint32_t export_context_id(void *handle)
{
	const struct sim_ctx *ctx;
	uint32_t id;

	sim_lock();
	ctx = context_of(handle);
	id = ctx ? ctx->id : 0;
	sim_unlock();
	return id;
}

const struct sim_export sim_export = {
	.size = sizeof sim_export,
	.alive = export_alive,
	.attach = export_attach,
	.tid = sim_tid,
	.truth = sim_truth_line,
	.device_count = export_device_count,
	.device_physical = export_physical,
	.context_device = export_context_device,
	.context_id = export_context_id,
	.missing = gpusim_missing,
};

/*
 * A child of a process that had initialised the driver cannot use it, as with the real one; a
 * child of one that had not starts fresh.
 */
static void after_fork(void)
{
	if (sim_state.initialised)
		sim_state.forked = true;
	sim_thread.tid = 0;
	sim_thread.depth = 0;
	sim_truth_forget();
	sim_proc_forget();
}

__attribute__((constructor)) static void driver_loaded(void)
{
	pthread_atfork(NULL, NULL, after_fork);
}

__attribute__((destructor)) static void driver_unloaded(void)
{
	if (sim_state.forked)
		return;
	sim_missing_tell();
	sim_truth_flush();
	sim_proc_leave();
}
