/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vector.c - vectors, and a matrix times a vector: one kernel each; where the result goes to the
 * host, also the copy that the caller waits for.
 */
#include "handle.h"

/* n elements, `arrays` of them moved, `flops` operations on each. */
static int vector(void *handle, const char *name, int data, int64_t n, double arrays, double flops)
{
	const struct blas_handle *h = blas_handle_get(handle);
	int64_t elements = n > 0 ? n : 0;

	if (!h)
		return BLAS_NOT_INITIALIZED;
	return blas_work_launch(
		&(struct blas_work){
			.name = name,
			.data = data,
			.elements = elements,
			.flops = flops * (double)elements,
			.bytes = arrays * (double)elements * blas_size(data),
		},
		h->stream);
}

/* The same with a result of so many bytes. */
static int scalar(void *handle, const char *name, int data, int64_t n, double arrays, void *result,
		  unsigned bytes)
{
	int rc = vector(handle, name, data, n, arrays, 2);

	return rc ? rc : blas_handle_result(handle, result, bytes);
}

/* ---- results ---- */

#define DOT(function, data)                                                                        \
	BLAS_CALL(function, void *handle, int n, const void *x, int incx, const void *y, int incy, \
		  void *result)                                                                    \
	{                                                                                          \
		(void)x, (void)incx, (void)y, (void)incy;                                          \
		return scalar(handle, "dot_kernel", data, n, 2, result, blas_size(data));          \
	}

DOT(cublasSdot_v2, BLAS_R_32F)
DOT(cublasDdot_v2, BLAS_R_64F)
DOT(cublasCdotu_v2, BLAS_C_32F)
DOT(cublasCdotc_v2, BLAS_C_32F)
DOT(cublasZdotu_v2, BLAS_C_64F)
DOT(cublasZdotc_v2, BLAS_C_64F)

BLAS_CALL(cublasDotEx, void *handle, int n, const void *x, int xtype, int incx, const void *y,
	  int ytype, int incy, void *result, int rtype, int execution)
{
	(void)x, (void)incx, (void)y, (void)ytype, (void)incy, (void)execution;
	return scalar(handle, "dot_kernel", xtype, n, 2, result, blas_size(rtype));
}

#define REDUCTION(function, kernel, data, bytes)                                        \
	BLAS_CALL(function, void *handle, int n, const void *x, int incx, void *result) \
	{                                                                               \
		(void)x, (void)incx;                                                    \
		return scalar(handle, kernel, data, n, 1, result, bytes);               \
	}

REDUCTION(cublasSnrm2_v2, "nrm2_kernel", BLAS_R_32F, 4)
REDUCTION(cublasDnrm2_v2, "nrm2_kernel", BLAS_R_64F, 8)
REDUCTION(cublasScnrm2_v2, "nrm2_kernel", BLAS_C_32F, 4)
REDUCTION(cublasDznrm2_v2, "nrm2_kernel", BLAS_C_64F, 8)
REDUCTION(cublasSasum_v2, "asum_kernel", BLAS_R_32F, 4)
REDUCTION(cublasDasum_v2, "asum_kernel", BLAS_R_64F, 8)
REDUCTION(cublasScasum_v2, "asum_kernel", BLAS_C_32F, 4)
REDUCTION(cublasDzasum_v2, "asum_kernel", BLAS_C_64F, 8)
REDUCTION(cublasIsamax_v2, "iamax_kernel", BLAS_R_32F, 4)
REDUCTION(cublasIdamax_v2, "iamax_kernel", BLAS_R_64F, 4)
REDUCTION(cublasIcamax_v2, "iamax_kernel", BLAS_C_32F, 4)
REDUCTION(cublasIzamax_v2, "iamax_kernel", BLAS_C_64F, 4)

/* ---- vectors in, vectors out ---- */

#define AXPY(function, data)                                                                 \
	BLAS_CALL(function, void *handle, int n, const void *alpha, const void *x, int incx, \
		  void *y, int incy)                                                         \
	{                                                                                    \
		(void)alpha, (void)x, (void)incx, (void)y, (void)incy;                       \
		return vector(handle, "axpy_kernel", data, n, 3, 2);                         \
	}

AXPY(cublasSaxpy_v2, BLAS_R_32F)
AXPY(cublasDaxpy_v2, BLAS_R_64F)
AXPY(cublasCaxpy_v2, BLAS_C_32F)
AXPY(cublasZaxpy_v2, BLAS_C_64F)

#define SCAL(function, data)                                                           \
	BLAS_CALL(function, void *handle, int n, const void *alpha, void *x, int incx) \
	{                                                                              \
		(void)alpha, (void)x, (void)incx;                                      \
		return vector(handle, "scal_kernel", data, n, 2, 1);                   \
	}

SCAL(cublasSscal_v2, BLAS_R_32F)
SCAL(cublasDscal_v2, BLAS_R_64F)
SCAL(cublasCscal_v2, BLAS_C_32F)
SCAL(cublasZscal_v2, BLAS_C_64F)
SCAL(cublasCsscal_v2, BLAS_C_32F)
SCAL(cublasZdscal_v2, BLAS_C_64F)

#define PAIR(function, kernel, data, arrays)                                           \
	BLAS_CALL(function, void *handle, int n, void *x, int incx, void *y, int incy) \
	{                                                                              \
		(void)x, (void)incx, (void)y, (void)incy;                              \
		return vector(handle, kernel, data, n, arrays, 0);                     \
	}

PAIR(cublasScopy_v2, "copy_kernel", BLAS_R_32F, 2)
PAIR(cublasDcopy_v2, "copy_kernel", BLAS_R_64F, 2)
PAIR(cublasCcopy_v2, "copy_kernel", BLAS_C_32F, 2)
PAIR(cublasZcopy_v2, "copy_kernel", BLAS_C_64F, 2)
PAIR(cublasSswap_v2, "swap_kernel", BLAS_R_32F, 4)
PAIR(cublasDswap_v2, "swap_kernel", BLAS_R_64F, 4)
PAIR(cublasCswap_v2, "swap_kernel", BLAS_C_32F, 4)
PAIR(cublasZswap_v2, "swap_kernel", BLAS_C_64F, 4)

/* ---- a matrix times a vector ---- */

static int gemv(void *handle, int data, int64_t m, int64_t n)
{
	const struct blas_handle *h = blas_handle_get(handle);
	double elements = (double)m * (double)n;

	if (!h)
		return BLAS_NOT_INITIALIZED;
	if (m < 0 || n < 0)
		return BLAS_INVALID_VALUE;
	return blas_work_launch(
		&(struct blas_work){
			.name = "gemv_kernel",
			.data = data,
			.elements = m * n,
			.flops = 2 * elements,
			.bytes = (elements + (double)m + (double)n) * blas_size(data),
		},
		h->stream);
}

#define GEMV(function, data)                                                                   \
	BLAS_CALL(function, void *handle, int trans, int m, int n, const void *alpha,          \
		  const void *a, int lda, const void *x, int incx, const void *beta, void *y,  \
		  int incy)                                                                    \
	{                                                                                      \
		(void)trans, (void)alpha, (void)a, (void)lda, (void)x, (void)incx, (void)beta; \
		(void)y, (void)incy;                                                           \
		return gemv(handle, data, m, n);                                               \
	}

GEMV(cublasSgemv_v2, BLAS_R_32F)
GEMV(cublasDgemv_v2, BLAS_R_64F)
GEMV(cublasCgemv_v2, BLAS_C_32F)
GEMV(cublasZgemv_v2, BLAS_C_64F)
