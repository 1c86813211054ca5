/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lengths.h - how long a kernel lasts that computes nothing here: one that a stand-in library
 * (standin.h) launches, or a program's own. THE FIGURES ARE STABLE AND KNOWN, NOT RIGHT: the same
 * kernel lasts the same on every machine, and a test can compute it by hand; a real H100 may take
 * half or three times as long, and LENGTHS.md says where it was seen to. No measurement of a
 * program may be taken of them.
 *
 *	length = max(floor, FLOPs / (0.8 x peak of the type), bytes / (0.9 x 3.35 TB/s)), whole ns
 *
 * Peaks without sparsity: NVIDIA H100 Tensor Core GPU datasheet (SXM5, which prints the tensor
 * cores' figures with sparsity, twice these) and the H100 architecture whitepaper's table of
 * peaks. The two efficiencies: 8192^3 in BF16 was seen at 798 TFLOP/s (81 %) and copies within the
 * device at 3.0 TB/s (90 %). The floor is about what the shortest kernels last in H100s' traces.
 *
 * Pure functions, any thread, but for a table of names already read that grows and is never freed.
 */
#ifndef SIM_LENGTHS_H
#define SIM_LENGTHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "standin.h"

#define SIM_LENGTH_FLOOR_NS 2000
#define SIM_LENGTH_UNKNOWN_NS 10000
#define SIM_LENGTH_COMPUTE 0.8
#define SIM_LENGTH_MEMORY 0.9
#define SIM_LENGTH_BANDWIDTH 3.35e12 /* bytes per second */

#define SIM_PEAK_F64 66.9e12 /* FLOP per second, tensor cores */
#define SIM_PEAK_F32 66.9e12
#define SIM_PEAK_TF32 494.7e12
#define SIM_PEAK_F16 989.4e12
#define SIM_PEAK_F8 1978.9e12 /* and INT8 */

#define SIM_NUMBERS 16

/* What a kernel's name says behind the kernel's own name, as far as it says it. */
struct sim_reading {
	unsigned number[SIM_NUMBERS]; /* template arguments that are numbers; 0 behind the last */
	unsigned size; /* bytes of the first type, which is the elements'; 4 where none is said */
	unsigned arrays; /* N of std::array<char *, N>, or 0 */
	unsigned items; /* the number behind that array: elements per thread where there is one */
	unsigned lists; /* N of TensorListMetadata<N> and its kin, or 0 */
	bool two; /* its functor takes two operands */
};

/* Not NULL where this identifier, of so many characters, is the kernel's own name. */
typedef const void *sim_name_match(const char *text, size_t length);

/*
 * Reads a name: Itanium C++ mangling as far as torch's, cub's and CUTLASS's kernels need it; a name
 * that is not mangled is one identifier. Returns what `match` answered of the first identifier that
 * it knew, or NULL; `reading` is what follows it.
 */
const void *sim_name_read(const char *name, sim_name_match *match, struct sim_reading *reading);

#endif
