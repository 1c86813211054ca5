/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standin.h - what the stand-ins for CUDA's libraries (cudart/, cublas/, cudnn/, nccl/, absent/)
 * ask of the simulated driver besides its public calls. A program never sees these. Everything here
 * may be called from any thread; nothing calls cuInit by itself except where it says so.
 *
 * What a program computes through them is garbage: kernels last a known time and write nothing.
 */
#ifndef SIM_STANDIN_H
#define SIM_STANDIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "call.h"

/*
 * The kernel of this name, as cuLaunchKernel and graphs take it. One handle per name, which lives
 * as long as the process; NULL without memory. Its length is never read from its parameters: it is
 * the one that the launch gives, else gpusim_length_kernel's.
 */
SIM_API void *gpusim_kernel(const char *name);

#define GPUSIM_SHOWN (1u << 20) /* bytes that one rank can show the others in a meeting */
#define GPUSIM_RANKS 16

/*
 * One exchange that a collective takes part in: `ranks` parties who each name the same key as their
 * n-th meeting under it. When the op begins, all before it on its stream having moved its bytes,
 * this rank shows the others up to GPUSIM_SHOWN bytes. When all have come, each takes what it
 * wants: from[r] is what rank r showed, NULL where that is nothing; both in the order of the
 * stream. The op ends `length` after the last of all its meetings' parties has begun. Copied at the
 * launch; show and take run once per launch (of a graph, too) on any thread and call nothing of
 * CUDA's.
 */
struct gpusim_meeting {
	uint64_t key;
	uint32_t ranks, rank;
	size_t shown; /* 0: nothing */
	void (*show)(const struct gpusim_meeting *m, void *to);
	void (*take)(const struct gpusim_meeting *m, const void *const *from); /* or NULL */
	size_t taken; /* about how many bytes that touches */
	uint64_t arg[8]; /* the library's own */
};

/* A launch by a library. Zeroed fields are what a plain launch has. */
struct gpusim_launch {
	void *kernel; /* of gpusim_kernel, or of a module */
	unsigned grid[3], block[3], shared;
	void *stream;
	uint64_t length_ns; /* 0: by name and geometry */
	/*
	 * A collective (its kernel's name begins with "nccl"), and what may be abandoned together.
	 */
	uint64_t communicator;
	uint32_t n_meetings;
	const struct gpusim_meeting *meetings;
	bool extended; /* by cuLaunchKernelEx, as some libraries do */
};

/*
 * Launches on the current context's stream, capture included. An enum sim_result. cbid: the
 * runtime's call that its API record names (SIM_CBID_cudaLaunchKernel and its kin), as CUPTI shows
 * the launches of a library that has the runtime linked in; 0 where the caller is within such a
 * frame already. The first launch of a process says on standard error that results are garbage
 * (GPUSIM_QUIET=1: not).
 */
SIM_API int gpusim_launch(const struct gpusim_launch *launch, uint32_t cbid);

/*
 * How many of this process's collectives of a communicator are not over in the sense that their
 * end is not known yet.
 */
SIM_API unsigned gpusim_collectives_open(uint64_t communicator);

/*
 * Ends all of them now, as far as this process goes: their bytes do not move, and whoever waits
 * for this rank waits for ever, or until it gives up as well.
 */
SIM_API void gpusim_collectives_abandon(uint64_t communicator);

/*
 * Processes exchange some words: `ranks` of them under one key, once. To be asked again and again:
 * true when all have come, with everybody's words; and the words of those who came are there before
 * (all zero: not yet). Under a key that all of them have had an answer for nobody is known any
 * more.
 */
#define GPUSIM_WORDS 4
SIM_API bool gpusim_gather(uint64_t key, uint32_t ranks, uint32_t rank,
			   const uint64_t mine[GPUSIM_WORDS],
			   uint64_t all[GPUSIM_RANKS][GPUSIM_WORDS]);

/* Takes back what this rank said, unless it has had the answer. */
SIM_API void gpusim_gather_leave(uint64_t key, uint32_t rank);

/* When the process began, in the kernel's ticks; 0: there is none. Tells a reused pid apart. */
SIM_API uint64_t gpusim_process_began(int32_t pid);

/*
 * Bytes that a collective was to write and did not, because they were too many: counted by
 * function, and the counts written to the truth file when the process ends
 * ({"unmoved":"ncclAllReduce","calls":2,"bytes":..}). The text must live as long as the process.
 */
SIM_API void gpusim_unmoved(const char *function, uint64_t bytes);

/*
 * Initialises the driver and makes the primary context of the thread's device current where no
 * context is, as the runtime does at the first call that needs one. An enum sim_result.
 */
SIM_API int gpusim_ready(void);

/*
 * From now on device memory has content: zero when allocated, moved by copies and memsets.
 * For the constructors of the stand-ins, before any memory is allocated.
 */
SIM_API void gpusim_content(void);

/*
 * A function that has no body was called: counted, and the first call of each written to the truth
 * file ({"missing":"cusparseSpMM","library":"libcusparse.so.12",...}); the counts follow when the
 * process ends. Both texts must live as long as the process.
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
SIM_API uint64_t gpusim_length_kernel(const char *name, const unsigned grid[3],
				      const unsigned block[3]);

#endif
