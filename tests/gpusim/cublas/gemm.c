/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm.c - matrix products: one kernel each. Scalars and matrices are taken as they are, addresses
 * included; operands say nothing but their types.
 */
#include "handle.h"

struct types {
	int a, b, c, compute; /* 0: by the handle */
};

static int gemm(void *handle, int transa, int transb, int64_t m, int64_t n, int64_t k,
		int64_t batch, struct types types)
{
	const struct blas_handle *h = blas_handle_get(handle);
	struct blas_product p = {
		.m = m,
		.n = n,
		.k = k,
		.batch = batch,
		.a = types.a,
		.b = types.b,
		.c = types.c,
		.compute = types.compute,
		.transposed_a = transa != 0,
		.transposed_b = transb != 0,
	};

	if (!h)
		return BLAS_NOT_INITIALIZED;
	if (!p.compute)
		p.compute = blas_handle_compute(h, p.a);
	return blas_product_launch(&p, h->stream);
}

/* One type for all, and as its calls name it. `wide` is int and nothing, or int64_t and _64. */
#define GEMM(function, data, wide)                                                        \
	BLAS_CALL(function, void *handle, int transa, int transb, wide m, wide n, wide k, \
		  const void *alpha, const void *a, wide lda, const void *b, wide ldb,    \
		  const void *beta, void *c, wide ldc)                                    \
	{                                                                                 \
		(void)alpha, (void)a, (void)lda, (void)b, (void)ldb, (void)beta, (void)c; \
		(void)ldc;                                                                \
		return gemm(handle, transa, transb, m, n, k, 1,                           \
			    (struct types){ data, data, data, 0 });                       \
	}

#define GEMM_BATCHED(function, data, wide)                                                 \
	BLAS_CALL(function, void *handle, int transa, int transb, wide m, wide n, wide k,  \
		  const void *alpha, const void *const *a, wide lda, const void *const *b, \
		  wide ldb, const void *beta, void *const *c, wide ldc, wide batch)        \
	{                                                                                  \
		(void)alpha, (void)a, (void)lda, (void)b, (void)ldb, (void)beta, (void)c;  \
		(void)ldc;                                                                 \
		return gemm(handle, transa, transb, m, n, k, batch,                        \
			    (struct types){ data, data, data, 0 });                        \
	}

#define GEMM_STRIDED(function, data, wide)                                                      \
	BLAS_CALL(function, void *handle, int transa, int transb, wide m, wide n, wide k,       \
		  const void *alpha, const void *a, wide lda, long long stridea, const void *b, \
		  wide ldb, long long strideb, const void *beta, void *c, wide ldc,             \
		  long long stridec, wide batch)                                                \
	{                                                                                       \
		(void)alpha, (void)a, (void)lda, (void)stridea, (void)b, (void)ldb;             \
		(void)strideb, (void)beta, (void)c, (void)ldc, (void)stridec;                   \
		return gemm(handle, transa, transb, m, n, k, batch,                             \
			    (struct types){ data, data, data, 0 });                             \
	}

