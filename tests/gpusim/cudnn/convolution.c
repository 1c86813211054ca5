/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convolution.c - convolutions by the older calls.
 */
#include "convolution.h"

#include "work.h"

/* Names them as forward does: x and w make y. Backward two of them are gradients. */
struct shape {
	enum dnn_direction direction;
	const struct dnn_tensor *x, *y;
	const struct dnn_filter *w;
	const struct dnn_convolution *convolution;
};

static bool whole(const struct dnn_handle *handle, const struct shape *s)
{
	return handle && s->x && s->y && s->w && s->convolution;
}

static enum dnn_status not_whole(void)
{
	return dnn_fail(DNN_BAD_PARAM_NULL_POINTER, "a convolution without one of its descriptors");
}

/* The default math may round float to TF32. */
static struct dnn_work work_of(const struct shape *s)
{
	struct dnn_work work = { .bytes = dnn_tensor_elements(s->x) * dnn_data_bytes(s->x->data) +
					  dnn_tensor_elements(s->y) * dnn_data_bytes(s->y->data) +
					  dnn_filter_elements(s->w, 0) *
						  dnn_data_bytes(s->w->data) };

	dnn_work_convolution(&work, s->direction, dnn_tensor_elements(s->y),
			     dnn_filter_elements(s->w, 1), s->x->data,
			     s->convolution->math != DNN_MATH_FMA, dnn_tensor_channels_last(s->x));
	return work;
}

static enum dnn_status convolve(struct dnn_handle *handle, const struct shape *s)
{
	struct dnn_work work;

	if (!whole(handle, s))
		return not_whole();
	work = work_of(s);
	return dnn_work_launch(handle, &work);
}

/* The one algorithm. */
static enum dnn_status choose(const struct dnn_handle *handle, const struct shape *s, int asked,
			      int *n, struct dnn_perf *perf)
{
	struct dnn_work work;

	if (!whole(handle, s) || !n || !perf || asked < 1)
		return not_whole();
	work = work_of(s);
	*n = 1;
	*perf = (struct dnn_perf){
		.algorithm = 1,
		.time_ms = (float)gpusim_length_work(work.flops, work.bytes, work.type) / 1e6f,
		.deterministic = 1,
		.math = s->convolution->math,
	};
	return DNN_SUCCESS;
}

/* The same by trying it, as cuDNN does. */
static enum dnn_status find(struct dnn_handle *handle, const struct shape *s, int asked, int *n,
			    struct dnn_perf *perf)
{
	enum dnn_status status = choose(handle, s, asked, n, perf);

	return status ? status : convolve(handle, s);
}

static enum dnn_status no_bytes(size_t *bytes)
{
	if (!bytes)
		return dnn_fail(DNN_BAD_PARAM_NULL_POINTER, "no place for a size");
	*bytes = 0;
	return DNN_SUCCESS;
}

/* ---- sizes ---- */

enum dnn_status cudnnGetConvolutionForwardWorkspaceSize(struct dnn_handle *handle,
							const struct dnn_tensor *x,
							const struct dnn_filter *w,
							const struct dnn_convolution *convolution,
							const struct dnn_tensor *y, int algorithm,
							size_t *bytes)
{
	(void)handle, (void)x, (void)w, (void)convolution, (void)y, (void)algorithm;
	return no_bytes(bytes);
}

enum dnn_status cudnnGetConvolutionBackwardDataWorkspaceSize(
	struct dnn_handle *handle, const struct dnn_filter *w, const struct dnn_tensor *dy,
	const struct dnn_convolution *convolution, const struct dnn_tensor *dx, int algorithm,
	size_t *bytes)
{
	(void)handle, (void)w, (void)dy, (void)convolution, (void)dx, (void)algorithm;
	return no_bytes(bytes);
}

enum dnn_status cudnnGetConvolutionBackwardFilterWorkspaceSize(
	struct dnn_handle *handle, const struct dnn_tensor *x, const struct dnn_tensor *dy,
	const struct dnn_convolution *convolution, const struct dnn_filter *dw, int algorithm,
	size_t *bytes)
{
	(void)handle, (void)x, (void)dy, (void)convolution, (void)dw, (void)algorithm;
	return no_bytes(bytes);
}

/* ---- algorithms ---- */

enum dnn_status cudnnGetConvolutionForwardAlgorithm_v7(struct dnn_handle *handle,
						       const struct dnn_tensor *x,
						       const struct dnn_filter *w,
						       const struct dnn_convolution *convolution,
						       const struct dnn_tensor *y, int asked,
						       int *n, struct dnn_perf *perf)
{
	return choose(handle, &(struct shape){ DNN_FPROP, x, y, w, convolution }, asked, n, perf);
}

enum dnn_status cudnnGetConvolutionBackwardDataAlgorithm_v7(
	struct dnn_handle *handle, const struct dnn_filter *w, const struct dnn_tensor *dy,
	const struct dnn_convolution *convolution, const struct dnn_tensor *dx, int asked, int *n,
	struct dnn_perf *perf)
{
	return choose(handle, &(struct shape){ DNN_DGRAD, dx, dy, w, convolution }, asked, n, perf);
}

