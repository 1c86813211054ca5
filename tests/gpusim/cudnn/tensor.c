/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor.c - descriptors of the older calls. They hold what is read back or what a length needs.
 */
#include "tensor.h"

#include <stdlib.h>
#include <string.h>

DNN_LIFE(Tensor, dnn_tensor)
DNN_LIFE(Filter, dnn_filter)
DNN_LIFE(Convolution, dnn_convolution)
DNN_LIFE(Activation, dnn_activation)

static bool good_dims(const void *descriptor, int n, const int *dims)
{
	return descriptor && dims && n > 0 && n <= DNN_DIMS;
}

static int least(int a, int b)
{
	return a < b ? a : b;
}

/* ---- tensors ---- */

enum dnn_status cudnnSetTensorNdDescriptor(struct dnn_tensor *tensor, enum dnn_data data, int n,
					   const int *dims, const int *strides)
{
	if (!good_dims(tensor, n, dims) || !strides)
		return dnn_fail(DNN_BAD_PARAM, "a tensor of %d dimensions", n);
	tensor->data = data;
	tensor->n = n;
	memcpy(tensor->dims, dims, (size_t)n * sizeof *dims);
	memcpy(tensor->strides, strides, (size_t)n * sizeof *strides);
	return DNN_SUCCESS;
}

enum dnn_status cudnnGetTensorNdDescriptor(const struct dnn_tensor *tensor, int asked,
					   enum dnn_data *data, int *n, int *dims, int *strides)
{
	if (!tensor || !data || !n || asked < 0 || !dims || !strides)
		return dnn_fail(DNN_BAD_PARAM, "no tensor, or nowhere to put its dimensions");
	*data = tensor->data;
	*n = tensor->n;
	memcpy(dims, tensor->dims, (size_t)least(asked, tensor->n) * sizeof *dims);
	memcpy(strides, tensor->strides, (size_t)least(asked, tensor->n) * sizeof *strides);
	return DNN_SUCCESS;
}

double dnn_tensor_elements(const struct dnn_tensor *tensor)
{
	double all = 1;
	int i;

	for (i = 0; i < tensor->n; i++)
		all *= tensor->dims[i];
	return all;
}

bool dnn_tensor_channels_last(const struct dnn_tensor *tensor)
{
	return tensor->n > 2 && tensor->strides[1] == 1;
}

/* ---- filters ---- */

enum dnn_status cudnnSetFilterNdDescriptor(struct dnn_filter *filter, enum dnn_data data,
					   int format, int n, const int *dims)
{
	if (!good_dims(filter, n, dims))
		return dnn_fail(DNN_BAD_PARAM, "a filter of %d dimensions", n);
	filter->data = data;
	filter->format = format;
	filter->n = n;
	memcpy(filter->dims, dims, (size_t)n * sizeof *dims);
	return DNN_SUCCESS;
}

enum dnn_status cudnnGetFilterNdDescriptor(const struct dnn_filter *filter, int asked,
					   enum dnn_data *data, int *format, int *n, int *dims)
{
	if (!filter || !data || !format || !n || asked < 0 || !dims)
		return dnn_fail(DNN_BAD_PARAM, "no filter, or nowhere to put its dimensions");
	*data = filter->data;
	*format = filter->format;
	*n = filter->n;
	memcpy(dims, filter->dims, (size_t)least(asked, filter->n) * sizeof *dims);
	return DNN_SUCCESS;
}

double dnn_filter_elements(const struct dnn_filter *filter, int from)
{
	double all = 1;
	int i;

	for (i = from; i < filter->n; i++)
		all *= filter->dims[i];
	return all;
}

/* ---- convolutions and activations ---- */

/* The filter and the result already say how much work it is. */
enum dnn_status cudnnSetConvolutionNdDescriptor(struct dnn_convolution *convolution, int n,
						const int *pads, const int *strides,
						const int *dilations, int mode,
						enum dnn_data compute)
{
	(void)mode;
	(void)compute;
	if (!good_dims(convolution, n, pads) || !strides || !dilations)
		return dnn_fail(DNN_BAD_PARAM, "a convolution of %d dimensions", n);
	convolution->groups = 1;
	return DNN_SUCCESS;
}

enum dnn_status cudnnSetConvolutionGroupCount(struct dnn_convolution *convolution, int groups)
{
	if (!convolution || groups < 1)
		return dnn_fail(DNN_BAD_PARAM, "a convolution of %d groups", groups);
	convolution->groups = groups;
	return DNN_SUCCESS;
}

enum dnn_status cudnnSetConvolutionMathType(struct dnn_convolution *convolution, enum dnn_math math)
{
	if (!convolution)
		return dnn_fail(DNN_BAD_PARAM, "no convolution");
	convolution->math = math;
	return DNN_SUCCESS;
}

enum dnn_status cudnnSetActivationDescriptor(struct dnn_activation *activation, int mode, int nan,
					     double coefficient)
{
	(void)nan;
	(void)coefficient;
	if (!activation)
		return dnn_fail(DNN_BAD_PARAM, "no activation");
	activation->mode = mode;
	return DNN_SUCCESS;
}
