/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op.c - names, lengths and bytes of operations.
 */
#include "op.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "reduce.h"

/*
 * Length. A GPU of an H100's node has 450 GB/s of NVLink in each direction (NVIDIA, "H100 Tensor
 * Core GPU", 900 GB/s both ways). NCCL's tests see some 80 % of it as bus bandwidth of large
 * messages; what is small takes about 15 us. Known and stable, not right.
 */
#define LINK_BYTES_PER_NS (450.0 * 0.8)
#define FLOOR_NS 15000.0

struct function {
	const char *name, *kernel;
	bool reduces; /* then a kernel per type */
	bool per_rank; /* the message is `ranks` times the count */
};

static const struct function functions[NCCL_FUNCTIONS] = {
	[NCCL_ALL_REDUCE] = { "ncclAllReduce", "AllReduce", true, false },
	[NCCL_REDUCE] = { "ncclReduce", "Reduce", true, false },
	[NCCL_REDUCE_SCATTER] = { "ncclReduceScatter", "ReduceScatter", true, true },
	[NCCL_BROADCAST] = { "ncclBroadcast", "Broadcast", false, false },
	[NCCL_ALL_GATHER] = { "ncclAllGather", "AllGather", false, true },
	[NCCL_ALL_TO_ALL] = { "ncclAlltoAll", "SendRecv", false, true },
	[NCCL_GATHER] = { "ncclGather", "SendRecv", false, true },
	[NCCL_SCATTER] = { "ncclScatter", "SendRecv", false, true },
	[NCCL_SEND] = { "ncclSend", "SendRecv", false, false },
	[NCCL_RECV] = { "ncclRecv", "SendRecv", false, false },
};

size_t nccl_type_size(int type)
{
	static const uint8_t size[NCCL_TYPES] = { 1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1 };

	return size[type];
}

const char *nccl_op_name(enum nccl_function function)
{
	return functions[function].name;
}

/* What the call's count says, in bytes: a rank's part of the message, or all of it. */
static size_t part(const struct nccl_op *op)
{
	return op->count * nccl_type_size(op->type);
}

size_t nccl_op_bytes(const struct nccl_op *op, uint32_t ranks)
{
	return part(op) * (functions[op->function].per_rank ? ranks : 1);
}

/* How often the busiest link carries the message: the factors of NCCL's tests. */
static double crossings(enum nccl_function function, uint32_t ranks)
{
	double others = (double)(ranks - 1) / ranks;

	if (function == NCCL_ALL_REDUCE)
		return 2 * others;
	return functions[function].per_rank ? others : 1;
}

uint64_t nccl_op_length(const struct nccl_op *op, uint32_t ranks)
{
	double bytes = (double)nccl_op_bytes(op, ranks) * crossings(op->function, ranks);

	return (uint64_t)(FLOOR_NS + bytes / LINK_BYTES_PER_NS);
}

/* Sums do not care for the sign of integers: one kernel for both. */
void nccl_op_kernel(const struct nccl_op *op, char *name)
{
	static const char *const type[NCCL_TYPES] = { "u8",  "u8",   "u32",    "u32",
						      "u64", "u64",  "f16",    "f32",
						      "f64", "bf16", "f8e4m3", "f8e5m2" };
	const struct function *f = &functions[op->function];
	char plain[80];

	if (f->reduces)
		snprintf(plain, sizeof plain, "ncclDevKernel_%s_Sum_%s_RING_LL", f->kernel,
			 type[op->type]);
	else if (strcmp(f->kernel, "SendRecv"))
		snprintf(plain, sizeof plain, "ncclDevKernel_%s_RING_LL", f->kernel);
	else
		snprintf(plain, sizeof plain, "ncclDevKernel_SendRecv");
	snprintf(name, NCCL_KERNEL_NAME, "_Z%zu%s24ncclDevKernelArgsStorageILm4096EE",
		 strlen(plain), plain);
}

