/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch.c - kernels: the configuration that host code hands over, launches, and what a kernel is like.
 * Of their code nothing is known but the name, so that all are alike: compiled for a 9.0, 1024
 * threads to a block, no shared memory of their own.
 */
#include <stdatomic.h>
#include <string.h>

#include "cudart.h"

#define THREADS 1024 /* of a block, at most */
#define REGISTERS \
	32 /* of a thread: as many as let a multiprocessor hold as many threads as it can */
#define ARCHITECTURE 90
#define MULTIPROCESSOR_THREADS 2048
#define MULTIPROCESSOR_BLOCKS 32
#define MULTIPROCESSOR_SHARED 233472
#define BLOCK_SHARED 49152 /* without asking for more */
#define BLOCK_SHARED_MAX 232448
#define BLOCK_SHARED_OWN 1024 /* what the system takes of each block's */

/* ---- <<<grid, block, shared, stream>>> ---- */

#define DEPTH 4 /* a launch whose arguments launch */

static __thread struct {
	struct rt_launch launch[DEPTH];
	unsigned n;
} pushed;

unsigned __cudaPushCallConfiguration(struct rt_dim grid, struct rt_dim block, size_t shared,
				     void *stream)
{
	if (pushed.n == DEPTH)
		return RT_MISSING_CONFIGURATION;
	pushed.launch[pushed.n++] = (struct rt_launch){ grid, block, shared, stream, NULL, 0 };
	return SIM_OK;
}

int __cudaPopCallConfiguration(struct rt_dim *grid, struct rt_dim *block, size_t *shared,
			       void *stream)
{
	const struct rt_launch *l;

	if (!pushed.n)
		return rt_note(RT_MISSING_CONFIGURATION);
	l = &pushed.launch[--pushed.n];
	*grid = l->grid;
	*block = l->block;
	*shared = l->shared;
	*(void **)stream = l->stream;
	return SIM_OK;
}

/* ---- launches ---- */

static bool fits(const struct rt_kernel *k, const struct rt_launch *l)
{
	uint64_t threads = (uint64_t)l->block.x * l->block.y * l->block.z;
	size_t more = (size_t)atomic_load_explicit(&k->dynamic_shared, memory_order_relaxed);

	return l->grid.x && l->grid.y && l->grid.z && threads && threads <= THREADS &&
	       l->shared <= (more > BLOCK_SHARED ? more : BLOCK_SHARED);
}

/* Attributes that are work besides the kernel: an event that it records. */
#define PROGRAMMATIC_EVENT 7
#define COMPLETION_EVENT 12

static bool records_event(const struct rt_launch *l)
{
	unsigned i;

	for (i = 0; i < l->n_attributes; i++)
		if (l->attributes[i].id == PROGRAMMATIC_EVENT ||
		    l->attributes[i].id == COMPLETION_EVENT)
			return true;
	return false;
}

static int submit(const struct rt_kernel *k, void *driver, const struct rt_launch *l)
{
	struct gpusim_launch g = {
		.kernel = driver,
		.grid = { l->grid.x, l->grid.y, l->grid.z },
		.block = { l->block.x, l->block.y, l->block.z },
		.shared = (unsigned)l->shared,
		.stream = l->stream,
	};

	if (!k)
		return RT_INVALID_FUNCTION;
	if (!fits(k, l))
		return RT_INVALID_CONFIGURATION;
	if (records_event(l)) {
		gpusim_missing("libcudart.so.13", "cudaLaunchKernelExC with an event");
		return SIM_NOT_SUPPORTED;
	}
	return driver ? gpusim_launch(&g, 0) : SIM_OUT_OF_MEMORY;
}

/* The frame of every launch, which knows its kernel from the beginning. */
static int launch(uint32_t cbid, const void *function, const struct rt_launch *l)
{
	struct rt_kernel *k = rt_kernel_find(function);
	void *driver = k ? rt_kernel_driver(k) : NULL;
	struct sim_call call;
	int rc = gpusim_runtime_begin_launch(&call, cbid, driver);

	if (!rc)
		rc = submit(k, driver, l);
	return rt_note(gpusim_runtime_end(&call, rc));
}

