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

int sim_call_begin_early(struct sim_call *call, enum sim_domain domain, uint32_t cbid)
{
	const struct sim_tracer *t = sim_tracer();
	struct sim_thread *th = &sim_thread;

	call->tracer = t;
	call->domain = domain;
	call->cbid = cbid;
	call->start = sim_now();
	if (th->depth++)
		return 0;
	sim_tid();
	th->call = atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed) + 1;
	th->call_start = call->start;
	th->correlation = t && !sim_state.forked ? t->correlate(domain, cbid) : 0;
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
	int rc = sim_call_begin_early(call, SIM_DRIVER, cbid);

	if (!rc && (!sim_state.initialised || sim_state.forked))
		rc = SIM_NOT_INITIALIZED;
	return rc ? rc : scripted_failure(call);
}

int gpusim_runtime_begin(struct sim_call *call, uint32_t cbid)
{
	int rc = sim_call_begin_early(call, SIM_RUNTIME, cbid);

	if (sim_thread.depth == 1)
		sim_thread.runtime = true;
	return rc ? rc : scripted_failure(call);
}

int gpusim_runtime_end(struct sim_call *call, int result)
{
	result = sim_call_end(call, result);
	if (!sim_thread.depth)
		sim_thread.runtime = false;
	return result;
}

/* A driver call that the runtime makes for its caller. */
static bool hidden(const struct sim_call *call)
{
	return call->domain == SIM_DRIVER && sim_thread.runtime && !sim_config()->runtime_nested;
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

static int export_context_device(void *handle)
{
	struct sim_ctx *ctx;
	int device = -1;

	sim_lock();
	for (ctx = sim_state.contexts; ctx; ctx = ctx->next)
		if (ctx == handle)
			device = (int)ctx->device;
	sim_unlock();
	return device;
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
