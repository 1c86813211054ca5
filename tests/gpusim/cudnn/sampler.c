/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler.c - the spatial transformer.
 */
#include "sampler.h"

#include <stdio.h>

#include "work.h"

DNN_LIFE(SpatialTransformer, dnn_sampler)

static enum dnn_status no_descriptor(void)
{
	return dnn_fail(DNN_BAD_PARAM_NULL_POINTER, "a spatial transformer without a descriptor");
}

/* dims: n, c, h, w of the result. */
enum dnn_status cudnnSetSpatialTransformerNdDescriptor(struct dnn_sampler *sampler, int kind,
						       enum dnn_data data, int n, const int *dims)
{
	int i;

	(void)kind;
	if (!sampler || !dims)
		return no_descriptor();
	sampler->data = data;
	sampler->grid = 2 * dnn_data_bytes(data);
	for (i = 0; i < n; i++)
		sampler->grid *= i == 1 ? 1 : dims[i];
	return DNN_SUCCESS;
}

static enum dnn_status launch(struct dnn_handle *handle, const struct dnn_sampler *sampler,
			      const char *name, double bytes)
{
	struct dnn_work work = { .bytes = bytes };

	work.outputs = bytes / dnn_data_bytes(sampler->data);
	work.type = GPUSIM_F32;
	snprintf(work.name, sizeof work.name, "_ZN5cudnn%zu%sEv", __builtin_strlen(name), name);
	return dnn_work_launch(handle, &work);
}

static double bytes_of(const struct dnn_tensor *tensor)
{
	return dnn_tensor_elements(tensor) * dnn_data_bytes(tensor->data);
}

enum dnn_status cudnnSpatialTfGridGeneratorForward(struct dnn_handle *handle,
						   const struct dnn_sampler *sampler,
						   const void *theta, void *grid)
{
	(void)theta, (void)grid;
	if (!handle || !sampler)
		return no_descriptor();
	return launch(handle, sampler, "grid_generator_fw_4d_kernel_simulated", sampler->grid);
}

enum dnn_status cudnnSpatialTfGridGeneratorBackward(struct dnn_handle *handle,
						    const struct dnn_sampler *sampler,
						    const void *dgrid, void *dtheta)
{
	(void)dgrid, (void)dtheta;
	if (!handle || !sampler)
		return no_descriptor();
	return launch(handle, sampler, "grid_generator_bw_4d_kernel_simulated", sampler->grid);
}

enum dnn_status cudnnSpatialTfSamplerForward(struct dnn_handle *handle,
					     const struct dnn_sampler *sampler, const void *alpha,
					     const struct dnn_tensor *x, const void *x_data,
					     const void *grid, const void *beta,
					     const struct dnn_tensor *y, void *y_data)
{
	(void)alpha, (void)x_data, (void)grid, (void)beta, (void)y_data;
	if (!handle || !sampler || !x || !y)
		return no_descriptor();
	return launch(handle, sampler, "bilinear_sampler_fw_4d_kernel_simulated",
		      bytes_of(x) + bytes_of(y) + sampler->grid);
}

enum dnn_status cudnnSpatialTfSamplerBackward(struct dnn_handle *handle,
					      const struct dnn_sampler *sampler, const void *alpha,
					      const struct dnn_tensor *x, const void *x_data,
					      const void *beta, const struct dnn_tensor *dx,
					      void *dx_data, const void *alpha_grid,
					      const struct dnn_tensor *dy, const void *dy_data,
					      const void *grid, const void *beta_grid, void *dgrid)
{
	(void)alpha, (void)x_data, (void)beta, (void)dx, (void)dx_data, (void)alpha_grid;
	(void)dy_data, (void)grid, (void)beta_grid, (void)dgrid;
	if (!handle || !sampler || !x || !dy)
		return no_descriptor();
	return launch(handle, sampler, "bilinear_sampler_bw_4d_kernel_simulated",
		      2 * (bytes_of(x) + sampler->grid) + bytes_of(dy));
}
