/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blas.h - what the stand-ins for libcublas.so.13 and libcublasLt.so.13 share: statuses, element
 * types, and the launch of one kernel per call with a length by its arguments (lengths.h).
 * Enumerators and layouts are those that NVIDIA documents for cuBLAS 13; handles are void *, enums
 * are int.
 *
 * The kernels compute nothing. Their names follow the pattern of NVIDIA's, and end in _simulated:
 * they are made up. Calls check little: a handle, negative sizes, shapes that do not fit together.
 */
#ifndef SIM_BLAS_H
#define SIM_BLAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../standin.h"

/* A function that the library exports. */
#define BLAS_CALL(function, ...)           \
	SIM_API int function(__VA_ARGS__); \
	int function(__VA_ARGS__)

#define BLAS_VERSION 130100 /* 13.1.0, what torch 2.13 and 2.14 are built with */

enum blas_status {
	BLAS_SUCCESS = 0,
	BLAS_NOT_INITIALIZED = 1,
	BLAS_ALLOC_FAILED = 3,
	BLAS_INVALID_VALUE = 7,
	BLAS_EXECUTION_FAILED = 13,
	BLAS_NOT_SUPPORTED = 15
};

/* cudaDataType */
enum blas_data {
	BLAS_R_32F = 0,
	BLAS_R_64F = 1,
	BLAS_R_16F = 2,
	BLAS_R_8I = 3,
	BLAS_C_32F = 4,
	BLAS_C_64F = 5,
	BLAS_R_32I = 10,
	BLAS_R_16BF = 14,
	BLAS_R_8F_E4M3 = 28,
	BLAS_R_8F_E5M2 = 29,
	BLAS_R_4F_E2M1 = 33
};

/* cublasComputeType_t */
enum blas_compute {
	BLAS_COMPUTE_16F = 64,
	BLAS_COMPUTE_32F = 68,
	BLAS_COMPUTE_64F = 70,
	BLAS_COMPUTE_32I = 72,
	BLAS_COMPUTE_32F_FAST_16F = 74,
	BLAS_COMPUTE_32F_FAST_16BF = 75,
	BLAS_COMPUTE_32F_FAST_TF32 = 77
};

/* Bytes of an element; 0: a type that is not known. Four bits count as a byte. */
unsigned blas_size(int data);

/* How tensor cores see elements of a type, with what the compute type allows. */
enum gpusim_type blas_type(int data, int compute);

/* C = op(A) op(B), `batch` of them. */
struct blas_product {
	int64_t m, n, k, batch;
	int a, b, c; /* enum blas_data */
	int compute; /* enum blas_compute */
	bool transposed_a, transposed_b;
	const char *epilogue; /* part of the name, such as "_bias", or NULL */
};

/* One kernel, or none where there is nothing to compute. A status. */
int blas_product_launch(const struct blas_product *product, void *stream);

/* Another kernel: `name` without its end, over so many elements, 256 per block. A status. */
struct blas_work {
	const char *name;
	int data; /* enum blas_data; of complex numbers each product counts four times */
	int64_t elements; /* 0: none is launched */
	double flops, bytes; /* as of real numbers; bytes are all that is moved */
};
int blas_work_launch(const struct blas_work *work, void *stream);

#endif
