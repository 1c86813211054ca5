/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cudart.h - what the files of the stand-in for libcudart.so.13 share: the frame around each call,
 * the thread's last error, and what nvcc's host code registered. The calls themselves are CUDA's,
 * declared in api.h; each stands on public calls of the simulated driver.
 */
#ifndef SIM_CUDART_H
#define SIM_CUDART_H

#include <stddef.h>
#include <stdint.h>

#include "../driver.h"
#include "../standin.h"
#include "api.h"

/* cudaError_t: the driver's numbers, and these besides. */
enum rt_result {
	RT_INVALID_CONFIGURATION = 9,
	RT_INVALID_SYMBOL = 13,
	RT_INVALID_DIRECTION = 21,
	RT_INSUFFICIENT_DRIVER = 35,
	RT_MISSING_CONFIGURATION = 52,
	RT_INVALID_FUNCTION = 98
};

#define RT_PER_THREAD ((void *)2) /* cudaStreamPerThread */

/* The thread's last error, if rc is one; returns rc. */
int rt_note(int rc);

/*
 * Defines a call: a frame of the runtime around one expression, which is an enum sim_result. Driver
 * calls within leave no records of their own, as on an H100. RUNTIME makes a context current first
 * where there is none; RUNTIME_EARLY does not, nor does it initialise the driver.
 */
#define RUNTIME_EARLY(name, args, expression)                          \
	int name args                                                  \
	{                                                              \
		struct sim_call call;                                  \
		int rc = gpusim_runtime_begin(&call, SIM_CBID_##name); \
                                                                       \
		if (!rc)                                               \
			rc = (expression);                             \
		return rt_note(gpusim_runtime_end(&call, rc));         \
	}

#define RUNTIME(name, args, expression)                                \
	int name args                                                  \
	{                                                              \
		struct sim_call call;                                  \
		int rc = gpusim_runtime_begin(&call, SIM_CBID_##name); \
                                                                       \
		if (!rc)                                               \
			rc = rt_ready();                               \
		if (!rc)                                               \
			rc = (expression);                             \
		return rt_note(gpusim_runtime_end(&call, rc));         \
	}

#define ADDRESS(p) ((uint64_t)(uintptr_t)(p))

/* ---- error.c ---- */

/* The driver initialised, or an error: also one that is older than this runtime. */
int rt_init(void);

/* The same, and a context current. */
int rt_ready(void);

/* ---- registry.c ---- */

/*
 * The driver's handle of a kernel of the program's, by the address of its host stub or by the
 * handle that the program holds. NULL: nobody registered it, or no memory. Any thread; takes no
 * lock.
 */
void *rt_kernel(const void *stub_or_handle);

/*
 * What a launch by something that nobody registered means: nothing, as with NVIDIA's (plain.c), or
 * in libgpusimrt.so the driver's handle of a kernel (runtime.c).
 */
void *rt_unregistered(const void *handle);

/* The program's handle of a kernel that nobody registered, of a library. NULL without memory. */
void *rt_kernel_new(void *driver);

/* Where a variable lies on the current device, and how large it is. */
int rt_symbol(const void *symbol, uint64_t *address, size_t *bytes);

/* ---- device.c ---- */

/* The device of the thread; 0 where none was set. */
int rt_device(int *device);

/* The primary context of a device, kept for good. */
int rt_primary(int device, void **ctx);

#endif
