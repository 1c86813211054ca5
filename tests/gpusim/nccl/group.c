/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group.c - groups, and the launches at their ends: of each communicator first the collectives, a
 * kernel each and in their order; then all its messages in one kernel. (NCCL may do with fewer
 * kernels.)
 */
#include "group.h"

#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "driver.h"
#include "ranges.h"

struct group {
	int depth, error;
	size_t n_ops, room_ops, n_comms, room_comms;
	struct nccl_op *ops;
	struct ncclComm **comms;
};

static __thread struct group group;

/* Room for one more; false without memory. */
static bool room(void **array, size_t n, size_t *have, size_t size)
{
	size_t want = n ? 2 * n : 16;
	void *p;

	if (n < *have)
		return true;
	p = realloc(*array, want * size);
	if (!p)
		return false;
	*array = p;
	*have = want;
	return true;
}

void nccl_group_begin(void)
{
	group.depth++;
}

int nccl_group_error(int result)
{
	if (!group.error)
		group.error = result;
	return result;
}

int nccl_group_op(const struct nccl_op *op)
{
	if (!room((void **)&group.ops, group.n_ops, &group.room_ops, sizeof *group.ops))
		return nccl_group_error(NCCL_SYSTEM_ERROR);
	group.ops[group.n_ops++] = *op;
	return NCCL_SUCCESS;
}

int nccl_group_comm(struct ncclComm *comm)
{
	if (!room((void **)&group.comms, group.n_comms, &group.room_comms, sizeof *group.comms))
		return nccl_group_error(NCCL_SYSTEM_ERROR);
	group.comms[group.n_comms++] = comm;
	return NCCL_SUCCESS;
}

/* ---- launching ---- */

static int launched(int rc)
{
	return rc ? nccl_fail(NCCL_UNHANDLED_CUDA_ERROR, "a launch failed with CUDA error %d", rc)
		  : NCCL_SUCCESS;
}

/* One kernel, within the communicator's context. */
static int launch(struct ncclComm *comm, const struct nccl_op *first, uint64_t length,
		  const struct gpusim_meeting *meetings, size_t n)
{
	struct gpusim_launch l = { .grid = { 16, 1, 1 }, .block = { 544, 1, 1 } };
	void *before = NULL;
	char name[NCCL_KERNEL_NAME];
	int rc;

	nccl_op_kernel(first, name);
	l.kernel = gpusim_kernel(name);
	l.stream = first->stream;
	l.length_ns = length;
	l.communicator = comm->id;
	l.n_meetings = (uint32_t)n;
	l.meetings = meetings;
	l.extended = true; /* as NCCL does it */
	cuCtxGetCurrent(&before);
	if (before != comm->context)
		cuCtxSetCurrent(comm->context);
	rc = l.kernel ? gpusim_launch(&l, 0) : SIM_OUT_OF_MEMORY;
	if (before != comm->context)
		cuCtxSetCurrent(before);
	return launched(rc);
}

/* Alone there is nobody to ask: a copy, where the result is to be elsewhere. */
static int copy_alone(const struct nccl_op *op)
{
	struct sim_call call;
	int rc;

	if (op->send == op->recv)
		return NCCL_SUCCESS;
	rc = gpusim_runtime_begin(&call, SIM_CBID_cudaMemcpyAsync);
	if (!rc)
		rc = cuMemcpyAsync((uintptr_t)op->recv, (uintptr_t)op->send, nccl_op_bytes(op, 1),
				   op->stream);
	return launched(gpusim_runtime_end(&call, rc));
}

static int launch_collective(const struct nccl_op *op)
{
	struct gpusim_meeting m;
	uint32_t ranks = (uint32_t)op->comm->ranks;

	if (ranks == 1 && op->reduction.op != NCCL_REDOPS)
		return copy_alone(op);
	nccl_op_meeting(op, op->comm->id, (uint32_t)op->comm->rank, ranks, &m);
	return launch(op->comm, op, nccl_op_length(op, ranks), &m, 1);
}

static bool is_message(const struct nccl_op *op)
{
	return op->function == NCCL_SEND || op->function == NCCL_RECV;
}

/* All messages of comm. Links carry both directions at once, each what it has to. */
static int launch_messages(struct ncclComm *comm)
{
	struct gpusim_meeting *m = malloc((group.n_ops + 1) * sizeof *m);
	const struct nccl_op *first = NULL;
	uint64_t length[2] = { 0, 0 };
	size_t i, n = 0;
	int rc;

	if (!m)
		return NCCL_SYSTEM_ERROR;
	for (i = 0; i < group.n_ops; i++) {
		const struct nccl_op *op = &group.ops[i];

		if (op->comm != comm || !is_message(op))
			continue;
		first = first ? first : op;
		nccl_op_meeting(op, comm->id, (uint32_t)comm->rank, (uint32_t)comm->ranks, &m[n++]);
		length[op->function == NCCL_SEND] += nccl_op_length(op, (uint32_t)comm->ranks);
	}
	rc = n ? launch(comm, first, length[length[1] > length[0]], m, n) : NCCL_SUCCESS;
	free(m);
	return rc;
}

static bool seen_before(size_t i)
{
	size_t j;

	for (j = 0; j < i; j++)
		if (group.ops[j].comm == group.ops[i].comm && is_message(&group.ops[j]))
			return true;
	return false;
}

static int launch_all(void)
{
	int rc = NCCL_SUCCESS;
	size_t i;

	for (i = 0; !rc && i < group.n_ops; i++)
		if (!is_message(&group.ops[i]))
			rc = launch_collective(&group.ops[i]);
	for (i = 0; !rc && i < group.n_ops; i++)
		if (is_message(&group.ops[i]) && !seen_before(i))
			rc = launch_messages(group.ops[i].comm);
	return rc;
}

/* Blocking communicators are ready afterwards, others may be in progress. */
static int await_comms(void)
{
	int rc = NCCL_SUCCESS, one;
	size_t i;

	for (i = 0; i < group.n_comms; i++) {
		struct ncclComm *comm = group.comms[i];

		one = comm->blocking ? nccl_comm_wait(comm) : nccl_comm_look(comm);
		if (one && (!rc || rc == NCCL_IN_PROGRESS))
			rc = one;
	}
	return rc;
}

int nccl_group_end(void)
{
	int rc;

	if (!group.depth)
		return nccl_fail(NCCL_INVALID_USAGE, "ncclGroupEnd without ncclGroupStart");
	if (--group.depth)
		return NCCL_SUCCESS;
	rc = group.error ? group.error : await_comms();
	if (!rc)
		rc = launch_all();
	group.error = 0;
	group.n_ops = 0;
	group.n_comms = 0;
	return rc;
}

int ncclGroupStart(void)
{
	NCCL_RANGE();

	nccl_group_begin();
	return NCCL_SUCCESS;
}

int ncclGroupEnd(void)
{
	NCCL_RANGE();

	return nccl_group_end();
}

/* What the group would take, one after the other; and it is forgotten. */
int ncclGroupSimulateEnd(struct nccl_sim_info *info)
{
	uint64_t length = 0;
	size_t i;

	NCCL_RANGE();

	if (!group.depth || !info || info->size < sizeof *info)
		return nccl_fail(NCCL_INVALID_USAGE, "ncclGroupSimulateEnd outside of a group");
	for (i = 0; i < group.n_ops; i++)
		length += nccl_op_length(&group.ops[i], (uint32_t)group.ops[i].comm->ranks);
	info->estimated_time = (float)length / 1e3f; /* microseconds */
	group.depth--;
	group.error = 0;
	group.n_ops = 0;
	return NCCL_SUCCESS;
}
