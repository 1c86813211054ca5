/* SPDX-License-Identifier: Apache-2.0 */
/*
 * solve.c - triangular systems, and factorisations of many small matrices: one kernel each, where
 * the originals may launch several. What they report per matrix (info on the device) stays what it
 * was.
 */
#include "handle.h"

/* Matrices of rows x columns on which so many operations are done each. */
struct batch {
	const char *name;
	int data;
	int64_t rows, columns, batch;
	double flops;
};

static int solve(void *handle, const struct batch *b)
{
	const struct blas_handle *h = blas_handle_get(handle);
	double elements = (double)b->rows * (double)b->columns * (double)b->batch;

	if (!h)
		return BLAS_NOT_INITIALIZED;
	if (b->rows < 0 || b->columns < 0 || b->batch < 0)
		return BLAS_INVALID_VALUE;
	return blas_work_launch(
		&(struct blas_work){
			.name = b->name,
			.data = b->data,
			.elements = b->rows * b->columns * b->batch,
			.flops = b->flops * (double)b->batch,
			.bytes = 2 * elements * blas_size(b->data),
		},
		h->stream);
}

/* The triangle is m x m on the left, n x n on the right; m x n right-hand sides. */
static int triangle(void *handle, const char *name, int data, int side, int64_t m, int64_t n,
		    int64_t batch)
{
	double order = (double)(side ? n : m);

	return solve(handle,
		     &(struct batch){ name, data, m, n, batch, order * (double)m * (double)n });
}

#define TRSM(function, data)                                                                     \
	BLAS_CALL(function, void *handle, int side, int uplo, int trans, int diag, int m, int n, \
		  const void *alpha, const void *a, int lda, void *b, int ldb)                   \
	{                                                                                        \
		(void)uplo, (void)trans, (void)diag, (void)alpha, (void)a, (void)lda, (void)b;   \
		(void)ldb;                                                                       \
		return triangle(handle, "trsm_kernel", data, side, m, n, 1);                     \
	}

TRSM(cublasStrsm_v2, BLAS_R_32F)
TRSM(cublasDtrsm_v2, BLAS_R_64F)
TRSM(cublasCtrsm_v2, BLAS_C_32F)
TRSM(cublasZtrsm_v2, BLAS_C_64F)

#define TRSM_BATCHED(function, data)                                                             \
	BLAS_CALL(function, void *handle, int side, int uplo, int trans, int diag, int m, int n, \
		  const void *alpha, const void *const *a, int lda, void *const *b, int ldb,     \
		  int batch)                                                                     \
	{                                                                                        \
		(void)uplo, (void)trans, (void)diag, (void)alpha, (void)a, (void)lda, (void)b;   \
		(void)ldb;                                                                       \
		return triangle(handle, "trsm_batched_kernel", data, side, m, n, batch);         \
	}

TRSM_BATCHED(cublasStrsmBatched, BLAS_R_32F)
TRSM_BATCHED(cublasDtrsmBatched, BLAS_R_64F)
TRSM_BATCHED(cublasCtrsmBatched, BLAS_C_32F)
TRSM_BATCHED(cublasZtrsmBatched, BLAS_C_64F)

/* LU of n x n: 2/3 n^3. */
static int factor(void *handle, int data, int n, int batch)
{
	double order = n;

	return solve(handle, &(struct batch){ "getrf_batched_kernel", data, n, n, batch,
					      2 * order * order * order / 3 });
}

#define GETRF(function, data)                                                          \
	BLAS_CALL(function, void *handle, int n, void *const *a, int lda, int *pivots, \
		  int *device_info, int batch)                                         \
	{                                                                              \
		(void)a, (void)lda, (void)pivots, (void)device_info;                   \
		return factor(handle, data, n, batch);                                 \
	}

GETRF(cublasSgetrfBatched, BLAS_R_32F)
GETRF(cublasDgetrfBatched, BLAS_R_64F)
GETRF(cublasCgetrfBatched, BLAS_C_32F)
GETRF(cublasZgetrfBatched, BLAS_C_64F)

/* The host is told whether the arguments were valid, and nothing of the matrices. */
static int argued(int rc, int *info)
{
	if (info)
		*info = 0;
	return rc;
}

/* Both triangles of an LU: 2 n^2 per right-hand side. */
static int substitute(void *handle, int data, int n, int sides, int batch)
{
	double order = n;

	return solve(handle, &(struct batch){ "getrs_batched_kernel", data, n, sides, batch,
					      2 * order * order * sides });
}

#define GETRS(function, data)                                                                \
	BLAS_CALL(function, void *handle, int trans, int n, int sides, const void *const *a, \
		  int lda, const int *pivots, void *const *b, int ldb, int *info, int batch) \
	{                                                                                    \
		(void)trans, (void)a, (void)lda, (void)pivots, (void)b, (void)ldb;           \
		return argued(substitute(handle, data, n, sides, batch), info);              \
	}

GETRS(cublasSgetrsBatched, BLAS_R_32F)
GETRS(cublasDgetrsBatched, BLAS_R_64F)
GETRS(cublasCgetrsBatched, BLAS_C_32F)
GETRS(cublasZgetrsBatched, BLAS_C_64F)

/* QR of m x n: 2 m n^2 - 2/3 n^3, taken as 2 m n^2; least squares by it alike. */
static int orthogonal(void *handle, const char *name, int data, int m, int n, int batch)
{
	return solve(handle, &(struct batch){ name, data, m, n, batch, 2.0 * m * n * n });
}

#define GEQRF(function, data)                                                                      \
	BLAS_CALL(function, void *handle, int m, int n, void *const *a, int lda, void *const *tau, \
		  int *info, int batch)                                                            \
	{                                                                                          \
		(void)a, (void)lda, (void)tau;                                                     \
		return argued(orthogonal(handle, "geqrf_batched_kernel", data, m, n, batch),       \
			      info);                                                               \
	}

GEQRF(cublasSgeqrfBatched, BLAS_R_32F)
GEQRF(cublasDgeqrfBatched, BLAS_R_64F)
GEQRF(cublasCgeqrfBatched, BLAS_C_32F)
GEQRF(cublasZgeqrfBatched, BLAS_C_64F)

#define GELS(function, data)                                                                       \
	BLAS_CALL(function, void *handle, int trans, int m, int n, int sides, void *const *a,      \
		  int lda, void *const *c, int ldc, int *info, int *device_info, int batch)        \
	{                                                                                          \
		(void)trans, (void)sides, (void)a, (void)lda, (void)c, (void)ldc;                  \
		(void)device_info;                                                                 \
		return argued(orthogonal(handle, "gels_batched_kernel", data, m, n, batch), info); \
	}

GELS(cublasSgelsBatched, BLAS_R_32F)
GELS(cublasDgelsBatched, BLAS_R_64F)
GELS(cublasCgelsBatched, BLAS_C_32F)
GELS(cublasZgelsBatched, BLAS_C_64F)
