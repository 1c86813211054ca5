/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lt.h - cuBLASLt's descriptors: opaque to callers, who create them, set attributes by number and
 * hand them to the product. What no product reads here is accepted and forgotten.
 */
#ifndef SIM_LT_H
#define SIM_LT_H

#include "../cublas/blas.h"

/* cublasLtMatmulDesc_t */
struct lt_operation {
	int compute, scale;
	int transposed_a, transposed_b;
	int epilogue;
};

/* cublasLtMatrixLayout_t */
struct lt_layout {
	int data, order, batch;
	uint64_t rows, columns;
	int64_t leading, stride;
};

/*
 * cublasLtMatmulAlgo_t, and what the heuristics answer; checked against NVIDIA's by their sizes.
 */
struct lt_algorithm {
	uint64_t words[8];
};
struct lt_answer {
	struct lt_algorithm algorithm;
	size_t workspace;
	int status;
	float waves;
	int reserved[4];
};

/* The product that these describe; BLAS_INVALID_VALUE where the shapes do not fit together. */
int lt_product(const struct lt_operation *operation, const struct lt_layout *a,
	       const struct lt_layout *b, const struct lt_layout *d, struct blas_product *product);

#endif