#define GEMM_ALL(letter, data)                                      \
	GEMM_BATCHED(cublas##letter##gemmBatched, data, int)        \
	GEMM_BATCHED(cublas##letter##gemmBatched_64, data, int64_t) \
	GEMM_STRIDED(cublas##letter##gemmStridedBatched, data, int) \
	GEMM_STRIDED(cublas##letter##gemmStridedBatched_64, data, int64_t)

GEMM(cublasSgemm_v2, BLAS_R_32F, int)
GEMM(cublasSgemm_v2_64, BLAS_R_32F, int64_t)
GEMM(cublasDgemm_v2, BLAS_R_64F, int)
GEMM(cublasDgemm_v2_64, BLAS_R_64F, int64_t)
GEMM(cublasCgemm_v2, BLAS_C_32F, int)
GEMM(cublasCgemm_v2_64, BLAS_C_32F, int64_t)
GEMM(cublasZgemm_v2, BLAS_C_64F, int)
GEMM(cublasZgemm_v2_64, BLAS_C_64F, int64_t)
GEMM(cublasHgemm, BLAS_R_16F, int)
GEMM(cublasHgemm_64, BLAS_R_16F, int64_t)
GEMM_ALL(S, BLAS_R_32F)
GEMM_ALL(D, BLAS_R_64F)
GEMM_ALL(C, BLAS_C_32F)
GEMM_ALL(Z, BLAS_C_64F)
GEMM_ALL(H, BLAS_R_16F)

/* ---- with types as arguments ---- */

#define GEMM_EX(function, wide)                                                                    \
	BLAS_CALL(function, void *handle, int transa, int transb, wide m, wide n, wide k,          \
		  const void *alpha, const void *a, int atype, wide lda, const void *b, int btype, \
		  wide ldb, const void *beta, void *c, int ctype, wide ldc, int compute, int algo) \
	{                                                                                          \
		(void)alpha, (void)a, (void)lda, (void)b, (void)ldb, (void)beta, (void)c;          \
		(void)ldc, (void)algo;                                                             \
		return gemm(handle, transa, transb, m, n, k, 1,                                    \
			    (struct types){ atype, btype, ctype, compute });                       \
	}

#define GEMM_BATCHED_EX(function, wide)                                                        \
	BLAS_CALL(function, void *handle, int transa, int transb, wide m, wide n, wide k,      \
		  const void *alpha, const void *const *a, int atype, wide lda,                \
		  const void *const *b, int btype, wide ldb, const void *beta, void *const *c, \
		  int ctype, wide ldc, wide batch, int compute, int algo)                      \
	{                                                                                      \
		(void)alpha, (void)a, (void)lda, (void)b, (void)ldb, (void)beta, (void)c;      \
		(void)ldc, (void)algo;                                                         \
		return gemm(handle, transa, transb, m, n, k, batch,                            \
			    (struct types){ atype, btype, ctype, compute });                   \
	}

#define GEMM_STRIDED_EX(function, wide)                                                     \
	BLAS_CALL(function, void *handle, int transa, int transb, wide m, wide n, wide k,   \
		  const void *alpha, const void *a, int atype, wide lda, long long stridea, \
		  const void *b, int btype, wide ldb, long long strideb, const void *beta,  \
		  void *c, int ctype, wide ldc, long long stridec, wide batch, int compute, \
		  int algo)                                                                 \
	{                                                                                   \
		(void)alpha, (void)a, (void)lda, (void)stridea, (void)b, (void)ldb;         \
		(void)strideb, (void)beta, (void)c, (void)ldc, (void)stridec, (void)algo;   \
		return gemm(handle, transa, transb, m, n, k, batch,                         \
			    (struct types){ atype, btype, ctype, compute });                \
	}

GEMM_EX(cublasGemmEx, int)
GEMM_EX(cublasGemmEx_64, int64_t)
GEMM_BATCHED_EX(cublasGemmBatchedEx, int)
GEMM_BATCHED_EX(cublasGemmBatchedEx_64, int64_t)
GEMM_STRIDED_EX(cublasGemmStridedBatchedEx, int)
GEMM_STRIDED_EX(cublasGemmStridedBatchedEx_64, int64_t)

/* Computed in single precision, whatever the operands are. */
BLAS_CALL(cublasSgemmEx, void *handle, int transa, int transb, int m, int n, int k,
	  const float *alpha, const void *a, int atype, int lda, const void *b, int btype, int ldb,
	  const float *beta, void *c, int ctype, int ldc)
{
	int compute = atype == BLAS_R_32F ? 0 : BLAS_COMPUTE_32F;

	return cublasGemmEx(handle, transa, transb, m, n, k, alpha, a, atype, lda, b, btype, ldb,
			    beta, c, ctype, ldc, compute, -1);
}
