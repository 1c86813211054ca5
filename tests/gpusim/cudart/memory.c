/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.c - allocations, and what an address is.
 */
#include "cudart.h"

static int allocate(void **out, size_t bytes)
{
	uint64_t address = 0;
	int rc;

	if (!out)
		return SIM_INVALID_VALUE;
	rc = bytes ? cuMemAlloc_v2(&address, bytes) : SIM_OK;
	*out = (void *)(uintptr_t)address;
	return rc;
}

static int allocate_pitch(void **out, size_t *pitch, size_t width, size_t height)
{
	uint64_t address = 0;
	int rc = cuMemAllocPitch_v2(&address, pitch, width, height, 4);

	*out = (void *)(uintptr_t)address;
	return rc;
}

static int allocate_managed(void **out, size_t bytes, unsigned flags)
{
	uint64_t address = 0;
	int rc = cuMemAllocManaged(&address, bytes, flags);

	*out = (void *)(uintptr_t)address;
	return rc;
}

static int allocate_host(void **out, size_t bytes, unsigned flags)
{
	if (!out)
		return SIM_INVALID_VALUE;
	*out = NULL;
	return bytes ? cuMemHostAlloc(out, bytes, flags) : SIM_OK;
}

RUNTIME(cudaMalloc, (void **address, size_t bytes), allocate(address, bytes))
RUNTIME(cudaMallocPitch, (void **address, size_t *pitch, size_t width, size_t height),
	allocate_pitch(address, pitch, width, height))
RUNTIME(cudaMallocManaged, (void **address, size_t bytes, unsigned flags),
	allocate_managed(address, bytes, flags))
RUNTIME(cudaFree, (void *address), cuMemFree_v2(ADDRESS(address)))
RUNTIME(cudaMallocHost, (void **address, size_t bytes), allocate_host(address, bytes, 0))
RUNTIME(cudaHostAlloc, (void **address, size_t bytes, unsigned flags),
	allocate_host(address, bytes, flags))
RUNTIME(cudaFreeHost, (void *address), address ? cuMemFreeHost(address) : SIM_OK)
RUNTIME(cudaHostRegister, (void *address, size_t bytes, unsigned flags),
	cuMemHostRegister_v2(address, bytes, flags))
RUNTIME(cudaHostUnregister, (void *address), cuMemHostUnregister(address))
RUNTIME(cudaHostGetDevicePointer, (void **out, void *address, unsigned flags),
	cuMemHostGetDevicePointer_v2((uint64_t *)out, address, flags))
RUNTIME(cudaMemGetInfo, (size_t * free_bytes, size_t *total), cuMemGetInfo_v2(free_bytes, total))

/* ---- addresses ---- */

enum { /* CUpointer_attribute */
	MEMORY_TYPE = 2,
	IS_MANAGED = 8,
	ORDINAL = 9
};

enum { /* cudaMemoryType; of what is not managed, CUmemorytype has the same numbers */
	UNREGISTERED = 0,
	HOST = 1,
	DEVICE = 2,
	MANAGED = 3
};

#define NO_DEVICE (-2) /* cudaInvalidDeviceId */

/* An address that the driver does not know is no error. */
static int attributes(struct rt_pointer *out, const void *address)
{
	void *p = (void *)(uintptr_t)ADDRESS(address);
	unsigned type = UNREGISTERED;
	bool managed = false;

	*out = (struct rt_pointer){ .device = NO_DEVICE, .on_host = p };
	if (cuPointerGetAttribute(&type, MEMORY_TYPE, ADDRESS(p)) ||
	    cuPointerGetAttribute(&managed, IS_MANAGED, ADDRESS(p)))
		return SIM_OK;
	out->type = managed ? MANAGED : (int)type;
	out->on_device = p;
	if (out->type == DEVICE)
		out->on_host = NULL;
	return cuPointerGetAttribute(&out->device, ORDINAL, ADDRESS(p));
}

RUNTIME(cudaPointerGetAttributes, (struct rt_pointer * out, const void *address),
	out ? attributes(out, address) : SIM_INVALID_VALUE)

