/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler.h - the spatial transformer: a kernel per call, as long as its tensors take to be read
 * and written once.
 */
#ifndef DNN_SAMPLER_H
#define DNN_SAMPLER_H

#include "handle.h"
#include "tensor.h"

struct dnn_sampler {
	enum dnn_data data;
	double grid; /* bytes: two numbers for each point of the result */
};

SIM_API enum dnn_status cudnnCreateSpatialTransformerDescriptor(struct dnn_sampler **sampler);
SIM_API enum dnn_status cudnnDestroySpatialTransformerDescriptor(struct dnn_sampler *sampler);
SIM_API enum dnn_status cudnnSetSpatialTransformerNdDescriptor(struct dnn_sampler *sampler,
							       int kind, enum dnn_data data, int n,
							       const int *dims);
SIM_API enum dnn_status cudnnSpatialTfGridGeneratorForward(struct dnn_handle *handle,
							   const struct dnn_sampler *sampler,
							   const void *theta, void *grid);
SIM_API enum dnn_status cudnnSpatialTfGridGeneratorBackward(struct dnn_handle *handle,
							    const struct dnn_sampler *sampler,
							    const void *dgrid, void *dtheta);
SIM_API enum dnn_status cudnnSpatialTfSamplerForward(struct dnn_handle *handle,
						     const struct dnn_sampler *sampler,
						     const void *alpha, const struct dnn_tensor *x,
						     const void *x_data, const void *grid,
						     const void *beta, const struct dnn_tensor *y,
						     void *y_data);
SIM_API enum dnn_status cudnnSpatialTfSamplerBackward(
	struct dnn_handle *handle, const struct dnn_sampler *sampler, const void *alpha,
	const struct dnn_tensor *x, const void *x_data, const void *beta,
	const struct dnn_tensor *dx, void *dx_data, const void *alpha_grid,
	const struct dnn_tensor *dy, const void *dy_data, const void *grid, const void *beta_grid,
	void *dgrid);

#endif
