/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce.h - reductions over elements of NCCL's types. All ranks compute the same from the same, in
 * the order of the ranks, so their results are equal to the bit. Types below 32 bits are added up
 * in float and rounded once, where NCCL rounds after each rank.
 */
#ifndef SIM_NCCL_REDUCE_H
#define SIM_NCCL_REDUCE_H

#include <stddef.h>
#include <stdint.h>

/* out[i] = from[0][i] op from[1][i] ...; op an enum nccl_redop, NCCL_REDOPS is a sum. */
void nccl_reduce(void *out, const void *const *from, uint32_t ranks, size_t count, int type,
		 int op);

/* elements[i] *= *scalar */
void nccl_scale(void *elements, size_t count, int type, const void *scalar);

#endif
