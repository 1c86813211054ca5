/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handle.h - cuDNN's handle: the stream that its work goes to. A handle belongs to one thread at a
 * time, as with cuDNN.
 */
#ifndef DNN_HANDLE_H
#define DNN_HANDLE_H

#include "status.h"

struct dnn_handle {
	void *stream;
};

SIM_API enum dnn_status cudnnCreate(struct dnn_handle **handle);
SIM_API enum dnn_status cudnnDestroy(struct dnn_handle *handle);
SIM_API enum dnn_status cudnnSetStream(struct dnn_handle *handle, void *stream);
SIM_API enum dnn_status cudnnGetStream(struct dnn_handle *handle, void **stream);
SIM_API size_t cudnnGetVersion(void);
SIM_API size_t cudnnGetCudartVersion(void);
SIM_API enum dnn_status cudnnGetProperty(int property, int *value);

#endif