uint64_t nccl_mix(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;

	h = (h ^ h >> 32 ^ b) * 0xc4ceb9fe1a85ec53u;
	h = (h ^ h >> 29) * 0x9e3779b97f4a7c15u;
	return (h ^ h >> 32) | 1;
}

/* ---- what a rank shows and takes ---- */

/* Words of a meeting's arg. */
enum {
	ARG_SEND,
	ARG_RECV,
	ARG_COUNT,
	ARG_WHAT, /* function, type, op, root: a byte each, the root above */
	ARG_PART, /* bytes */
	ARG_SCALAR, /* of a sum of products: its bytes, */
	ARG_DEVICE_SCALAR /* or where they lie */
};

static int what(const struct gpusim_meeting *m, int byte)
{
	return (int)(m->arg[ARG_WHAT] >> 8 * byte & 0xff);
}

static enum nccl_function function_of(const struct gpusim_meeting *m)
{
	return (enum nccl_function)what(m, 0);
}

static uint32_t root_of(const struct gpusim_meeting *m)
{
	return (uint32_t)(m->arg[ARG_WHAT] >> 32);
}

static void *address(uint64_t value)
{
	return (void *)(uintptr_t)value;
}

static void show(const struct gpusim_meeting *m, void *to)
{
	const void *scalar = &m->arg[ARG_SCALAR];

	memcpy(to, address(m->arg[ARG_SEND]), m->shown);
	if (!functions[function_of(m)].reduces || what(m, 2) != NCCL_REDOPS)
		return;
	if (m->arg[ARG_DEVICE_SCALAR])
		scalar = address(m->arg[ARG_DEVICE_SCALAR]);
	nccl_scale(to, m->shown / nccl_type_size(what(m, 1)), what(m, 1), scalar);
}

/* Did all show what they were to? Else a file system is full. */
static bool all_there(const struct gpusim_meeting *m, const void *const *from)
{
	uint32_t r;

	for (r = 0; r < m->ranks; r++)
		if (!from[r]) {
			gpusim_unmoved(nccl_op_name(function_of(m)), m->taken);
			return false;
		}
	return true;
}

/* The parts that the others have for this rank, one after the other. */
static void take_parts(const struct gpusim_meeting *m, const void *const *from, size_t offset)
{
	char *to = address(m->arg[ARG_RECV]);
	uint32_t r;

	if (all_there(m, from))
		for (r = 0; r < m->ranks; r++)
			memcpy(to + r * m->arg[ARG_PART], (const char *)from[r] + offset,
			       m->arg[ARG_PART]);
}

static void take_gathered(const struct gpusim_meeting *m, const void *const *from)
{
	take_parts(m, from, 0);
}

static void take_exchanged(const struct gpusim_meeting *m, const void *const *from)
{
	take_parts(m, from, m->rank * m->arg[ARG_PART]);
}

static void take_from(const struct gpusim_meeting *m, const void *from, size_t offset)
{
	if (from)
		memcpy(address(m->arg[ARG_RECV]), (const char *)from + offset, m->arg[ARG_PART]);
	else
		gpusim_unmoved(nccl_op_name(function_of(m)), m->taken);
}

static void take_root(const struct gpusim_meeting *m, const void *const *from)
{
	take_from(m, from[root_of(m)], 0);
}

static void take_scattered(const struct gpusim_meeting *m, const void *const *from)
{
	take_from(m, from[root_of(m)], m->rank * m->arg[ARG_PART]);
}

static void take_sent(const struct gpusim_meeting *m, const void *const *from)
{
	take_from(m, from[0], 0);
}

static void take_reduced_at(const struct gpusim_meeting *m, const void *const *from, size_t offset)
{
	const void *at[GPUSIM_RANKS];
	uint32_t r;

	if (!all_there(m, from))
		return;
	for (r = 0; r < m->ranks; r++)
		at[r] = (const char *)from[r] + offset;
	nccl_reduce(address(m->arg[ARG_RECV]), at, m->ranks, m->arg[ARG_COUNT], what(m, 1),
		    what(m, 2));
}

