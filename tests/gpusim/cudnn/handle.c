/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handle.c - handles and versions.
 */
#include "handle.h"

#include <stdlib.h>

#include "../standin.h"

/* A program whose only library of CUDA's this is wants its memory to have content, too. */
__attribute__((constructor)) static void begin(void)
{
	gpusim_content();
}

enum dnn_status cudnnCreate(struct dnn_handle **handle)
{
	enum dnn_status status;

	if (!handle)
		return dnn_fail(DNN_BAD_PARAM_NULL_POINTER, "cudnnCreate: no handle");
	status = dnn_driver(gpusim_ready());
	if (status)
		return status;
	*handle = calloc(1, sizeof **handle);
	if (!*handle)
		return dnn_fail(DNN_INTERNAL_ERROR_HOST_ALLOCATION_FAILED,
				"cudnnCreate: no memory");
	return DNN_SUCCESS;
}

enum dnn_status cudnnDestroy(struct dnn_handle *handle)
{
	free(handle);
	return DNN_SUCCESS;
}

enum dnn_status cudnnSetStream(struct dnn_handle *handle, void *stream)
{
	if (!handle)
		return dnn_fail(DNN_BAD_PARAM_NULL_POINTER, "cudnnSetStream: no handle");
	handle->stream = stream;
	return DNN_SUCCESS;
}

enum dnn_status cudnnGetStream(struct dnn_handle *handle, void **stream)
{
	if (!handle || !stream)
		return dnn_fail(DNN_BAD_PARAM_NULL_POINTER, "cudnnGetStream: no handle or stream");
	*stream = handle->stream;
	return DNN_SUCCESS;
}

size_t cudnnGetVersion(void)
{
	return DNN_VERSION;
}

size_t cudnnGetCudartVersion(void)
{
	return DNN_CUDART_VERSION;
}

/* libraryPropertyType: 0 major, 1 minor, 2 patch. */
enum dnn_status cudnnGetProperty(int property, int *value)
{
	static const int version[] = { DNN_MAJOR, DNN_MINOR, DNN_PATCH };

	if (!value || property < 0 || property > 2)
		return dnn_fail(DNN_BAD_PARAM, "cudnnGetProperty: no such property");
	*value = version[property];
	return DNN_SUCCESS;
}
