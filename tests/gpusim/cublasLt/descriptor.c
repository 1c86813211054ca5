/* SPDX-License-Identifier: Apache-2.0 */
/*
 * descriptor.c - descriptors of operations, layouts and preferences: made, filled in, freed.
 */
#include <stdlib.h>
#include <string.h>

#include "lt.h"

/* An attribute that is kept: where, and how large. */
struct field {
	size_t offset, size;
};

#define FIELD(type, member)                                                     \
	{                                                                       \
		offsetof(struct type, member), sizeof((struct type *)0)->member \
	}

static const struct field of_operation[] = {
	[LT_COMPUTE] = FIELD(lt_operation, compute),
	[LT_SCALE] = FIELD(lt_operation, scale),
	[LT_TRANSPOSED_A] = FIELD(lt_operation, transposed_a),
	[LT_TRANSPOSED_B] = FIELD(lt_operation, transposed_b),
	[LT_EPILOGUE] = FIELD(lt_operation, epilogue),
};

static const struct field of_layout[] = {
	[LT_DATA] = FIELD(lt_layout, data),	  [LT_ORDER] = FIELD(lt_layout, order),
	[LT_ROWS] = FIELD(lt_layout, rows),	  [LT_COLUMNS] = FIELD(lt_layout, columns),
	[LT_LEADING] = FIELD(lt_layout, leading), [LT_BATCH] = FIELD(lt_layout, batch),
	[LT_STRIDE] = FIELD(lt_layout, stride),
};

static int set(void *descriptor, const struct field *fields, size_t count, int attribute,
	       const void *value, size_t size)
{
	const struct field *f = fields + attribute;

	if (!descriptor || !value || attribute < 0)
		return BLAS_INVALID_VALUE;
	if ((size_t)attribute >= count || !f->size)
		return BLAS_SUCCESS;
	if (size != f->size)
		return BLAS_INVALID_VALUE;
	memcpy((char *)descriptor + f->offset, value, size);
	return BLAS_SUCCESS;
}

/* A copy of `like` for the caller. */
static int create(void **descriptor, const void *like, size_t size)
{
	if (!descriptor)
		return BLAS_INVALID_VALUE;
	*descriptor = malloc(size);
	if (!*descriptor)
		return BLAS_ALLOC_FAILED;
	memcpy(*descriptor, like, size);
	return BLAS_SUCCESS;
}

static int destroy(void *descriptor)
{
	free(descriptor);
	return BLAS_SUCCESS;
}

/* ---- operations ---- */

BLAS_CALL(cublasLtMatmulDescCreate, void **operation, int compute, int scale)
{
	struct lt_operation o = { .compute = compute,
				  .scale = scale,
				  .epilogue = LT_EPILOGUE_NONE };

	return create(operation, &o, sizeof o);
}

BLAS_CALL(cublasLtMatmulDescSetAttribute, void *operation, int attribute, const void *value,
	  size_t size)
{
	return set(operation, of_operation, sizeof of_operation / sizeof *of_operation, attribute,
		   value, size);
}

BLAS_CALL(cublasLtMatmulDescDestroy, void *operation)
{
	return destroy(operation);
}

/* ---- layouts ---- */

BLAS_CALL(cublasLtMatrixLayoutCreate, void **layout, int data, uint64_t rows, uint64_t columns,
	  int64_t leading)
{
	struct lt_layout l = {
		.data = data, .rows = rows, .columns = columns, .leading = leading, .batch = 1
	};

	return create(layout, &l, sizeof l);
}

BLAS_CALL(cublasLtMatrixLayoutSetAttribute, void *layout, int attribute, const void *value,
	  size_t size)
{
	return set(layout, of_layout, sizeof of_layout / sizeof *of_layout, attribute, value, size);
}

BLAS_CALL(cublasLtMatrixLayoutDestroy, void *layout)
{
	return destroy(layout);
}

/* ---- preferences: there is nothing to prefer ---- */

BLAS_CALL(cublasLtMatmulPreferenceCreate, void **preference)
{
	return create(preference, "", 1);
}

BLAS_CALL(cublasLtMatmulPreferenceSetAttribute, void *preference, int attribute, const void *value,
	  size_t size)
{
	return set(preference, NULL, 0, attribute, value, size);
}

BLAS_CALL(cublasLtMatmulPreferenceDestroy, void *preference)
{
	return destroy(preference);
}
