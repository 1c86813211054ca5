/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collective.c - the calls that make operations, and the reductions made by programs.
 */
#include <stdlib.h>
#include <string.h>

#include "group.h"
#include "ranges.h"

/* ---- reductions made by programs ---- */

int ncclRedOpCreatePreMulSum(int *op, void *scalar, int type, int residence, struct ncclComm *comm)
{
	int rc = nccl_comm_check(comm, __func__), i;
	struct nccl_reduction *made;

	if (rc)
		return rc;
	if (!op || !scalar || (unsigned)type >= NCCL_TYPES)
		return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: no scalar of a type", __func__);
	pthread_mutex_lock(&comm->lock);
	for (i = 0; i < comm->n_made && comm->made[i].op == NCCL_REDOPS; i++)
		;
	made = i < comm->n_made ? comm->made
				: realloc(comm->made, ((size_t)i + 1) * sizeof *comm->made);
	if (made) {
		comm->made = made;
		comm->n_made = i < comm->n_made ? comm->n_made : i + 1;
		made[i] = (struct nccl_reduction){ .op = NCCL_REDOPS };
		if (residence == NCCL_SCALAR_DEVICE)
			made[i].device_scalar = scalar;
		else
			memcpy(&made[i].scalar, scalar, nccl_type_size(type));
		*op = NCCL_REDOPS + i;
	}
	pthread_mutex_unlock(&comm->lock);
	return made ? NCCL_SUCCESS : NCCL_SYSTEM_ERROR;
}

/* The reduction that a call means; false if there is none of this number. */
static bool reduction(struct ncclComm *comm, int op, struct nccl_reduction *out)
{
	bool found;

	*out = (struct nccl_reduction){ .op = op };
	if (op >= 0 && op < NCCL_REDOPS)
		return true;
	pthread_mutex_lock(&comm->lock);
	op -= NCCL_REDOPS;
	found = op >= 0 && op < comm->n_made && comm->made[op].op == NCCL_REDOPS;
	if (found)
		*out = comm->made[op];
	pthread_mutex_unlock(&comm->lock);
	return found;
}

int ncclRedOpDestroy(int op, struct ncclComm *comm)
{
	struct nccl_reduction is;
	int rc = nccl_comm_check(comm, __func__);

	if (rc)
		return rc;
	if (op < NCCL_REDOPS || !reduction(comm, op, &is))
		return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: no reduction %d", __func__, op);
	pthread_mutex_lock(&comm->lock);
	comm->made[op - NCCL_REDOPS].op = -1;
	pthread_mutex_unlock(&comm->lock);
	return NCCL_SUCCESS;
}

/* ---- operations ---- */

static int check(const struct nccl_op *op)
{
	const char *name = nccl_op_name(op->function);
	int rc = nccl_comm_check(op->comm, name);

	if (rc)
		return rc;
	if (atomic_load(&op->comm->aborted))
		return nccl_fail(NCCL_INVALID_USAGE, "%s: the communicator was revoked", name);
	if ((unsigned)op->type >= NCCL_TYPES)
		return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: no type %d", name, op->type);
	if (op->root < 0 || op->root >= op->comm->ranks)
		return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: rank %d of %d", name, op->root,
				 op->comm->ranks);
	if (op->count && !op->send && !op->recv)
		return nccl_fail(NCCL_INVALID_ARGUMENT, "%s: no buffer", name);
	return NCCL_SUCCESS;
}

static int enqueue(const struct nccl_op *op)
{
	int rc = check(op), end;

	nccl_group_begin();
	if (rc)
		nccl_group_error(rc);
	else if (op->count)
		rc = nccl_group_op(op);
	end = nccl_group_end();
	return rc ? rc : end;
}

static int reduce(struct nccl_op *op, int redop)
{
	int rc = check(op);

	if (!rc && !reduction(op->comm, redop, &op->reduction))
		rc = nccl_fail(NCCL_INVALID_ARGUMENT, "%s: no reduction %d",
			       nccl_op_name(op->function), redop);
	if (!rc)
		return enqueue(op);
	nccl_group_begin();
	nccl_group_error(rc);
	nccl_group_end();
	return rc;
}

