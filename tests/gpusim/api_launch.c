/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_launch.c - kernels and host functions. A kernel lasts as long as its first parameter says.
 */
#include <string.h>

#include "clock.h"
#include "config.h"
#include "driver.h"
#include "meeting.h"
#include "shm.h"
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

/* Name of the communicator and number of ranks, where the kernel is a collective. */
static void make_collective(struct sim_op *op, void **params, void **extra)
{
	uint64_t ranks = sim_config()->nccl_ranks, value;
	uint64_t comm = 0;

	if (sim_config()->nccl_param && parameter(params, extra, 1, &value)) {
		comm = value >> 32;
		ranks = value & 0xffffffffu;
	}
	if (ranks > 1)
		sim_meeting_join(op, comm, (uint32_t)ranks);
}

static void kernel_op(struct sim_op *op, struct sim_stream *s, const struct sim_function *f,
		      const struct sim_launch_config *c, void **params, void **extra)
{
	sim_op_init(op, SIM_KERNEL, s);
	op->engine = SIM_ENGINE_COMPUTE;
	op->name = f->name;
	op->duration = DEFAULT_NS;
	parameter(params, extra, 0, &op->duration);
	memcpy(op->grid, c->grid, sizeof op->grid);
	memcpy(op->block, c->block, sizeof op->block);
	op->shared = c->shared;
	if (f->nccl)
		make_collective(op, params, extra);
}

static int launch(const struct sim_launch_config *c, void *function, void **params, void **extra)
{
	struct sim_stream *s = sim_stream_get(c->stream);
	struct sim_op op;

	if (!function || !s)
		return sim_ctx_current() ? SIM_INVALID_HANDLE : SIM_INVALID_CONTEXT;
	sim_lock();
	sim_throttle(s);
	kernel_op(&op, s, function, c, params, extra);
	sim_submit(s, &op, NULL, 0);
	sim_unlock();
	return SIM_OK;
}

int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
		   unsigned bz, unsigned shared, void *stream, void **params, void **extra)
{
	struct sim_launch_config c = { { gx, gy, gz }, { bx, by, bz }, shared, stream, NULL, 0 };
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuLaunchKernel);

	if (!rc)
		rc = launch(&c, function, params, extra);
	return sim_call_end(&call, rc);
}

int cuLaunchKernelEx(const struct sim_launch_config *c, void *function, void **params, void **extra)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuLaunchKernelEx);

	if (!rc)
		rc = launch(c, function, params, extra);
	return sim_call_end(&call, rc);
}

int cuLaunchHostFunc(void *stream, void (*fn)(void *), void *data)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuLaunchHostFunc);
	struct sim_stream *s = rc ? NULL : sim_stream_get(stream);

	if (!rc && (!s || !fn))
		rc = SIM_INVALID_HANDLE;
	if (!rc) {
		struct sim_op op;

		sim_lock();
		sim_throttle(s);
		sim_op_init(&op, SIM_HOST, s);
		sim_submit_host(s, &op, NULL, 0, fn, data);
		sim_unlock();
	}
	return sim_call_end(&call, rc);
}
