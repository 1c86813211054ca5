/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_pointer.c - what the driver knows of an address.
 */
#include <string.h>

#include "driver.h"
#include "ranges.h"
#include "state.h"

/* CUpointer_attribute */
enum {
	CONTEXT = 1,
	MEMORY_TYPE = 2,
	DEVICE_POINTER = 3,
	HOST_POINTER = 4,
	SYNC_MEMOPS = 6,
	BUFFER_ID = 7,
	IS_MANAGED = 8,
	ORDINAL = 9,
	LEGACY_IPC = 10,
	RANGE_START = 11,
	RANGE_SIZE = 12,
	MAPPED = 13,
	HANDLE_TYPES = 14,
	RDMA = 15,
	ACCESS = 16,
	POOL = 17,
	MAPPING_SIZE = 18,
	MAPPING_BASE = 19,
	BLOCK_ID = 20,
	DECOMPRESS = 21
};

#define ON_HOST 1 /* CUmemorytype */
#define ON_DEVICE 2

/*
 * Pinned memory is of the context that pinned it; the model has forgotten which, and says the
 * current.
 */
static int device_of(const struct sim_range *r)
{
	const struct sim_ctx *ctx = sim_ctx_current();

	if (r->kind != SIM_PINNED)
		return (int)sim_device_of(r->physical);
	return ctx ? (int)ctx->device : 0;
}

static const void *context_of(const struct sim_range *r)
{
	return r->kind == SIM_PINNED ? sim_ctx_current() : r->owner;
}

/* The attribute's value and its size; 0 where this memory has no such thing. */
static size_t look(const struct sim_range *r, uint64_t address, int attribute, uint64_t *value)
{
	bool pinned = r->kind == SIM_PINNED, both = pinned || r->kind == SIM_MANAGED;

	switch (attribute) {
	case CONTEXT:
		*value = (uint64_t)(uintptr_t)context_of(r);
		return sizeof(void *);
	case MEMORY_TYPE:
		*value = pinned ? ON_HOST : ON_DEVICE;
		return sizeof(int);
	case DEVICE_POINTER:
		*value = address;
		return sizeof(uint64_t);
	case HOST_POINTER:
		*value = address;
		return both ? sizeof(void *) : 0;
	case BUFFER_ID:
	case BLOCK_ID:
		*value =
			r->start >> 9; /* no two begin in the same 512 bytes, but for pinned ones */
		return sizeof(uint64_t);
	case IS_MANAGED:
		*value = r->kind == SIM_MANAGED;
		return sizeof(char);
	case ORDINAL:
		*value = (uint64_t)(int64_t)device_of(r);
		return sizeof(int);
	case RANGE_START:
	case MAPPING_BASE:
		*value = r->start;
		return sizeof(uint64_t);
	case RANGE_SIZE:
	case MAPPING_SIZE:
		*value = r->size;
		return sizeof(uint64_t);
	case MAPPED:
		*value = 1;
		return sizeof(char);
	case ACCESS:
		*value = 3;
		return sizeof(int);
	case POOL:
		*value = (uint64_t)(uintptr_t)r->pool;
		return sizeof(void *);
	case SYNC_MEMOPS:
	case LEGACY_IPC:
	case RDMA:
	case DECOMPRESS:
		*value = 0;
		return sizeof(char);
	case HANDLE_TYPES:
		*value = 0;
		return sizeof(uint64_t);
	}
	return 0;
}

int cuPointerGetAttribute(void *data, int attribute, uint64_t address)
{
	struct sim_call call;
	struct sim_range range;
	uint64_t value;
	size_t n = 0;
	int rc = sim_call_begin(&call, SIM_CBID_cuPointerGetAttribute);

	if (!rc && data && sim_range_find(address, &range))
		n = look(&range, address, attribute, &value);
	if (!rc && !n)
		rc = SIM_INVALID_VALUE;
	if (!rc)
		memcpy(data, &value, n); /* little endian */
	return sim_call_end(&call, rc);
}

/* What an address that the driver does not know answers in a list: nothing, and 0 of each. */
static size_t size_of(int attribute)
{
	struct sim_range none = { .kind = SIM_PINNED };
	uint64_t value;

	return look(&none, 0, attribute, &value);
}

int cuPointerGetAttributes(unsigned n, int *attributes, void **data, uint64_t address)
{
	struct sim_call call;
	struct sim_range range;
	int rc = sim_call_begin(&call, SIM_CBID_cuPointerGetAttributes);
	bool known = !rc && sim_range_find(address, &range);
	unsigned i;

	if (!rc && (!n || !attributes || !data))
		rc = SIM_INVALID_VALUE;
	for (i = 0; !rc && i < n; i++)
		if (!size_of(attributes[i]))
			rc = SIM_INVALID_VALUE;
	for (i = 0; !rc && i < n; i++) {
		size_t size = size_of(attributes[i]);
		uint64_t value = 0;

		if (!known || !look(&range, address, attributes[i], &value))
			value = attributes[i] == ORDINAL ? UINT64_MAX - 1
							 : 0; /* CU_DEVICE_INVALID */
		memcpy(data[i], &value, size);
	}
	return sim_call_end(&call, rc);
}

/* Synchronous copies are synchronous here in any case. */
int cuPointerSetAttribute(const void *value, int attribute, uint64_t address)
{
	struct sim_call call;
	struct sim_range range;
	int rc = sim_call_begin(&call, SIM_CBID_cuPointerSetAttribute);

	if (!rc && (!value || attribute != SYNC_MEMOPS || !sim_range_find(address, &range)))
		rc = SIM_INVALID_VALUE;
	return sim_call_end(&call, rc);
}
