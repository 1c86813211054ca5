/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.c - allocations, and what an address is.
 */
#include <string.h>

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

static int attributes(struct rt_pointer *out, const void *address)
{
	uint64_t p = ADDRESS(address), base;
	int rc = SIM_OK;

	memset(out, 0, sizeof *out);
	out->device = -1;
	out->on_host = (void *)(uintptr_t)p;
	if (!cuMemHostGetDevicePointer_v2(&base, out->on_host, 0)) {
		out->type = 1;
		out->on_device = out->on_host;
		rc = rt_device(&out->device);
	} else if (!cuMemGetAddressRange_v2(&base, NULL, p)) {
		out->type = 2;
		out->on_device = out->on_host;
		out->on_host = NULL;
		rc = rt_device(&out->device);
	} else {
		out->device = -2; /* cudaInvalidDeviceId */
	}
	return rc;
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
