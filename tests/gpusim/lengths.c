/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lengths.c - work over a roof: the longer of arithmetic and memory, never below the floor.
 */
#include "lengths.h"

static const struct {
	double peak;
	unsigned size;
} types[] = {
	[GPUSIM_F64] = { SIM_PEAK_F64, 8 },   [GPUSIM_F32] = { SIM_PEAK_F32, 4 },
	[GPUSIM_TF32] = { SIM_PEAK_TF32, 4 }, [GPUSIM_F16] = { SIM_PEAK_F16, 2 },
	[GPUSIM_F8] = { SIM_PEAK_F8, 1 },     [GPUSIM_I8] = { SIM_PEAK_F8, 1 },
};

uint64_t gpusim_length_work(double flops, double bytes, enum gpusim_type type)
{
	double compute = flops / (SIM_LENGTH_COMPUTE * types[type].peak);
	double memory = bytes / (SIM_LENGTH_MEMORY * SIM_LENGTH_BANDWIDTH);
	double ns = 1e9 * (compute > memory ? compute : memory);

	return ns > SIM_LENGTH_FLOOR_NS ? (uint64_t)ns : SIM_LENGTH_FLOOR_NS;
}

uint64_t gpusim_length_matmul(uint64_t m, uint64_t n, uint64_t k, uint64_t batch,
			      enum gpusim_type type)
{
	double rows = (double)m, columns = (double)n, depth = (double)k, times = (double)batch;
	double elements = rows * depth + depth * columns + rows * columns;

	return gpusim_length_work(2 * rows * columns * depth * times,
				  elements * times * types[type].size, type);
}
