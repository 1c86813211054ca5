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

/* cublasLtMatmulDescAttributes_t, as far as it is read. */
enum lt_of_operation {
	LT_COMPUTE = 0,
	LT_SCALE = 1,
	LT_TRANSPOSED_A = 3,
	LT_TRANSPOSED_B = 4,
	LT_EPILOGUE = 7
};

/* cublasLtMatrixLayoutAttribute_t, the same. */
enum lt_of_layout {
	LT_DATA = 0,
	LT_ORDER = 1,
	LT_ROWS = 2,
	LT_COLUMNS = 3,
	LT_LEADING = 4,
	LT_BATCH = 5,
	LT_STRIDE = 6
};

/* What cublasLtEpilogue_t is made of. */
enum lt_epilogue {
	LT_EPILOGUE_NONE = 1,
	LT_EPILOGUE_RELU = 2,
	LT_EPILOGUE_BIAS = 4,
	LT_EPILOGUE_RELU_BACKWARD = 8,
	LT_EPILOGUE_BIAS_GRADIENT = 16,
	LT_EPILOGUE_GELU = 32,
	LT_EPILOGUE_GELU_BACKWARD = 64,
	LT_EPILOGUE_BIAS_GRADIENT_A = 256,
	LT_EPILOGUE_BIAS_GRADIENT_B = 512
};

/* cublasLtMatmulAlgo_t, and cublasLtMatmulHeuristicResult_t. */
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
