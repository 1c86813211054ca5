/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cudrv.c - loads the driver, and the spinning kernel in PTX.
 */
#include "cudrv.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

struct cudrv cu;

static const char ptx[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
			  ".visible .entry %s(.param .u64 duration)\n{\n"
			  "	.reg .pred %%p;\n"
			  "	.reg .u64 %%start, %%now, %%left, %%want;\n"
			  "	ld.param.u64 %%want, [duration];\n"
			  "	mov.u64 %%start, %%globaltimer;\n"
			  "again:\n"
			  "	mov.u64 %%now, %%globaltimer;\n"
			  "	sub.u64 %%left, %%now, %%start;\n"
			  "	setp.lt.u64 %%p, %%left, %%want;\n"
			  "	@%%p bra again;\n"
			  "	ret;\n}\n";

void cudrv_check(int rc, const char *what)
{
	if (!rc)
		return;
	fprintf(stderr, "workload: %s: error %d\n", what, rc);
	exit(1);
}

static void *find(void *lib, const char *name)
{
	void *fn = dlsym(lib, name);

	if (!fn) {
		fprintf(stderr, "workload: libcuda.so.1 has no %s\n", name);
		exit(1);
	}
	return fn;
}

static void load(void)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);

	if (!lib) {
		fprintf(stderr, "workload: %s\n", dlerror());
		exit(1);
	}
#define GET(field, name) *(void **)&cu.field = find(lib, name)
	GET(Init, "cuInit");
	GET(DeviceGetCount, "cuDeviceGetCount");
	GET(DeviceGetName, "cuDeviceGetName");
	GET(PrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
	GET(CtxSetCurrent, "cuCtxSetCurrent");
	GET(CtxSynchronize, "cuCtxSynchronize");
	GET(ModuleLoadData, "cuModuleLoadData");
	GET(ModuleGetFunction, "cuModuleGetFunction");
	GET(LaunchKernel, "cuLaunchKernel");
	GET(LaunchHostFunc, "cuLaunchHostFunc");
	GET(MemAlloc, "cuMemAlloc_v2");
	GET(MemFree, "cuMemFree_v2");
	GET(MemHostAlloc, "cuMemHostAlloc");
	GET(MemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2");
	GET(MemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2");
	GET(MemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2");
	GET(MemcpyPeerAsync, "cuMemcpyPeerAsync");
	GET(MemsetD8Async, "cuMemsetD8Async");
	GET(StreamCreate, "cuStreamCreate");
	GET(StreamSynchronize, "cuStreamSynchronize");
	GET(StreamWaitEvent, "cuStreamWaitEvent");
	GET(EventCreate, "cuEventCreate");
	GET(EventRecord, "cuEventRecord");
	GET(EventSynchronize, "cuEventSynchronize");
	GET(StreamBeginCapture, "cuStreamBeginCapture_v2");
	GET(StreamEndCapture, "cuStreamEndCapture");
	GET(GraphInstantiate, "cuGraphInstantiateWithFlags");
	GET(GraphLaunch, "cuGraphLaunch");
#undef GET
}

void cudrv_init(void)
{
	load();
	CU(Init(0));
}

/* ---- the runtime's names for the same ---- */

struct dim3 {
	unsigned x, y, z;
};

static struct {
	int (*launch)(const void *, struct dim3, struct dim3, void **, size_t, void *);
	int (*copy)(void *, const void *, size_t, int, void *);
	int (*fill)(void *, int, size_t, void *);
	/* NVIDIA's alone, which launches no function of the driver: */
	int (*load)(void **, const void *, void *, void *, unsigned, void *, void *, unsigned);
	int (*kernel)(void **, void *, const char *);
} rt;

static int rt_launch(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
		     unsigned bz, unsigned shared, void *stream, void **params, void **extra)
{
	(void)extra;
	return rt.launch(f, (struct dim3){ gx, gy, gz }, (struct dim3){ bx, by, bz }, params,
			 shared, stream);
}

static int rt_h2d(uint64_t dst, const void *src, size_t n, void *stream)
{
	return rt.copy((void *)(uintptr_t)dst, src, n, 1, stream);
}

static int rt_d2h(void *dst, uint64_t src, size_t n, void *stream)
{
	return rt.copy(dst, (const void *)(uintptr_t)src, n, 2, stream);
}

static int rt_d2d(uint64_t dst, uint64_t src, size_t n, void *stream)
{
	return rt.copy((void *)(uintptr_t)dst, (const void *)(uintptr_t)src, n, 3, stream);
}

static int rt_fill(uint64_t dst, unsigned char value, size_t n, void *stream)
{
	return rt.fill((void *)(uintptr_t)dst, value, n, stream);
}

void cudrv_use_runtime(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW);

	if (!lib) {
		fprintf(stderr, "workload: %s\n", dlerror());
		exit(1);
	}
	*(void **)&rt.launch = find(lib, "cudaLaunchKernel");
	*(void **)&rt.copy = find(lib, "cudaMemcpyAsync");
	*(void **)&rt.fill = find(lib, "cudaMemsetAsync");
	*(void **)&rt.load = dlsym(lib, "cudaLibraryLoadData");
	*(void **)&rt.kernel = dlsym(lib, "cudaLibraryGetKernel");
	*(void **)&cu.GraphLaunch = find(lib, "cudaGraphLaunch");
	*(void **)&cu.StreamSynchronize = find(lib, "cudaStreamSynchronize");
	*(void **)&cu.StreamWaitEvent = find(lib, "cudaStreamWaitEvent");
	*(void **)&cu.EventRecord = find(lib, "cudaEventRecord");
	*(void **)&cu.EventSynchronize = find(lib, "cudaEventSynchronize");
	*(void **)&cu.CtxSynchronize = find(lib, "cudaDeviceSynchronize");
	cu.LaunchKernel = rt_launch;
	cu.MemcpyHtoDAsync = rt_h2d;
	cu.MemcpyDtoHAsync = rt_d2h;
	cu.MemcpyDtoDAsync = rt_d2d;
	cu.MemsetD8Async = rt_fill;
}

void *cudrv_device(int ordinal)
{
	void *ctx;

	CU(PrimaryCtxRetain(&ctx, ordinal));
	CU(CtxSetCurrent(ctx));
	return ctx;
}

void *cudrv_kernel(const char *name)
{
	char image[sizeof ptx + 256];
	void *module, *fn;

	snprintf(image, sizeof image, ptx, name);
	if (rt.load && rt.kernel) {
		cudrv_check(rt.load(&module, image, NULL, NULL, 0, NULL, NULL, 0),
			    "cudaLibraryLoadData");
		cudrv_check(rt.kernel(&fn, module, name), "cudaLibraryGetKernel");
		return fn;
	}
	CU(ModuleLoadData(&module, image));
	CU(ModuleGetFunction(&fn, module, name));
	return fn;
}

void cudrv_launch(void *kernel, uint64_t ns, void *stream)
{
	void *params[2] = { &ns, NULL };

	CU(LaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, stream, params, NULL));
}
