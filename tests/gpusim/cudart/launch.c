/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launch.c - kernels: the configuration that host code hands over, launches, and what a kernel is
 * like. Of their code nothing is known but the name; what the driver says of one it says of all.
 */
#include "cudart.h"

#define THREADS 1024 /* of a block, at most */
#define GRID_YZ 65535
#define BLOCK_SHARED 49152 /* without asking for more */

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

enum { /* CUfunction_attribute */
	MAX_THREADS = 0,
	STATIC_SHARED = 1,
	CONSTANT = 2,
	LOCAL = 3,
	REGISTERS = 4,
	PTX = 5,
	BINARY = 6,
	DYNAMIC_SHARED = 8,
	CARVEOUT = 9
};

static bool has_shared(void *driver, size_t bytes)
{
	int most;

	return bytes <= BLOCK_SHARED ||
	       (!cuFuncGetAttribute(&most, DYNAMIC_SHARED, driver) && bytes <= (size_t)most);
}

static bool fits(void *driver, const struct rt_launch *l)
{
	uint64_t threads = (uint64_t)l->block.x * l->block.y * l->block.z;

	return l->grid.x && l->grid.y && l->grid.z && l->grid.y <= GRID_YZ &&
	       l->grid.z <= GRID_YZ && threads && threads <= THREADS &&
	       has_shared(driver, l->shared);
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

/* Kernels of others do not look at their parameters, those of the model have their length there. */
static int submit(void *driver, const struct rt_launch *l, void **params)
{
	int rc;

	if (!driver)
		return RT_INVALID_FUNCTION;
	if (!fits(driver, l))
		return RT_INVALID_CONFIGURATION;
	if (records_event(l)) {
		gpusim_missing("libcudart.so.13", "cudaLaunchKernelExC with an event");
		return SIM_NOT_SUPPORTED;
	}
	rc = rt_ready();
	return rc ? rc
		  : cuLaunchKernel(driver, l->grid.x, l->grid.y, l->grid.z, l->block.x, l->block.y,
				   l->block.z, (unsigned)l->shared, l->stream, params, NULL);
}

/* The frame of every launch, which knows its kernel from the beginning. */
static int launch(uint32_t cbid, const void *function, const struct rt_launch *l, void **params)
{
	void *driver = rt_kernel(function);
	struct sim_call call;
	int rc = gpusim_runtime_begin_launch(&call, cbid, driver);

	if (!rc)
		rc = submit(driver, l, params);
	return rt_note(gpusim_runtime_end(&call, rc));
}

#define LAUNCH(name, handle, on)                                                                  \
	int name(handle f, struct rt_dim grid, struct rt_dim block, void **params, size_t shared, \
		 void *stream)                                                                    \
	{                                                                                         \
		struct rt_launch l = { grid, block, shared, on, NULL, 0 };                        \
                                                                                                  \
		return launch(SIM_CBID_##name, f, &l, params);                                    \
	}

LAUNCH(cudaLaunchKernel, const void *, stream)
LAUNCH(cudaLaunchKernel_ptsz, const void *, stream ? stream : RT_PER_THREAD)
LAUNCH(__cudaLaunchKernel, void *, stream)
LAUNCH(__cudaLaunchKernel_ptsz, void *, stream ? stream : RT_PER_THREAD)
LAUNCH(cudaLaunchCooperativeKernel, const void *, stream)

int cudaLaunchKernelExC(const struct rt_launch *l, const void *function, void **params)
{
	static const struct rt_launch none;

	return launch(SIM_CBID_cudaLaunchKernelExC, function, l ? l : &none, params);
}

/* ---- what a kernel is like ---- */

static int attribute(void *driver, int which)
{
	int value = 0;

	cuFuncGetAttribute(&value, which, driver);
	return value;
}

static int get_attributes(struct rt_function *out, const void *function)
{
	void *k = rt_kernel(function);

	if (!out || !k)
		return out ? RT_INVALID_FUNCTION : SIM_INVALID_VALUE;
	*out = (struct rt_function){ .shared = (size_t)attribute(k, STATIC_SHARED),
				     .constant = (size_t)attribute(k, CONSTANT),
				     .local = (size_t)attribute(k, LOCAL),
				     .threads = attribute(k, MAX_THREADS),
				     .regs = attribute(k, REGISTERS),
				     .ptx = attribute(k, PTX),
				     .binary = attribute(k, BINARY),
				     .dynamic_shared = attribute(k, DYNAMIC_SHARED),
				     .carveout = attribute(k, CARVEOUT) };
	return SIM_OK;
}

/* The runtime's attributes have the driver's numbers. */
static int set_attribute(const void *function, int which, int value)
{
	void *k = rt_kernel(function);

	return k ? cuFuncSetAttribute(k, which, value) : RT_INVALID_FUNCTION;
}

static int set_on_device(const void *function, int which, int value, int device)
{
	void *k = rt_kernel(function);

	return k ? cuKernelSetAttribute(which, value, k, device) : RT_INVALID_FUNCTION;
}

static int get_function(void **out, const void *symbol)
{
	*out = rt_kernel(symbol);
	return *out ? SIM_OK : RT_INVALID_FUNCTION;
}

static int get_name(const char **name, const void *function)
{
	void *k = rt_kernel(function);

	return k ? cuFuncGetName(name, k) : RT_INVALID_FUNCTION;
}

RUNTIME(cudaFuncGetAttributes, (struct rt_function * out, const void *f), get_attributes(out, f))
RUNTIME(cudaFuncSetAttribute, (const void *f, int which, int value), set_attribute(f, which, value))
RUNTIME(cudaKernelSetAttributeForDevice, (void *k, int which, int value, int device),
	set_on_device(k, which, value, device))
RUNTIME(cudaGetFuncBySymbol, (void **function, const void *symbol), get_function(function, symbol))
RUNTIME(cudaFuncGetName, (const char **name, const void *f), get_name(name, f))

static int occupancy(int *blocks, const void *function, int threads, size_t shared, unsigned flags)
{
	void *k = rt_kernel(function);

	return k ? cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, k, threads, shared,
									flags)
		 : RT_INVALID_FUNCTION;
}

RUNTIME(cudaOccupancyMaxActiveBlocksPerMultiprocessor,
	(int *blocks, const void *f, int threads, size_t shared),
	occupancy(blocks, f, threads, shared, 0))
RUNTIME(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
	(int *blocks, const void *f, int threads, size_t shared, unsigned flags),
	occupancy(blocks, f, threads, shared, flags))

/* ---- libraries of kernels, loaded at run time ---- */

static int library_kernel(void **out, void *library, const char *name)
{
	void *driver;
	int rc = cuLibraryGetKernel(&driver, library, name);

	if (!rc)
		*out = rt_kernel_new(driver);
	return rc || *out ? rc : SIM_OUT_OF_MEMORY;
}

RUNTIME(cudaLibraryLoadData,
	(void **library, const void *code, int *jit, void **jit_values, unsigned n_jit,
	 int *options, void **values, unsigned n),
	cuLibraryLoadData(library, code, jit, jit_values, n_jit, options, values, n))
RUNTIME(cudaLibraryGetKernel, (void **kernel, void *library, const char *name),
	library_kernel(kernel, library, name))
RUNTIME(cudaLibraryUnload, (void *library), cuLibraryUnload(library))