static void take_reduced(const struct gpusim_meeting *m, const void *const *from)
{
	take_reduced_at(m, from, 0);
}

static void take_reduced_part(const struct gpusim_meeting *m, const void *const *from)
{
	take_reduced_at(m, from, m->rank * m->arg[ARG_PART]);
}

/* How much a rank shows, and what it does with what it sees. */
static void plan(struct gpusim_meeting *m, enum nccl_function function, size_t one, size_t all)
{
	bool root = m->rank == root_of(m);

	m->shown = all;
	m->taken = all;
	switch (function) {
	case NCCL_ALL_REDUCE:
		m->take = take_reduced;
		break;
	case NCCL_REDUCE:
		m->take = root ? take_reduced : NULL;
		break;
	case NCCL_REDUCE_SCATTER:
		m->take = take_reduced_part;
		break;
	case NCCL_BROADCAST:
		m->shown = root ? all : 0;
		m->take = take_root;
		break;
	case NCCL_ALL_GATHER:
		m->shown = one;
		m->take = take_gathered;
		break;
	case NCCL_ALL_TO_ALL:
		m->take = take_exchanged;
		break;
	case NCCL_GATHER:
		m->shown = one;
		m->take = root ? take_gathered : NULL;
		break;
	case NCCL_SCATTER:
		m->shown = root ? all : 0;
		m->take = take_scattered;
		break;
	case NCCL_SEND:
		break;
	default:
		m->shown = 0;
		m->take = take_sent;
	}
}

/* Of a message the sender is rank 0, the receiver 1; they meet by who sends to whom. */
static void meet_peer(const struct nccl_op *op, uint64_t id, uint32_t rank,
		      struct gpusim_meeting *m)
{
	bool sends = op->function == NCCL_SEND;
	uint32_t peer = (uint32_t)op->root;

	m->key = nccl_mix(id, sends ? (uint64_t)rank << 32 | peer : (uint64_t)peer << 32 | rank);
	m->ranks = 2;
	m->rank = sends ? 0 : 1;
}

static void meet_all(const struct nccl_op *op, uint64_t id, uint32_t rank, uint32_t ranks,
		     struct gpusim_meeting *m)
{
	uint64_t key = nccl_mix(id, 0xa11u + ((uint64_t)op->function << 32));

	key = nccl_mix(key, nccl_op_bytes(op, ranks));
	m->key = nccl_mix(key, (uint64_t)op->type << 40 | (uint64_t)op->reduction.op << 32 |
				       (uint32_t)op->root);
	m->ranks = ranks;
	m->rank = rank;
}

void nccl_op_meeting(const struct nccl_op *op, uint64_t id, uint32_t rank, uint32_t ranks,
		     struct gpusim_meeting *m)
{
	size_t bytes = nccl_op_bytes(op, ranks);

	*m = (struct gpusim_meeting){ .show = show };
	if (op->function == NCCL_SEND || op->function == NCCL_RECV)
		meet_peer(op, id, rank, m);
	else
		meet_all(op, id, rank, ranks, m);
	m->arg[ARG_SEND] = (uintptr_t)op->send;
	m->arg[ARG_RECV] = (uintptr_t)op->recv;
	m->arg[ARG_COUNT] = op->count;
	m->arg[ARG_WHAT] = (uint64_t)op->function | (uint64_t)op->type << 8 |
			   (uint64_t)op->reduction.op << 16 | (uint64_t)(uint32_t)op->root << 32;
	m->arg[ARG_PART] = part(op);
	m->arg[ARG_SCALAR] = op->reduction.scalar;
	m->arg[ARG_DEVICE_SCALAR] = (uintptr_t)op->reduction.device_scalar;
	plan(m, op->function, part(op), bytes);
	if (bytes <= GPUSIM_SHOWN)
		return;
	if (m->take)
		gpusim_unmoved(nccl_op_name(op->function), bytes);
	m->shown = 0;
	m->take = NULL;
}