enum dnn_status cudnnGetConvolutionBackwardFilterAlgorithm_v7(
	struct dnn_handle *handle, const struct dnn_tensor *x, const struct dnn_tensor *dy,
	const struct dnn_convolution *convolution, const struct dnn_filter *dw, int asked, int *n,
	struct dnn_perf *perf)
{
	return choose(handle, &(struct shape){ DNN_WGRAD, x, dy, dw, convolution }, asked, n, perf);
}

enum dnn_status cudnnFindConvolutionForwardAlgorithmEx(
	struct dnn_handle *handle, const struct dnn_tensor *x, const void *x_data,
	const struct dnn_filter *w, const void *w_data, const struct dnn_convolution *convolution,
	const struct dnn_tensor *y, void *y_data, int asked, int *n, struct dnn_perf *perf,
	void *workspace, size_t bytes)
{
	(void)x_data, (void)w_data, (void)y_data, (void)workspace, (void)bytes;
	return find(handle, &(struct shape){ DNN_FPROP, x, y, w, convolution }, asked, n, perf);
}

enum dnn_status cudnnFindConvolutionBackwardDataAlgorithmEx(
	struct dnn_handle *handle, const struct dnn_filter *w, const void *w_data,
	const struct dnn_tensor *dy, const void *dy_data, const struct dnn_convolution *convolution,
	const struct dnn_tensor *dx, void *dx_data, int asked, int *n, struct dnn_perf *perf,
	void *workspace, size_t bytes)
{
	(void)w_data, (void)dy_data, (void)dx_data, (void)workspace, (void)bytes;
	return find(handle, &(struct shape){ DNN_DGRAD, dx, dy, w, convolution }, asked, n, perf);
}

enum dnn_status cudnnFindConvolutionBackwardFilterAlgorithmEx(
	struct dnn_handle *handle, const struct dnn_tensor *x, const void *x_data,
	const struct dnn_tensor *dy, const void *dy_data, const struct dnn_convolution *convolution,
	const struct dnn_filter *dw, void *dw_data, int asked, int *n, struct dnn_perf *perf,
	void *workspace, size_t bytes)
{
	(void)x_data, (void)dy_data, (void)dw_data, (void)workspace, (void)bytes;
	return find(handle, &(struct shape){ DNN_WGRAD, x, dy, dw, convolution }, asked, n, perf);
}

/* ---- convolutions ---- */

enum dnn_status cudnnConvolutionForward(struct dnn_handle *handle, const void *alpha,
					const struct dnn_tensor *x, const void *x_data,
					const struct dnn_filter *w, const void *w_data,
					const struct dnn_convolution *convolution, int algorithm,
					void *workspace, size_t bytes, const void *beta,
					const struct dnn_tensor *y, void *y_data)
{
	(void)alpha, (void)x_data, (void)w_data, (void)algorithm, (void)workspace, (void)bytes;
	(void)beta, (void)y_data;
	return convolve(handle, &(struct shape){ DNN_FPROP, x, y, w, convolution });
}

enum dnn_status cudnnConvolutionBackwardData(struct dnn_handle *handle, const void *alpha,
					     const struct dnn_filter *w, const void *w_data,
					     const struct dnn_tensor *dy, const void *dy_data,
					     const struct dnn_convolution *convolution,
					     int algorithm, void *workspace, size_t bytes,
					     const void *beta, const struct dnn_tensor *dx,
					     void *dx_data)
{
	(void)alpha, (void)w_data, (void)dy_data, (void)algorithm, (void)workspace, (void)bytes;
	(void)beta, (void)dx_data;
	return convolve(handle, &(struct shape){ DNN_DGRAD, dx, dy, w, convolution });
}

enum dnn_status cudnnConvolutionBackwardFilter(struct dnn_handle *handle, const void *alpha,
					       const struct dnn_tensor *x, const void *x_data,
					       const struct dnn_tensor *dy, const void *dy_data,
					       const struct dnn_convolution *convolution,
					       int algorithm, void *workspace, size_t bytes,
					       const void *beta, const struct dnn_filter *dw,
					       void *dw_data)
{
	(void)alpha, (void)x_data, (void)dy_data, (void)algorithm, (void)workspace, (void)bytes;
	(void)beta, (void)dw_data;
	return convolve(handle, &(struct shape){ DNN_WGRAD, x, dy, dw, convolution });
}

enum dnn_status cudnnConvolutionBiasActivationForward(
	struct dnn_handle *handle, const void *alpha, const struct dnn_tensor *x,
	const void *x_data, const struct dnn_filter *w, const void *w_data,
	const struct dnn_convolution *convolution, int algorithm, void *workspace, size_t bytes,
	const void *alpha_z, const struct dnn_tensor *z, const void *z_data,
	const struct dnn_tensor *bias, const void *bias_data,
	const struct dnn_activation *activation, const struct dnn_tensor *y, void *y_data)
{
	(void)alpha, (void)x_data, (void)w_data, (void)algorithm, (void)workspace, (void)bytes;
	(void)alpha_z, (void)z, (void)z_data, (void)bias, (void)bias_data, (void)activation;
	(void)y_data;
	return convolve(handle, &(struct shape){ DNN_FPROP, x, y, w, convolution });
}
