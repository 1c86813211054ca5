/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handle.c - cuBLAS's handle, its modes, and what the library says of itself.
 */
#include "handle.h"

#include <stdlib.h>
#include <string.h>

#include "../driver.h"

#define MAGIC 0x626c6173
#define RESULT_BYTES 64

/* cublasMath_t; the bit is or-ed to a mode */
enum {
	MATH_TENSOR = 1,
	MATH_TF32 = 3,
	MATH_FULL_REDUCTION = 16
};

/* A program whose only library of CUDA's this is wants its memory to have content, too. */
__attribute__((constructor)) static void begin(void)
{
	gpusim_content();
}

struct blas_handle *blas_handle_get(void *handle)
{
	struct blas_handle *h = handle;

	return h && h->magic == MAGIC ? h : NULL;
}

int blas_handle_compute(const struct blas_handle *h, int data)
{
	int math = h->math & ~MATH_FULL_REDUCTION;

	switch (data) {
	case BLAS_R_64F:
	case BLAS_C_64F:
		return BLAS_COMPUTE_64F;
	case BLAS_R_16F:
		return BLAS_COMPUTE_16F;
	default:
		return math == MATH_TF32 || math == MATH_TENSOR ? BLAS_COMPUTE_32F_FAST_TF32
								: BLAS_COMPUTE_32F;
	}
}

/* ---- results for the host ---- */

static int copy_result(struct blas_handle *h, void *result, unsigned bytes)
{
	struct sim_call call;
	int rc = gpusim_runtime_begin(&call, SIM_CBID_cudaMemcpyAsync);

	if (!rc)
		rc = cuMemcpyDtoHAsync_v2(result, h->results, bytes, h->stream);
	return gpusim_runtime_end(&call, rc);
}

static int wait_for(void *stream)
{
	struct sim_call call;
	int rc = gpusim_runtime_begin(&call, SIM_CBID_cudaStreamSynchronize);

	if (!rc)
		rc = cuStreamSynchronize(stream);
	return gpusim_runtime_end(&call, rc);
}

int blas_handle_result(struct blas_handle *h, void *result, unsigned bytes)
{
	int rc = 0;

	if (h->pointer == BLAS_POINTER_DEVICE)
		return BLAS_SUCCESS;
	if (!result || bytes > RESULT_BYTES)
		return BLAS_INVALID_VALUE;
	memset(result, 0, bytes);
	if (!h->results && cuMemAlloc_v2(&h->results, RESULT_BYTES))
		return BLAS_ALLOC_FAILED;
	rc = copy_result(h, result, bytes);
	if (!rc)
		rc = wait_for(h->stream);
	return rc ? BLAS_EXECUTION_FAILED : BLAS_SUCCESS;
}

/* ---- handles ---- */

BLAS_CALL(cublasCreate_v2, void **handle)
{
	struct blas_handle *h;

	if (!handle)
		return BLAS_INVALID_VALUE;
	if (gpusim_ready())
		return BLAS_NOT_INITIALIZED;
	h = calloc(1, sizeof *h);
	if (!h)
		return BLAS_ALLOC_FAILED;
	h->magic = MAGIC;
	*handle = h;
	return BLAS_SUCCESS;
}

BLAS_CALL(cublasDestroy_v2, void *handle)
{
	struct blas_handle *h = blas_handle_get(handle);

	if (!h)
		return BLAS_NOT_INITIALIZED;
	if (h->results)
		cuMemFree_v2(h->results);
	h->magic = 0;
	free(h);
	return BLAS_SUCCESS;
}

/*
 * Setters and getters of what nobody reads but the caller, or only this file and its neighbours
 * do.
 */
#define BLAS_SET(function, type, field)                          \
	BLAS_CALL(function, void *handle, type value)            \
	{                                                        \
		struct blas_handle *h = blas_handle_get(handle); \
                                                                 \
		if (!h)                                          \
			return BLAS_NOT_INITIALIZED;             \
		h->field = value;                                \
		return BLAS_SUCCESS;                             \
	}
