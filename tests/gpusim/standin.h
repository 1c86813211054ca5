/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standin.h - what the stand-ins for CUDA's libraries (cudart/, cublas/, cudnn/, nccl/, absent/) ask of
 * the simulated driver besides its public calls. A program never sees these. Everything here may be called
 * from any thread; nothing calls cuInit by itself except where it says so.
 *
 * What a program computes through them is garbage: kernels last a known time and write nothing.
 */
#ifndef SIM_STANDIN_H
#define SIM_STANDIN_H

#include <stddef.h>
#include <stdint.h>

#include "call.h"

/*
 * The kernel of this name, as cuLaunchKernel and graphs take it. One handle per name, which lives as long
 * as the process; NULL without memory. Its length is never read from its parameters: it is the one
 * that the launch gives, else gpusim_length_kernel's.
 */
SIM_API void *gpusim_kernel(const char *name);

/* A launch by a library. Zeroed fields are what a plain launch has. */
struct gpusim_launch {
	void *kernel; /* of gpusim_kernel, or of a module */
	unsigned grid[3], block[3], shared;
	void *stream;
	uint64_t length_ns; /* 0: by name and geometry */
	/* A collective (its kernel's name begins with "nccl"): who meets, and how many. */
	uint64_t communicator;
	uint32_t ranks;
};

/*
 * Launches on the current context's stream, capture included. An enum sim_result. cbid: the runtime's call
 * that its API record names (SIM_CBID_cudaLaunchKernel and its kin), as CUPTI shows the launches
 * of a library that has the runtime linked in; 0 where the caller is within such a frame already. The
 * first launch of a process says on standard error that results are garbage (GPUSIM_QUIET=1: not).
 */
SIM_API int gpusim_launch(const struct gpusim_launch *launch, uint32_t cbid);

/*
 * Initialises the driver and makes the primary context of the thread's device current where no context is,
 * as the runtime does at the first call that needs one. An enum sim_result.
 */
SIM_API int gpusim_ready(void);

/*
 * From now on device memory has content: zero when allocated, moved by copies and memsets.
 * For the constructors of the stand-ins, before any memory is allocated.
 */
SIM_API void gpusim_content(void);

/*
 * A function that has no body was called: counted, and the first call of each written to the truth file
 * ({"missing":"cusparseSpMM","library":"libcusparse.so.12",...}); the counts follow when the process ends.
 * Both texts must live as long as the process.
 */
SIM_API void gpusim_missing(const char *library, const char *function);

/* ---- how long kernels last (lengths.h has the model and its sources) ---- */

enum gpusim_type { /* of a matrix's elements, as tensor cores see them */
	GPUSIM_F64,
	GPUSIM_F32,
	GPUSIM_TF32,
	GPUSIM_F16, /* and BF16 */
	GPUSIM_F8,
	GPUSIM_I8
};

/* m x n x k products, `batch` of them, each operand and result moved once. */
SIM_API uint64_t gpusim_length_matmul(uint64_t m, uint64_t n, uint64_t k, uint64_t batch,
				      enum gpusim_type type);

/* So many floating-point operations on elements of a type, and so many bytes moved. */
SIM_API uint64_t gpusim_length_work(double flops, double bytes, enum gpusim_type type);

/* Any kernel, by its (mangled) name and geometry; what is unknown lasts 10 us. */
SIM_API uint64_t gpusim_length_kernel(const char *name, const unsigned grid[3], const unsigned block[3]);

#endif
