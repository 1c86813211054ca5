/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy.c - vectors and matrices to the device and back: rectangles of the driver's.
 */
#include "../driver.h"
#include "handle.h"

enum {
	HOST = 1,
	DEVICE = 2
}; /* CUmemorytype */

static int copy(const struct sim_copy_2d *rectangle, void *stream)
{
	struct sim_call call;
	int rc;

	if (!rectangle->width || !rectangle->height)
		return BLAS_SUCCESS;
	if (gpusim_ready())
		return BLAS_NOT_INITIALIZED;
	rc = gpusim_runtime_begin(&call, SIM_CBID_cudaMemcpy2DAsync);
	if (!rc)
		rc = cuMemcpy2DAsync_v2(rectangle, stream);
	return gpusim_runtime_end(&call, rc) ? BLAS_EXECUTION_FAILED : BLAS_SUCCESS;
}

static int set(int64_t width, int64_t height, const void *from, int64_t pitch, void *to,
	       int64_t to_pitch, void *stream)
{
	if (width < 0 || height < 0 || pitch <= 0 || to_pitch <= 0)
		return BLAS_INVALID_VALUE;
	return copy(
		&(struct sim_copy_2d){
			.src_type = HOST,
			.src_host = from,
			.src_pitch = (size_t)pitch,
			.dst_type = DEVICE,
			.dst_device = (uintptr_t)to,
			.dst_pitch = (size_t)to_pitch,
			.width = (size_t)width,
			.height = (size_t)height,
		},
		stream);
}

static int get(int64_t width, int64_t height, const void *from, int64_t pitch, void *to,
	       int64_t to_pitch, void *stream)
{
	if (width < 0 || height < 0 || pitch <= 0 || to_pitch <= 0)
		return BLAS_INVALID_VALUE;
	return copy(
		&(struct sim_copy_2d){
			.src_type = DEVICE,
			.src_device = (uintptr_t)from,
			.src_pitch = (size_t)pitch,
			.dst_type = HOST,
			.dst_host = to,
			.dst_pitch = (size_t)to_pitch,
			.width = (size_t)width,
			.height = (size_t)height,
		},
		stream);
}

/* A matrix is columns of `rows` elements, a leading dimension apart. */
BLAS_CALL(cublasSetMatrixAsync, int rows, int columns, int size, const void *a, int lda, void *b,
	  int ldb, void *stream)
{
	return set((int64_t)rows * size, columns, a, (int64_t)lda * size, b, (int64_t)ldb * size,
		   stream);
}

BLAS_CALL(cublasGetMatrixAsync, int rows, int columns, int size, const void *a, int lda, void *b,
	  int ldb, void *stream)
{
	return get((int64_t)rows * size, columns, a, (int64_t)lda * size, b, (int64_t)ldb * size,
		   stream);
}

/* A vector is a matrix with one row. */
BLAS_CALL(cublasSetVectorAsync, int n, int size, const void *x, int incx, void *y, int incy,
	  void *stream)
{
	return set(size, n, x, (int64_t)incx * size, y, (int64_t)incy * size, stream);
}

BLAS_CALL(cublasGetVectorAsync, int n, int size, const void *x, int incx, void *y, int incy,
	  void *stream)
{
	return get(size, n, x, (int64_t)incx * size, y, (int64_t)incy * size, stream);
}
