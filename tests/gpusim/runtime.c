/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime.c - libgpusimrt.so: a few calls of the CUDA runtime over the simulated driver, under
 * their real names, so that RUNTIME records appear as PyTorch's programs give them. As seen on an
 * H100 a runtime call leaves no driver record; with GPUSIM_RUNTIME_NESTED=1 it leaves both, under
 * one correlation id, as older versions do.
 */
#include <stdlib.h>

#include "driver.h"

struct dim3 {
	unsigned x, y, z;
};

SIM_API int cudaSetDevice(int device);
SIM_API int cudaGetDevice(int *device);
SIM_API int cudaMalloc(void **address, size_t bytes);
SIM_API int cudaFree(void *address);
SIM_API int cudaHostAlloc(void **address, size_t bytes, unsigned flags);
SIM_API int cudaFreeHost(void *address);
SIM_API int cudaMemcpy(void *dst, const void *src, size_t bytes, int kind);
SIM_API int cudaMemcpyAsync(void *dst, const void *src, size_t bytes, int kind, void *stream);
SIM_API int cudaMemset(void *dst, int value, size_t bytes);
SIM_API int cudaMemsetAsync(void *dst, int value, size_t bytes, void *stream);
SIM_API int cudaStreamCreate(void **stream);
SIM_API int cudaStreamCreateWithFlags(void **stream, unsigned flags);
SIM_API int cudaStreamDestroy(void *stream);
SIM_API int cudaStreamSynchronize(void *stream);
SIM_API int cudaStreamQuery(void *stream);
SIM_API int cudaStreamWaitEvent(void *stream, void *event, unsigned flags);
SIM_API int cudaEventCreate(void **event);
SIM_API int cudaEventRecord(void *event, void *stream);
SIM_API int cudaEventSynchronize(void *event);
SIM_API int cudaEventQuery(void *event);
SIM_API int cudaEventDestroy(void *event);
SIM_API int cudaDeviceSynchronize(void);
SIM_API int cudaLaunchKernel(const void *function, struct dim3 grid, struct dim3 block,
			     void **params, size_t shared, void *stream);
SIM_API int cudaGraphLaunch(void *exec, void *stream);

static __thread int device_of_thread;

/* The primary context becomes current at the first call that needs one. */
static int ready(void)
{
	void *ctx = NULL;
	int rc = cuInit(0);

	if (!rc)
		rc = cuCtxGetCurrent(&ctx);
	if (rc || ctx)
		return rc;
	rc = cuDevicePrimaryCtxRetain(&ctx, device_of_thread);
	return rc ? rc : cuCtxSetCurrent(ctx);
}

/* Every call is the same frame around a driver call; a launch says which kernel it is about. */
#define RUNTIME_OF(kernel, name, args, expression)                                    \
	int name args                                                                 \
	{                                                                             \
		struct sim_call call;                                                 \
		int rc = gpusim_runtime_begin_launch(&call, SIM_CBID_##name, kernel); \
                                                                                      \
		if (!rc)                                                              \
			rc = ready();                                                 \
		if (!rc)                                                              \
			rc = (expression);                                            \
		return gpusim_runtime_end(&call, rc);                                 \
	}
#define RUNTIME(name, args, expression) RUNTIME_OF(NULL, name, args, expression)

static int set_device(int device)
{
	void *ctx;
	int rc = cuDevicePrimaryCtxRetain(&ctx, device);

	device_of_thread = device;
	return rc ? rc : cuCtxSetCurrent(ctx);
}

static int get_device(int *device)
{
	return cuCtxGetDevice(device);
}

/* There are no host stubs here: a kernel is named by its driver handle. */
static int launch(const void *function, struct dim3 grid, struct dim3 block, void **params,
		  size_t shared, void *stream)
{
	return cuLaunchKernel((void *)(uintptr_t)function, grid.x, grid.y, grid.z, block.x, block.y,
			      block.z, (unsigned)shared, stream, params, NULL);
}

#define ADDRESS(p) ((uint64_t)(uintptr_t)(p))

RUNTIME(cudaSetDevice, (int device), set_device(device))
RUNTIME(cudaGetDevice, (int *device), get_device(device))
RUNTIME(cudaMalloc, (void **address, size_t bytes), cuMemAlloc_v2((uint64_t *)address, bytes))
RUNTIME(cudaFree, (void *address), cuMemFree_v2(ADDRESS(address)))
RUNTIME(cudaHostAlloc, (void **address, size_t bytes, unsigned flags),
	cuMemHostAlloc(address, bytes, flags))
RUNTIME(cudaFreeHost, (void *address), cuMemFreeHost(address))
RUNTIME(cudaMemcpy, (void *dst, const void *src, size_t bytes, int kind),
	((void)kind, cuMemcpy(ADDRESS(dst), ADDRESS(src), bytes)))
RUNTIME(cudaMemcpyAsync, (void *dst, const void *src, size_t bytes, int kind, void *stream),
	((void)kind, cuMemcpyAsync(ADDRESS(dst), ADDRESS(src), bytes, stream)))
RUNTIME(cudaMemset, (void *dst, int value, size_t bytes),
	cuMemsetD8_v2(ADDRESS(dst), (unsigned char)value, bytes))
RUNTIME(cudaMemsetAsync, (void *dst, int value, size_t bytes, void *stream),
	cuMemsetD8Async(ADDRESS(dst), (unsigned char)value, bytes, stream))
RUNTIME(cudaStreamCreate, (void **stream), cuStreamCreate(stream, 0))
RUNTIME(cudaStreamCreateWithFlags, (void **stream, unsigned flags), cuStreamCreate(stream, flags))
RUNTIME(cudaStreamDestroy, (void *stream), cuStreamDestroy_v2(stream))
RUNTIME(cudaStreamSynchronize, (void *stream), cuStreamSynchronize(stream))
RUNTIME(cudaStreamQuery, (void *stream), cuStreamQuery(stream))
RUNTIME(cudaStreamWaitEvent, (void *stream, void *event, unsigned flags),
	cuStreamWaitEvent(stream, event, flags))
RUNTIME(cudaEventCreate, (void **event), cuEventCreate(event, 0))
RUNTIME(cudaEventRecord, (void *event, void *stream), cuEventRecord(event, stream))
RUNTIME(cudaEventSynchronize, (void *event), cuEventSynchronize(event))
RUNTIME(cudaEventQuery, (void *event), cuEventQuery(event))
RUNTIME(cudaEventDestroy, (void *event), cuEventDestroy_v2(event))
RUNTIME(cudaDeviceSynchronize, (void), cuCtxSynchronize())
RUNTIME_OF(function, cudaLaunchKernel,
	   (const void *function, struct dim3 grid, struct dim3 block, void **params, size_t shared,
	    void *stream),
	   launch(function, grid, block, params, shared, stream))
RUNTIME(cudaGraphLaunch, (void *exec, void *stream), cuGraphLaunch(exec, stream))