/* The payloads of NCCL's ranges: communicator, bytes, and what else the call has. */
struct payload {
	uint64_t comm;
	size_t bytes;
	int one, other;
};

static struct payload payload(struct ncclComm *comm, size_t count, int type, int one, int other)
{
	struct payload p = { comm ? comm->id : 0, 0, one, other };

	if ((unsigned)type < NCCL_TYPES)
		p.bytes = count * nccl_type_size(type);
	return p;
}

#define RANGE(id, one, other)                                       \
	struct payload p_ = payload(comm, count, type, one, other); \
	NCCL_RANGE_OF(id, &p_, sizeof p_)

#define OP(f, ...)                                                                           \
	{                                                                                    \
		.function = f, .count = count, .type = type, .comm = comm, .stream = stream, \
		__VA_ARGS__                                                                  \
	}

int ncclAllReduce(const void *send, void *recv, size_t count, int type, int op,
		  struct ncclComm *comm, void *stream)
{
	struct nccl_op o = OP(NCCL_ALL_REDUCE, .send = send, .recv = recv);

	RANGE(NCCL_PAYLOAD_ALL_REDUCE, op, 0);
	return reduce(&o, op);
}

int ncclReduce(const void *send, void *recv, size_t count, int type, int op, int root,
	       struct ncclComm *comm, void *stream)
{
	struct nccl_op o = OP(NCCL_REDUCE, .send = send, .recv = recv, .root = root);

	RANGE(NCCL_PAYLOAD_REDUCE, root, op);
	return reduce(&o, op);
}

int ncclReduceScatter(const void *send, void *recv, size_t count, int type, int op,
		      struct ncclComm *comm, void *stream)
{
	struct nccl_op o = OP(NCCL_REDUCE_SCATTER, .send = send, .recv = recv);

	RANGE(NCCL_PAYLOAD_REDUCE_SCATTER, op, 0);
	return reduce(&o, op);
}

int ncclBroadcast(const void *send, void *recv, size_t count, int type, int root,
		  struct ncclComm *comm, void *stream)
{
	struct nccl_op o = OP(NCCL_BROADCAST, .send = send, .recv = recv, .root = root);

	RANGE(NCCL_PAYLOAD_BROADCAST, root, 0);
	return enqueue(&o);
}

int ncclBcast(void *buffer, size_t count, int type, int root, struct ncclComm *comm, void *stream)
{
	return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}

int ncclAllGather(const void *send, void *recv, size_t count, int type, struct ncclComm *comm,
		  void *stream)
{
	struct nccl_op o = OP(NCCL_ALL_GATHER, .send = send, .recv = recv);

	RANGE(NCCL_PAYLOAD_ALL_GATHER, 0, 0);
	return enqueue(&o);
}

int ncclAlltoAll(const void *send, void *recv, size_t count, int type, struct ncclComm *comm,
		 void *stream)
{
	struct nccl_op o = OP(NCCL_ALL_TO_ALL, .send = send, .recv = recv);

	NCCL_RANGE();
	return enqueue(&o);
}

int ncclGather(const void *send, void *recv, size_t count, int type, int root,
	       struct ncclComm *comm, void *stream)
{
	struct nccl_op o = OP(NCCL_GATHER, .send = send, .recv = recv, .root = root);

	NCCL_RANGE();
	return enqueue(&o);
}

int ncclScatter(const void *send, void *recv, size_t count, int type, int root,
		struct ncclComm *comm, void *stream)
{
	struct nccl_op o = OP(NCCL_SCATTER, .send = send, .recv = recv, .root = root);

	NCCL_RANGE();
	return enqueue(&o);
}

int ncclSend(const void *send, size_t count, int type, int peer, struct ncclComm *comm,
	     void *stream)
{
	struct nccl_op o = OP(NCCL_SEND, .send = send, .root = peer);

	RANGE(NCCL_PAYLOAD_SEND, peer, 0);
	return enqueue(&o);
}

int ncclRecv(void *recv, size_t count, int type, int peer, struct ncclComm *comm, void *stream)
{
	struct nccl_op o = OP(NCCL_RECV, .recv = recv, .root = peer);

	RANGE(NCCL_PAYLOAD_RECV, peer, 0);
	return enqueue(&o);
}