#define LAUNCH(name, handle, on)                                                                  \
	int name(handle f, struct rt_dim grid, struct rt_dim block, void **params, size_t shared, \
		 void *stream)                                                                    \
	{                                                                                         \
		struct rt_launch l = { grid, block, shared, on, NULL, 0 };                        \
                                                                                                  \
		(void)params;                                                                     \
		return launch(SIM_CBID_##name, f, &l);                                            \
	}

LAUNCH(cudaLaunchKernel, const void *, stream)
LAUNCH(cudaLaunchKernel_ptsz, const void *, stream ? stream : RT_PER_THREAD)
LAUNCH(__cudaLaunchKernel, void *, stream)
LAUNCH(__cudaLaunchKernel_ptsz, void *, stream ? stream : RT_PER_THREAD)
LAUNCH(cudaLaunchCooperativeKernel, const void *, stream)

int cudaLaunchKernelExC(const struct rt_launch *l, const void *function, void **params)
{
	static const struct rt_launch none;

	(void)params;
	return launch(SIM_CBID_cudaLaunchKernelExC, function, l ? l : &none);
}

/* ---- what a kernel is like ---- */

static int get_attributes(struct rt_function *out, const void *function)
{
	const struct rt_kernel *k = rt_kernel_find(function);
	int more;

	if (!out || !k)
		return out ? RT_INVALID_FUNCTION : SIM_INVALID_VALUE;
	more = atomic_load(&k->dynamic_shared);
	*out = (struct rt_function){ .threads = THREADS,
				     .regs = REGISTERS,
				     .ptx = ARCHITECTURE,
				     .binary = ARCHITECTURE,
				     .dynamic_shared = more ? more : BLOCK_SHARED,
				     .carveout = -1 };
	return SIM_OK;
}

#define DYNAMIC_SHARED 8 /* cudaFuncAttribute, the first and the last */
#define LAST_ATTRIBUTE 15

static int set_attribute(const void *function, int attribute, int value)
{
	struct rt_kernel *k = rt_kernel_find(function);

	if (!k)
		return RT_INVALID_FUNCTION;
	if (attribute < DYNAMIC_SHARED || attribute > LAST_ATTRIBUTE)
		return SIM_INVALID_VALUE;
	if (attribute != DYNAMIC_SHARED)
		return SIM_OK; /* hints and permissions: all kernels are alike here */
	if (value < 0 || value > BLOCK_SHARED_MAX)
		return SIM_INVALID_VALUE;
	atomic_store(&k->dynamic_shared, value);
	return SIM_OK;
}

RUNTIME(cudaFuncGetAttributes, (struct rt_function * out, const void *f), get_attributes(out, f))
RUNTIME(cudaFuncSetAttribute, (const void *f, int attribute, int value),
	set_attribute(f, attribute, value))
RUNTIME(cudaKernelSetAttributeForDevice, (void *k, int attribute, int value, int device),
	((void)device, set_attribute(k, attribute, value)))

static int occupancy(int *blocks, const void *function, int threads, size_t shared)
{
	int by_threads, by_shared;

	if (!blocks || threads <= 0)
		return SIM_INVALID_VALUE;
	if (!rt_kernel_find(function))
		return RT_INVALID_FUNCTION;
	threads = (threads + 31) / 32 * 32;
	by_threads = threads > THREADS ? 0 : MULTIPROCESSOR_THREADS / threads;
	by_shared = (int)(MULTIPROCESSOR_SHARED / (shared + BLOCK_SHARED_OWN));
	*blocks = by_threads < by_shared ? by_threads : by_shared;
	if (*blocks > MULTIPROCESSOR_BLOCKS)
		*blocks = MULTIPROCESSOR_BLOCKS;
	return SIM_OK;
}

RUNTIME(cudaOccupancyMaxActiveBlocksPerMultiprocessor,
	(int *blocks, const void *f, int threads, size_t shared),
	occupancy(blocks, f, threads, shared))
RUNTIME(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
	(int *blocks, const void *f, int threads, size_t shared, unsigned flags),
	flags > 1 ? SIM_INVALID_VALUE : occupancy(blocks, f, threads, shared))
