/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batchnorm.c - batch norm. What a call is given besides its tensors' shapes only says what it
 * would compute.
 */
#include "batchnorm.h"

#include <stdio.h>

#include "work.h"

enum which {
	FORWARD,
	BACKWARD,
	INFERENCE
};

/* Mangled, as C++ kernels of a library come: cudnn::<name>(). */
static void name_kernel(struct dnn_work *work, enum which which, bool channels_last)
{
	static const char *const names[][2] = {
		{ "bn_fw_tr_1C11_kernel_NCHW_simulated", "bn_fw_tr_nhwc_semiPersist_simulated" },
		{ "bn_bw_1C11_kernel_new_simulated", "bn_bw_nhwc_semiPersist_simulated" },
		{ "bn_fw_inf_1C11_kernel_NCHW_simulated", "bn_fw_inf_nhwc_kernel_simulated" },
	};
	const char *name = names[which][channels_last];

	snprintf(work->name, sizeof work->name, "_ZN5cudnn%zu%sEv", __builtin_strlen(name), name);
}

/* As many of x's size as are read or written. */
static enum dnn_status norm(struct dnn_handle *handle, enum which which, const struct dnn_tensor *x,
			    int tensors)
{
	struct dnn_work work = { .flops = 0 };

	if (!handle || !x)
		return dnn_fail(DNN_BAD_PARAM_NULL_POINTER,
				"batch norm without a handle or tensor");
	name_kernel(&work, which, dnn_tensor_channels_last(x));
	work.outputs = dnn_tensor_elements(x);
	work.bytes = tensors * work.outputs * dnn_data_bytes(x->data);
	work.type = GPUSIM_F32;
	return dnn_work_launch(handle, &work);
}

static enum dnn_status no_bytes(size_t *bytes)
{
	if (!bytes)
		return dnn_fail(DNN_BAD_PARAM_NULL_POINTER, "no place for a size");
	*bytes = 0;
	return DNN_SUCCESS;
}

enum dnn_status cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(
	struct dnn_handle *handle, int mode, int ops, const struct dnn_tensor *x,
	const struct dnn_tensor *z, const struct dnn_tensor *y, const struct dnn_tensor *scale,
	const struct dnn_activation *activation, size_t *bytes)
{
	(void)handle, (void)mode, (void)ops, (void)x, (void)z, (void)y, (void)scale;
	(void)activation;
	return no_bytes(bytes);
}

enum dnn_status cudnnGetBatchNormalizationBackwardExWorkspaceSize(
	struct dnn_handle *handle, int mode, int ops, const struct dnn_tensor *x,
	const struct dnn_tensor *y, const struct dnn_tensor *dy, const struct dnn_tensor *dz,
	const struct dnn_tensor *dx, const struct dnn_tensor *scale,
	const struct dnn_activation *activation, size_t *bytes)
{
	(void)handle, (void)mode, (void)ops, (void)x, (void)y, (void)dy, (void)dz, (void)dx;
	(void)scale, (void)activation;
	return no_bytes(bytes);
}

enum dnn_status cudnnGetBatchNormalizationTrainingExReserveSpaceSize(
	struct dnn_handle *handle, int mode, int ops, const struct dnn_activation *activation,
	const struct dnn_tensor *x, size_t *bytes)
{
	(void)handle, (void)mode, (void)ops, (void)activation, (void)x;
	return no_bytes(bytes);
}

enum dnn_status cudnnBatchNormalizationForwardTrainingEx(
	struct dnn_handle *handle, int mode, int ops, const void *alpha, const void *beta,
	const struct dnn_tensor *x, const void *x_data, const struct dnn_tensor *z,
	const void *z_data, const struct dnn_tensor *y, void *y_data,
	const struct dnn_tensor *scale, const void *scale_data, const void *bias_data,
	double average_factor, void *running_mean, void *running_variance, double epsilon,
	void *saved_mean, void *saved_variance, const struct dnn_activation *activation,
	void *workspace, size_t workspace_bytes, void *reserve, size_t reserve_bytes)
{
	(void)mode, (void)ops, (void)alpha, (void)beta, (void)x_data, (void)z_data, (void)y;
	(void)y_data, (void)scale, (void)scale_data, (void)bias_data, (void)average_factor;
	(void)running_mean, (void)running_variance, (void)epsilon, (void)saved_mean;
	(void)saved_variance, (void)activation, (void)workspace, (void)workspace_bytes;
	(void)reserve, (void)reserve_bytes;
	return norm(handle, FORWARD, x, z ? 3 : 2);
}

enum dnn_status cudnnBatchNormalizationBackwardEx(
	struct dnn_handle *handle, int mode, int ops, const void *alpha, const void *beta,
	const void *alpha_parameters, const void *beta_parameters, const struct dnn_tensor *x,
	const void *x_data, const struct dnn_tensor *y, const void *y_data,
	const struct dnn_tensor *dy, const void *dy_data, const struct dnn_tensor *dz,
	void *dz_data, const struct dnn_tensor *dx, void *dx_data, const struct dnn_tensor *scale,
	const void *scale_data, const void *bias_data, void *dscale_data, void *dbias_data,
	double epsilon, const void *saved_mean, const void *saved_variance,
	const struct dnn_activation *activation, void *workspace, size_t workspace_bytes,
	void *reserve, size_t reserve_bytes)
{
	(void)mode, (void)ops, (void)alpha, (void)beta, (void)alpha_parameters;
	(void)beta_parameters, (void)x_data, (void)y, (void)y_data, (void)dy, (void)dy_data;
	(void)dz_data, (void)dx, (void)dx_data, (void)scale, (void)scale_data, (void)bias_data;
	(void)dscale_data, (void)dbias_data, (void)epsilon, (void)saved_mean;
	(void)saved_variance, (void)activation, (void)workspace, (void)workspace_bytes;
	(void)reserve, (void)reserve_bytes;
	return norm(handle, BACKWARD, x, dz ? 4 : 3);
}

enum dnn_status cudnnBatchNormalizationForwardInference(
	struct dnn_handle *handle, int mode, const void *alpha, const void *beta,
	const struct dnn_tensor *x, const void *x_data, const struct dnn_tensor *y, void *y_data,
	const struct dnn_tensor *scale, const void *scale_data, const void *bias_data,
	const void *mean, const void *variance, double epsilon)
{
	(void)mode, (void)alpha, (void)beta, (void)x_data, (void)y, (void)y_data, (void)scale;
	(void)scale_data, (void)bias_data, (void)mean, (void)variance, (void)epsilon;
	return norm(handle, INFERENCE, x, 2);
}