static int symbol_address(void **out, const void *symbol)
{
	uint64_t address = 0;
	size_t bytes;
	int rc = rt_symbol(symbol, &address, &bytes);

	*out = (void *)(uintptr_t)address;
	return rc;
}

static int symbol_size(size_t *out, const void *symbol)
{
	uint64_t address;

	return rt_symbol(symbol, &address, out);
}

RUNTIME(cudaGetSymbolAddress, (void **address, const void *symbol), symbol_address(address, symbol))
RUNTIME(cudaGetSymbolSize, (size_t * bytes, const void *symbol), symbol_size(bytes, symbol))

/* ---- in a stream's order ---- */

static int allocate_async(void **out, size_t bytes, void *pool, void *stream)
{
	uint64_t address = 0;
	int rc = SIM_OK;

	if (!out)
		return SIM_INVALID_VALUE;
	if (bytes)
		rc = pool ? cuMemAllocFromPoolAsync(&address, bytes, pool, stream)
			  : cuMemAllocAsync(&address, bytes, stream);
	*out = (void *)(uintptr_t)address;
	return rc;
}

RUNTIME(cudaMallocAsync, (void **address, size_t bytes, void *stream),
	allocate_async(address, bytes, NULL, stream))
RUNTIME(cudaMallocFromPoolAsync, (void **address, size_t bytes, void *pool, void *stream),
	pool ? allocate_async(address, bytes, pool, stream) : SIM_INVALID_VALUE)
RUNTIME(cudaFreeAsync, (void *address, void *stream),
	address ? cuMemFreeAsync(ADDRESS(address), stream) : SIM_OK)
RUNTIME(cudaDeviceGetDefaultMemPool, (void **pool, int device),
	cuDeviceGetDefaultMemPool(pool, device))
RUNTIME(cudaDeviceGetMemPool, (void **pool, int device), cuDeviceGetMemPool(pool, device))
RUNTIME(cudaDeviceSetMemPool, (int device, void *pool), cuDeviceSetMemPool(device, pool))
RUNTIME(cudaMemPoolCreate, (void **pool, const struct sim_pool_wish *is), cuMemPoolCreate(pool, is))
RUNTIME(cudaMemPoolDestroy, (void *pool), cuMemPoolDestroy(pool))
RUNTIME(cudaMemPoolTrimTo, (void *pool, size_t keep), cuMemPoolTrimTo(pool, keep))
RUNTIME(cudaMemPoolSetAttribute, (void *pool, int attribute, void *value),
	cuMemPoolSetAttribute(pool, attribute, value))
RUNTIME(cudaMemPoolGetAttribute, (void *pool, int attribute, void *value),
	cuMemPoolGetAttribute(pool, attribute, value))
RUNTIME(cudaMemPoolSetAccess, (void *pool, const struct sim_access *list, size_t n),
	cuMemPoolSetAccess(pool, list, n))

/* ---- other processes' memory and events: the driver has none of either ---- */

static int ipc_open(void **out, struct sim_ipc handle, unsigned flags)
{
	uint64_t address = 0;
	int rc = cuIpcOpenMemHandle_v2(&address, handle, flags);

	*out = (void *)(uintptr_t)address;
	return rc;
}

RUNTIME(cudaIpcGetMemHandle, (struct sim_ipc * handle, void *address),
	cuIpcGetMemHandle(handle, ADDRESS(address)))
RUNTIME(cudaIpcOpenMemHandle, (void **address, struct sim_ipc handle, unsigned flags),
	ipc_open(address, handle, flags))
RUNTIME(cudaIpcCloseMemHandle, (void *address), cuIpcCloseMemHandle(ADDRESS(address)))
RUNTIME(cudaIpcGetEventHandle, (struct sim_ipc * handle, void *event),
	cuIpcGetEventHandle(handle, event))
RUNTIME(cudaIpcOpenEventHandle, (void **event, struct sim_ipc handle),
	cuIpcOpenEventHandle(event, handle))
