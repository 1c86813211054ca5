/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batchnorm.h - batch norm, one kernel per call, as long as its tensors take to be read and written
 * once. No workspace, no reserved space.
 */
#ifndef DNN_BATCHNORM_H
#define DNN_BATCHNORM_H

#include <stddef.h>

#include "handle.h"
#include "tensor.h"

SIM_API enum dnn_status cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(
	struct dnn_handle *handle, int mode, int ops, const struct dnn_tensor *x,
	const struct dnn_tensor *z, const struct dnn_tensor *y, const struct dnn_tensor *scale,
	const struct dnn_activation *activation, size_t *bytes);
SIM_API enum dnn_status cudnnGetBatchNormalizationBackwardExWorkspaceSize(
	struct dnn_handle *handle, int mode, int ops, const struct dnn_tensor *x,
	const struct dnn_tensor *y, const struct dnn_tensor *dy, const struct dnn_tensor *dz,
	const struct dnn_tensor *dx, const struct dnn_tensor *scale,
	const struct dnn_activation *activation, size_t *bytes);
SIM_API enum dnn_status cudnnGetBatchNormalizationTrainingExReserveSpaceSize(
	struct dnn_handle *handle, int mode, int ops, const struct dnn_activation *activation,
	const struct dnn_tensor *x, size_t *bytes);
SIM_API enum dnn_status cudnnBatchNormalizationForwardTrainingEx(
	struct dnn_handle *handle, int mode, int ops, const void *alpha, const void *beta,
	const struct dnn_tensor *x, const void *x_data, const struct dnn_tensor *z,
	const void *z_data, const struct dnn_tensor *y, void *y_data,
	const struct dnn_tensor *scale, const void *scale_data, const void *bias_data,
	double average_factor, void *running_mean, void *running_variance, double epsilon,
	void *saved_mean, void *saved_variance, const struct dnn_activation *activation,
	void *workspace, size_t workspace_bytes, void *reserve, size_t reserve_bytes);
SIM_API enum dnn_status cudnnBatchNormalizationBackwardEx(
	struct dnn_handle *handle, int mode, int ops, const void *alpha, const void *beta,
	const void *alpha_parameters, const void *beta_parameters, const struct dnn_tensor *x,
	const void *x_data, const struct dnn_tensor *y, const void *y_data,
	const struct dnn_tensor *dy, const void *dy_data, const struct dnn_tensor *dz,
	void *dz_data, const struct dnn_tensor *dx, void *dx_data, const struct dnn_tensor *scale,
	const void *scale_data, const void *bias_data, void *dscale_data, void *dbias_data,
	double epsilon, const void *saved_mean, const void *saved_variance,
	const struct dnn_activation *activation, void *workspace, size_t workspace_bytes,
	void *reserve, size_t reserve_bytes);
SIM_API enum dnn_status cudnnBatchNormalizationForwardInference(
	struct dnn_handle *handle, int mode, const void *alpha, const void *beta,
	const struct dnn_tensor *x, const void *x_data, const struct dnn_tensor *y, void *y_data,
	const struct dnn_tensor *scale, const void *scale_data, const void *bias_data,
	const void *mean, const void *variance, double epsilon);

#endif
