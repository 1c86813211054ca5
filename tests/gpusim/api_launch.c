/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_launch.c - kernels and host functions. A kernel of the model's own lasts as long as its first
 * parameter says, one of somebody else's as long as lengths.c or who launches it says.
 */
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "config.h"
#include "driver.h"
#include "graph.h"
#include "launch.h"
#include "shm.h"
#include "standin.h"
#include "state.h"
#include "submit.h"

#define DEFAULT_NS 10000 /* of a kernel without parameters */

/* Parameter i, 64 bits: from the array of pointers, or from the packed buffer. */
static bool parameter(void **params, void **extra, int i, uint64_t *value)
{
	if (params && params[i]) {
		memcpy(value, params[i], sizeof *value);
		return true;
	}
	for (; !params && extra && *extra; extra += 2)
		if (*extra == (void *)1) { /* CU_LAUNCH_PARAM_BUFFER_POINTER */
			memcpy(value, (const char *)extra[1] + 8 * i, sizeof *value);
			return true;
		}
	return false;
}

/* Where the kernel is a collective: its number of ranks, and the name of the communicator. */
static uint64_t collective(struct sim_op *op, void **params, void **extra)
{
	uint64_t value, comm = 0;

	op->ranks = sim_config()->nccl_ranks;
	if (sim_config()->nccl_param && parameter(params, extra, 1, &value)) {
		comm = value >> 32;
		op->ranks = (uint32_t)value;
	}
	return comm;
}

/* What somebody else's kernel is given says nothing of how long it lasts. */
static uint64_t fill_foreign(struct sim_op *op)
{
	const struct sim_given *given = sim_thread.given;

	sim_garbage_tell();
	op->duration = given && given->length ? given->length
					      : gpusim_length_kernel(op->name, op->grid, op->block);
	op->ranks = given && given->n_meetings ? given->meetings[0].ranks : 0;
	return given ? given->communicator : 0;
}

uint64_t sim_kernel_fill(struct sim_op *op, void *function, const unsigned *grid,
			 const unsigned *block, unsigned shared, void **params, void **extra)
{
	const struct sim_function *f = function;

	op->engine = SIM_ENGINE_COMPUTE;
	op->name = f->name;
	op->label = f->label;
	memcpy(op->grid, grid, sizeof op->grid);
	memcpy(op->block, block, sizeof op->block);
	op->shared = shared;
	if (f->foreign)
		return fill_foreign(op);
	op->duration = DEFAULT_NS;
	parameter(params, extra, 0, &op->duration);
	return f->nccl ? collective(op, params, extra) : 0;
}

void sim_kernel_slow(struct sim_op *op)
{
	if (op->kind == SIM_KERNEL && !op->ranks)
		op->duration = op->duration * sim_config()->slow[op->physical] / 1000;
}

/* Lazy loading: at its first launch a function's code comes to the device. */
static void load_lazily(struct sim_stream *s, struct sim_function *f)
{
	uint64_t start = sim_now();

	if (f->loaded || !sim_config()->lazy_ns)
		return;
	f->loaded = true;
	sim_unlock();
	sim_sleep_until(start + sim_config()->lazy_ns);
	sim_lock();
	sim_note_overhead(s, SIM_OVERHEAD_LAZY_LOADING, start);
}

static int launch(const struct sim_launch_config *c, void *function, void **params, void **extra)
{
	struct sim_stream *s = sim_stream_get(c->stream);
	struct sim_when when = { 0, NULL };
	struct sim_work work = { 0 };
	struct sim_op op;

	if (!function || !s)
		return sim_ctx_current() ? SIM_INVALID_HANDLE : SIM_INVALID_CONTEXT;
	sim_lock();
	load_lazily(s, function);
	sim_throttle(s);
	sim_op_init(&op, SIM_KERNEL, s);
	work.comm = sim_kernel_fill(&op, function, c->grid, c->block, c->shared, params, extra);
	if (sim_thread.given) {
		work.n_meetings = sim_thread.given->n_meetings;
		work.meetings = sim_thread.given->meetings;
	}
	if (!sim_capture(s, &op, &work)) {
		sim_kernel_slow(&op);
		op.nccl = op.ranks > 1 || work.n_meetings;
		when = sim_submit_work(s, &op, NULL, 0, &work);
	}
	if (sim_config()->launches_block)
		when = sim_when_copy(&when);
	sim_unlock();
	if (sim_config()->launches_block)
		sim_when_wait(when);
	return SIM_OK;
}

