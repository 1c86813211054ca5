/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul.c - the product itself, one kernel with its epilogue inside, and the choice of an
 * algorithm, of which there is one that wants no workspace.
 */
#include <assert.h>
#include <string.h>

#include "lt.h"

static_assert(sizeof(struct lt_answer) == 96, "cublasLtMatmulHeuristicResult_t");

static const char *epilogue(int flags)
{
	bool bias = flags & LT_EPILOGUE_BIAS;

	if (flags & LT_EPILOGUE_GELU)
		return bias ? "_bias_gelu" : "_gelu";
	if (flags & LT_EPILOGUE_RELU)
		return bias ? "_bias_relu" : "_relu";
	if (flags & LT_EPILOGUE_GELU_BACKWARD)
		return "_dgelu";
	if (flags & LT_EPILOGUE_RELU_BACKWARD)
		return "_drelu";
	if (flags &
	    (LT_EPILOGUE_BIAS_GRADIENT | LT_EPILOGUE_BIAS_GRADIENT_A | LT_EPILOGUE_BIAS_GRADIENT_B))
		return "_bgrad";
	return bias ? "_bias" : NULL;
}

int lt_product(const struct lt_operation *o, const struct lt_layout *a, const struct lt_layout *b,
	       const struct lt_layout *d, struct blas_product *p)
{
	uint64_t k, m, n;

	if (!o || !a || !b || !d)
		return BLAS_INVALID_VALUE;
	m = o->transposed_a ? a->columns : a->rows;
	k = o->transposed_a ? a->rows : a->columns;
	n = o->transposed_b ? b->rows : b->columns;
	if ((o->transposed_b ? b->columns : b->rows) != k || d->rows != m || d->columns != n)
		return BLAS_INVALID_VALUE;
	*p = (struct blas_product){
		.m = (int64_t)m,
		.n = (int64_t)n,
		.k = (int64_t)k,
		.batch = d->batch,
		.a = a->data,
		.b = b->data,
		.c = d->data,
		.compute = o->compute,
		.transposed_a = o->transposed_a,
		.transposed_b = o->transposed_b,
		.epilogue = epilogue(o->epilogue),
	};
	return BLAS_SUCCESS;
}

BLAS_CALL(cublasLtMatmul, void *handle, void *operation, const void *alpha, const void *a,
	  void *a_layout, const void *b, void *b_layout, const void *beta, const void *c,
	  void *c_layout, void *d, void *d_layout, const void *algorithm, void *workspace,
	  size_t bytes, void *stream)
{
	struct blas_product p;
	int rc;

	(void)alpha, (void)a, (void)b, (void)beta, (void)c, (void)c_layout, (void)d;
	(void)algorithm, (void)workspace, (void)bytes;
	if (!handle)
		return BLAS_NOT_INITIALIZED;
	rc = lt_product(operation, a_layout, b_layout, d_layout, &p);
	return rc ? rc : blas_product_launch(&p, stream);
}

/* ---- algorithms ---- */

static struct lt_answer answer(int status)
{
	return (struct lt_answer){ .status = status, .waves = 1 };
}

BLAS_CALL(cublasLtMatmulAlgoGetHeuristic, void *handle, void *operation, void *a, void *b, void *c,
	  void *d, void *preference, int wanted, struct lt_answer *answers, int *found)
{
	struct blas_product p;
	int rc;

	(void)c, (void)preference;
	if (!handle)
		return BLAS_NOT_INITIALIZED;
	if (wanted < 1 || !answers || !found)
		return BLAS_INVALID_VALUE;
	*found = 0;
	rc = lt_product(operation, a, b, d, &p);
	if (rc)
		return rc;
	if (!blas_size(p.a) || !blas_size(p.b) || !blas_size(p.c))
		return BLAS_NOT_SUPPORTED;
	answers[0] = answer(BLAS_SUCCESS);
	*found = 1;
	return BLAS_SUCCESS;
}

BLAS_CALL(cublasLtMatmulAlgoInit, void *handle, int compute, int scale, int a, int b, int c, int d,
	  int id, struct lt_algorithm *algorithm)
{
	(void)compute, (void)scale, (void)a, (void)b, (void)c, (void)d;
	if (!handle)
		return BLAS_NOT_INITIALIZED;
	if (!algorithm)
		return BLAS_INVALID_VALUE;
	*algorithm = (struct lt_algorithm){ { (uint64_t)id } };
	return BLAS_SUCCESS;
}

BLAS_CALL(cublasLtMatmulAlgoCheck, void *handle, void *operation, void *a, void *b, void *c,
	  void *d, const struct lt_algorithm *algorithm, struct lt_answer *result)
{
	struct blas_product p;
	int rc;

	(void)c;
	if (!handle)
		return BLAS_NOT_INITIALIZED;
	if (!algorithm || !result)
		return BLAS_INVALID_VALUE;
	rc = lt_product(operation, a, b, d, &p);
	*result = answer(rc);
	return rc;
}

/* Tiles, stages, split-k: what is set is of no account, and all of it reads as 0. */
BLAS_CALL(cublasLtMatmulAlgoConfigSetAttribute, struct lt_algorithm *algorithm, int attribute,
	  const void *value, size_t size)
{
	(void)attribute, (void)size;
	return algorithm && value ? BLAS_SUCCESS : BLAS_INVALID_VALUE;
}

BLAS_CALL(cublasLtMatmulAlgoConfigGetAttribute, const struct lt_algorithm *algorithm, int attribute,
	  void *value, size_t size, size_t *written)
{
	(void)attribute;
	if (!algorithm || (!value && size))
		return BLAS_INVALID_VALUE;
	if (value)
		memset(value, 0, size);
	if (written)
		*written = size;
	return BLAS_SUCCESS;
}

/* ---- the library; its handle is cuBLAS's, and may be a plain one ---- */

BLAS_CALL(cublasLtCreate, void **handle)
{
	static int plain;

	if (!handle)
		return BLAS_INVALID_VALUE;
	if (gpusim_ready())
		return BLAS_NOT_INITIALIZED;
	*handle = &plain;
	return BLAS_SUCCESS;
}

BLAS_CALL(cublasLtDestroy, void *handle)
{
	return handle ? BLAS_SUCCESS : BLAS_NOT_INITIALIZED;
}

SIM_API size_t cublasLtGetVersion(void);
size_t cublasLtGetVersion(void)
{
	return BLAS_VERSION;
}
