/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranges.h - the NVTX ranges that NCCL puts around its calls: pushed and popped in its domain
 * "NCCL", named by the function, with a payload of its own schema (NVTX's payload extension).
 * Without a tool (NVTX_INJECTION64_PATH), or with NCCL_NVTX_DISABLE=1, a call costs a load.
 */
#ifndef SIM_NCCL_RANGES_H
#define SIM_NCCL_RANGES_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct nccl_range_site {
	const char *name;
	_Atomic(void *) string; /* registered with the tool */
};

struct nccl_range {
	void *domain; /* NULL: none was pushed */
};

enum nccl_payload_id { /* NCCL's static schema ids, on top of NVTX's base */
	NCCL_PAYLOAD_NONE = -1,
	NCCL_PAYLOAD_INIT_RANK = 0,
	NCCL_PAYLOAD_INIT_ALL = 1,
	NCCL_PAYLOAD_DESTROY = 2,
	NCCL_PAYLOAD_ABORT = 3,
	NCCL_PAYLOAD_ALL_GATHER = 4,
	NCCL_PAYLOAD_ALL_REDUCE = 5,
	NCCL_PAYLOAD_BROADCAST = 6,
	NCCL_PAYLOAD_REDUCE_SCATTER = 7,
	NCCL_PAYLOAD_REDUCE = 8,
	NCCL_PAYLOAD_SEND = 9,
	NCCL_PAYLOAD_RECV = 10
};

struct nccl_range nccl_range_push(struct nccl_range_site *site, int id, const void *payload,
				  size_t bytes);
void nccl_range_pop(struct nccl_range *range);

/* From here to the end of the block. */
#define NCCL_RANGE_OF(id, payload, bytes)                                          \
	static struct nccl_range_site range_site = { __func__, NULL };             \
	__attribute__((cleanup(nccl_range_pop), unused)) struct nccl_range range = \
		nccl_range_push(&range_site, id, payload, bytes)
#define NCCL_RANGE() NCCL_RANGE_OF(NCCL_PAYLOAD_NONE, NULL, 0)

#endif
