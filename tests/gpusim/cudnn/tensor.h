/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor.h - descriptors of cuDNN's older calls: tensors, filters, convolutions, activations.
 */
#ifndef DNN_TENSOR_H
#define DNN_TENSOR_H

#include <stdbool.h>
#include <stdlib.h>

#include "status.h"

#define DNN_DIMS 8

/* cudnnCreate<Name>Descriptor and cudnnDestroy<Name>Descriptor of a struct. */
#define DNN_LIFE(Name, type)                                                                      \
	enum dnn_status cudnnCreate##Name##Descriptor(struct type **made)                         \
	{                                                                                         \
		if (!made)                                                                        \
			return dnn_fail(DNN_BAD_PARAM_NULL_POINTER, "no place for a descriptor"); \
		*made = calloc(1, sizeof **made);                                                 \
		return *made ? DNN_SUCCESS                                                        \
			     : dnn_fail(DNN_INTERNAL_ERROR_HOST_ALLOCATION_FAILED,                \
					"no memory for a descriptor");                            \
	}                                                                                         \
                                                                                                  \
	enum dnn_status cudnnDestroy##Name##Descriptor(struct type *gone)                         \
	{                                                                                         \
		free(gone);                                                                       \
		return DNN_SUCCESS;                                                               \
	}

struct dnn_tensor {
	enum dnn_data data;
	int n, dims[DNN_DIMS], strides[DNN_DIMS];
};

struct dnn_filter { /* k, c / groups, r, s: whatever the layout */
	enum dnn_data data;
	int format, n, dims[DNN_DIMS];
};

struct dnn_convolution {
	int groups;
	enum dnn_math math;
};

struct dnn_activation {
	int mode;
};

/* Elements from a dimension on. */
double dnn_tensor_elements(const struct dnn_tensor *tensor);
double dnn_filter_elements(const struct dnn_filter *filter, int from);

/* Channels lie next to each other. */
bool dnn_tensor_channels_last(const struct dnn_tensor *tensor);

SIM_API enum dnn_status cudnnCreateTensorDescriptor(struct dnn_tensor **tensor);
SIM_API enum dnn_status cudnnDestroyTensorDescriptor(struct dnn_tensor *tensor);
SIM_API enum dnn_status cudnnSetTensorNdDescriptor(struct dnn_tensor *tensor, enum dnn_data data,
						   int n, const int *dims, const int *strides);
SIM_API enum dnn_status cudnnGetTensorNdDescriptor(const struct dnn_tensor *tensor, int asked,
						   enum dnn_data *data, int *n, int *dims,
						   int *strides);
SIM_API enum dnn_status cudnnCreateFilterDescriptor(struct dnn_filter **filter);
SIM_API enum dnn_status cudnnDestroyFilterDescriptor(struct dnn_filter *filter);
SIM_API enum dnn_status cudnnSetFilterNdDescriptor(struct dnn_filter *filter, enum dnn_data data,
						   int format, int n, const int *dims);
SIM_API enum dnn_status cudnnGetFilterNdDescriptor(const struct dnn_filter *filter, int asked,
						   enum dnn_data *data, int *format, int *n,
						   int *dims);
SIM_API enum dnn_status cudnnCreateConvolutionDescriptor(struct dnn_convolution **convolution);
SIM_API enum dnn_status cudnnDestroyConvolutionDescriptor(struct dnn_convolution *convolution);
SIM_API enum dnn_status cudnnSetConvolutionNdDescriptor(struct dnn_convolution *convolution, int n,
							const int *pads, const int *strides,
							const int *dilations, int mode,
							enum dnn_data compute);
SIM_API enum dnn_status cudnnSetConvolutionGroupCount(struct dnn_convolution *convolution,
						      int groups);
SIM_API enum dnn_status cudnnSetConvolutionMathType(struct dnn_convolution *convolution,
						    enum dnn_math math);
SIM_API enum dnn_status cudnnCreateActivationDescriptor(struct dnn_activation **activation);
SIM_API enum dnn_status cudnnDestroyActivationDescriptor(struct dnn_activation *activation);
SIM_API enum dnn_status cudnnSetActivationDescriptor(struct dnn_activation *activation, int mode,
						     int nan, double coefficient);

#endif