#define BLAS_GET(function, type, field)                                \
	BLAS_CALL(function, void *handle, type *value)                 \
	{                                                              \
		const struct blas_handle *h = blas_handle_get(handle); \
                                                                       \
		if (!h)                                                \
			return BLAS_NOT_INITIALIZED;                   \
		if (!value)                                            \
			return BLAS_INVALID_VALUE;                     \
		*value = h->field;                                     \
		return BLAS_SUCCESS;                                   \
	}

BLAS_SET(cublasSetStream_v2, void *, stream)
BLAS_GET(cublasGetStream_v2, void *, stream)
BLAS_SET(cublasSetPointerMode_v2, int, pointer)
BLAS_GET(cublasGetPointerMode_v2, int, pointer)
BLAS_SET(cublasSetAtomicsMode, int, atomics)
BLAS_GET(cublasGetAtomicsMode, int, atomics)
BLAS_SET(cublasSetMathMode, int, math)
BLAS_GET(cublasGetMathMode, int, math)
BLAS_SET(cublasSetSmCountTarget, int, processors)
BLAS_GET(cublasGetSmCountTarget, int, processors)

/* Nothing needs one. */
BLAS_CALL(cublasSetWorkspace_v2, void *handle, void *workspace, size_t bytes)
{
	(void)workspace;
	(void)bytes;
	return blas_handle_get(handle) ? BLAS_SUCCESS : BLAS_NOT_INITIALIZED;
}

/* ---- the library ---- */

BLAS_CALL(cublasGetVersion_v2, void *handle, int *version)
{
	(void)handle;
	if (!version)
		return BLAS_INVALID_VALUE;
	*version = BLAS_VERSION;
	return BLAS_SUCCESS;
}

/* Major, minor, patch level. */
BLAS_CALL(cublasGetProperty, int property, int *value)
{
	static const int values[] = { BLAS_VERSION / 10000, BLAS_VERSION / 100 % 100,
				      BLAS_VERSION % 100 };

	if (property < 0 || property > 2 || !value)
		return BLAS_INVALID_VALUE;
	*value = values[property];
	return BLAS_SUCCESS;
}

static const struct {
	int status;
	const char *name, *text;
} statuses[] = {
	{ 0, "CUBLAS_STATUS_SUCCESS", "success" },
	{ 1, "CUBLAS_STATUS_NOT_INITIALIZED", "not initialized" },
	{ 3, "CUBLAS_STATUS_ALLOC_FAILED", "no memory" },
	{ 7, "CUBLAS_STATUS_INVALID_VALUE", "invalid value" },
	{ 8, "CUBLAS_STATUS_ARCH_MISMATCH", "the device lacks it" },
	{ 11, "CUBLAS_STATUS_MAPPING_ERROR", "memory cannot be mapped" },
	{ 13, "CUBLAS_STATUS_EXECUTION_FAILED", "the kernel could not be launched" },
	{ 14, "CUBLAS_STATUS_INTERNAL_ERROR", "internal error" },
	{ 15, "CUBLAS_STATUS_NOT_SUPPORTED", "not supported by the simulated GPU's stand-in" },
	{ 16, "CUBLAS_STATUS_LICENSE_ERROR", "license" },
};

SIM_API const char *cublasGetStatusName(int status);
const char *cublasGetStatusName(int status)
{
	size_t i;

	for (i = 0; i < sizeof statuses / sizeof *statuses; i++)
		if (statuses[i].status == status)
			return statuses[i].name;
	return "unknown";
}

SIM_API const char *cublasGetStatusString(int status);
const char *cublasGetStatusString(int status)
{
	size_t i;

	for (i = 0; i < sizeof statuses / sizeof *statuses; i++)
		if (statuses[i].status == status)
			return statuses[i].text;
	return "unknown";
}
