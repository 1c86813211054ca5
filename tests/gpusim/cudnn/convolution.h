/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convolution.h - convolutions by the older calls, which torch takes with
 * TORCH_CUDNN_V8_API_DISABLED=1: one kernel each, the same as by the graph API. One algorithm per
 * direction, number 1, without a workspace.
 */
#ifndef DNN_CONVOLUTION_H
#define DNN_CONVOLUTION_H

#include <stddef.h>

#include "handle.h"
#include "tensor.h"

SIM_API enum dnn_status cudnnGetConvolutionForwardWorkspaceSize(
	struct dnn_handle *handle, const struct dnn_tensor *x, const struct dnn_filter *w,
	const struct dnn_convolution *convolution, const struct dnn_tensor *y, int algorithm,
	size_t *bytes);
SIM_API enum dnn_status cudnnGetConvolutionBackwardDataWorkspaceSize(
	struct dnn_handle *handle, const struct dnn_filter *w, const struct dnn_tensor *dy,
	const struct dnn_convolution *convolution, const struct dnn_tensor *dx, int algorithm,
	size_t *bytes);
SIM_API enum dnn_status cudnnGetConvolutionBackwardFilterWorkspaceSize(
	struct dnn_handle *handle, const struct dnn_tensor *x, const struct dnn_tensor *dy,
	const struct dnn_convolution *convolution, const struct dnn_filter *dw, int algorithm,
	size_t *bytes);

SIM_API enum dnn_status cudnnGetConvolutionForwardAlgorithm_v7(
	struct dnn_handle *handle, const struct dnn_tensor *x, const struct dnn_filter *w,
	const struct dnn_convolution *convolution, const struct dnn_tensor *y, int asked, int *n,
	struct dnn_perf *perf);
SIM_API enum dnn_status cudnnGetConvolutionBackwardDataAlgorithm_v7(
	struct dnn_handle *handle, const struct dnn_filter *w, const struct dnn_tensor *dy,
	const struct dnn_convolution *convolution, const struct dnn_tensor *dx, int asked, int *n,
	struct dnn_perf *perf);
SIM_API enum dnn_status cudnnGetConvolutionBackwardFilterAlgorithm_v7(
	struct dnn_handle *handle, const struct dnn_tensor *x, const struct dnn_tensor *dy,
	const struct dnn_convolution *convolution, const struct dnn_filter *dw, int asked, int *n,
	struct dnn_perf *perf);

SIM_API enum dnn_status cudnnFindConvolutionForwardAlgorithmEx(
	struct dnn_handle *handle, const struct dnn_tensor *x, const void *x_data,
	const struct dnn_filter *w, const void *w_data, const struct dnn_convolution *convolution,
	const struct dnn_tensor *y, void *y_data, int asked, int *n, struct dnn_perf *perf,
	void *workspace, size_t bytes);
SIM_API enum dnn_status cudnnFindConvolutionBackwardDataAlgorithmEx(
	struct dnn_handle *handle, const struct dnn_filter *w, const void *w_data,
	const struct dnn_tensor *dy, const void *dy_data, const struct dnn_convolution *convolution,
	const struct dnn_tensor *dx, void *dx_data, int asked, int *n, struct dnn_perf *perf,
	void *workspace, size_t bytes);
SIM_API enum dnn_status cudnnFindConvolutionBackwardFilterAlgorithmEx(
	struct dnn_handle *handle, const struct dnn_tensor *x, const void *x_data,
	const struct dnn_tensor *dy, const void *dy_data, const struct dnn_convolution *convolution,
	const struct dnn_filter *dw, void *dw_data, int asked, int *n, struct dnn_perf *perf,
	void *workspace, size_t bytes);

SIM_API enum dnn_status cudnnConvolutionForward(struct dnn_handle *handle, const void *alpha,
						const struct dnn_tensor *x, const void *x_data,
						const struct dnn_filter *w, const void *w_data,
						const struct dnn_convolution *convolution,
						int algorithm, void *workspace, size_t bytes,
						const void *beta, const struct dnn_tensor *y,
						void *y_data);
SIM_API enum dnn_status cudnnConvolutionBackwardData(
	struct dnn_handle *handle, const void *alpha, const struct dnn_filter *w,
	const void *w_data, const struct dnn_tensor *dy, const void *dy_data,
	const struct dnn_convolution *convolution, int algorithm, void *workspace, size_t bytes,
	const void *beta, const struct dnn_tensor *dx, void *dx_data);
SIM_API enum dnn_status cudnnConvolutionBackwardFilter(
	struct dnn_handle *handle, const void *alpha, const struct dnn_tensor *x,
	const void *x_data, const struct dnn_tensor *dy, const void *dy_data,
	const struct dnn_convolution *convolution, int algorithm, void *workspace, size_t bytes,
	const void *beta, const struct dnn_filter *dw, void *dw_data);
SIM_API enum dnn_status cudnnConvolutionBiasActivationForward(
	struct dnn_handle *handle, const void *alpha, const struct dnn_tensor *x,
	const void *x_data, const struct dnn_filter *w, const void *w_data,
	const struct dnn_convolution *convolution, int algorithm, void *workspace, size_t bytes,
	const void *alpha_z, const struct dnn_tensor *z, const void *z_data,
	const struct dnn_tensor *bias, const void *bias_data,
	const struct dnn_activation *activation, const struct dnn_tensor *y, void *y_data);

#endif
