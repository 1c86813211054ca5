/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op.h - one operation of a communicator: what it is called, how long it lasts, what moves.
 *
 * NCCL's own names are used for kernels: it builds a kernel per function and element type, for sums
 * by a ring, and these do everything else too. So a product by a tree has "Sum" and "RING_LL" in
 * its name.
 */
#ifndef SIM_NCCL_OP_H
#define SIM_NCCL_OP_H

#include "nccl.h"

enum nccl_function {
	NCCL_ALL_REDUCE,
	NCCL_REDUCE,
	NCCL_REDUCE_SCATTER,
	NCCL_BROADCAST,
	NCCL_ALL_GATHER,
	NCCL_ALL_TO_ALL,
	NCCL_GATHER,
	NCCL_SCATTER,
	NCCL_SEND,
	NCCL_RECV,
	NCCL_FUNCTIONS
};

/* A reduction: an enum nccl_redop, where NCCL_REDOPS stands for a sum of inputs times a scalar. */
struct nccl_reduction {
	int op;
	const void *device_scalar; /* to be read when the collective begins; NULL: */
	uint64_t scalar; /* its bytes */
};

struct nccl_op {
	enum nccl_function function;
	const void *send;
	void *recv;
	size_t count; /* as the call has it */
	int type;
	int root; /* or peer */
	struct nccl_reduction reduction;
	struct ncclComm *comm;
	void *stream;
};

size_t nccl_type_size(int type);

/* "ncclAllReduce" */
const char *nccl_op_name(enum nccl_function function);

/* The message as NCCL counts it: all that the ranks end up with, or send each other, together. */
size_t nccl_op_bytes(const struct nccl_op *op, uint32_t ranks);

/* Of NVLink between the GPUs of a node, see cost in op.c. */
uint64_t nccl_op_length(const struct nccl_op *op, uint32_t ranks);

/* The kernel, as a mangled name in a buffer of NCCL_KERNEL_NAME bytes. */
#define NCCL_KERNEL_NAME 128
void nccl_op_kernel(const struct nccl_op *op, char *name);

/*
 * Where rank meets the others for op, and what it shows them and takes: exactly what NCCL would,
 * for messages up to GPUSIM_SHOWN. Beyond that nothing, and it is counted. `id` is the
 * communicator's, sequence numbers are the simulator's.
 */
void nccl_op_meeting(const struct nccl_op *op, uint64_t id, uint32_t rank, uint32_t ranks,
		     struct gpusim_meeting *m);

/* Hash of two numbers; never 0. */
uint64_t nccl_mix(uint64_t a, uint64_t b);

#endif
