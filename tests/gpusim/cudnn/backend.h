/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend.h - cuDNN's graph API: six calls. Every operation graph is supported, by one engine that
 * needs no workspace and has no knobs; graphs that multiply matrices of float have a second one,
 * listed first, that rounds to TF32 for the tensor cores and says so in a numerical note.
 */
#ifndef DNN_BACKEND_H
#define DNN_BACKEND_H

#include "bag.h"

SIM_API enum dnn_status cudnnBackendCreateDescriptor(int kind, struct dnn_descriptor **descriptor);
SIM_API enum dnn_status cudnnBackendDestroyDescriptor(struct dnn_descriptor *descriptor);
SIM_API enum dnn_status cudnnBackendSetAttribute(struct dnn_descriptor *descriptor, int name,
						 int type, int64_t n, const void *values);
SIM_API enum dnn_status cudnnBackendGetAttribute(struct dnn_descriptor *descriptor, int name,
						 int type, int64_t asked, int64_t *n, void *values);
SIM_API enum dnn_status cudnnBackendFinalize(struct dnn_descriptor *descriptor);
SIM_API enum dnn_status cudnnBackendExecute(struct dnn_handle *handle, struct dnn_descriptor *plan,
					    struct dnn_descriptor *pack);

#endif