int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
		   unsigned bz, unsigned shared, void *stream, void **params, void **extra)
{
	struct sim_launch_config c = { { gx, gy, gz }, { bx, by, bz }, shared, stream, NULL, 0 };
	struct sim_call call;
	int rc = sim_call_begin_launch(&call, SIM_CBID_cuLaunchKernel, function);

	if (!rc)
		rc = launch(&c, function, params, extra);
	return sim_call_end(&call, rc);
}

/* All blocks at once, or an error; the model does not ask whether they fit. */
int cuLaunchCooperativeKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
			      unsigned by, unsigned bz, unsigned shared, void *stream,
			      void **params)
{
	struct sim_launch_config c = { { gx, gy, gz }, { bx, by, bz }, shared, stream, NULL, 0 };
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuLaunchCooperativeKernel);

	if (!rc)
		rc = launch(&c, function, params, NULL);
	return sim_call_end(&call, rc);
}

int cuLaunchKernelEx(const struct sim_launch_config *c, void *function, void **params, void **extra)
{
	struct sim_call call;
	int rc = sim_call_begin_launch(&call, SIM_CBID_cuLaunchKernelEx, function);

	if (!rc)
		rc = launch(c, function, params, extra);
	return sim_call_end(&call, rc);
}

static int host(void *stream, void (*fn)(void *), void *data)
{
	struct sim_work work = { .host = fn, .host_data = data };
	struct sim_stream *s = sim_stream_get(stream);
	struct sim_op op;

	if (!s || !fn)
		return SIM_INVALID_HANDLE;
	sim_lock();
	sim_throttle(s);
	sim_op_init(&op, SIM_HOST, s);
	if (!sim_capture(s, &op, &work))
		sim_submit_work(s, &op, NULL, 0, &work);
	sim_unlock();
	return SIM_OK;
}

int cuLaunchHostFunc(void *stream, void (*fn)(void *), void *data)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuLaunchHostFunc);

	if (!rc)
		rc = host(stream, fn, data);
	return sim_call_end(&call, rc);
}

/* What a callback of the older kind is told besides its data. */
struct callback {
	void (*fn)(void *stream, int status, void *data);
	void *stream, *data;
};

static void call_back(void *arg)
{
	struct callback c = *(struct callback *)arg;

	free(arg);
	c.fn(c.stream, SIM_OK, c.data);
}

/* It cannot be captured. */
static int add_callback(void *stream, void (*fn)(void *, int, void *), void *data)
{
	struct sim_stream *s = sim_stream_get(stream);
	struct callback *c;
	int rc;

	if (!s || !fn)
		return SIM_INVALID_HANDLE;
	if (s->capture)
		return SIM_NOT_SUPPORTED;
	c = malloc(sizeof *c);
	if (!c)
		return SIM_OUT_OF_MEMORY;
	*c = (struct callback){ fn, stream, data };
	rc = host(stream, call_back, c);
	if (rc)
		free(c);
	return rc;
}

int cuStreamAddCallback(void *stream, void (*fn)(void *, int, void *), void *data, unsigned flags)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuStreamAddCallback);

	if (!rc && flags)
		rc = SIM_INVALID_VALUE;
	if (!rc)
		rc = add_callback(stream, fn, data);
	return sim_call_end(&call, rc);
}
