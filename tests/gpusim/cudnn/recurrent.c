/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recurrent.c - recurrent networks.
 */
#include "recurrent.h"

#include <stdio.h>

#include "work.h"

/* ---- descriptors ---- */

DNN_LIFE(Dropout, dnn_dropout)
DNN_LIFE(RNN, dnn_recurrent)
DNN_LIFE(RNNData, dnn_sequences)

/* Made up: the real one keeps a generator's state for each thread that the device can run. */
#define STATES_BYTES (1 << 20)

static enum dnn_status no_place(void)
{
	return dnn_fail(DNN_BAD_PARAM_NULL_POINTER, "no descriptor, or no place for the answer");
}

enum dnn_status cudnnDropoutGetStatesSize(struct dnn_handle *handle, size_t *bytes)
{
	if (!handle || !bytes)
		return no_place();
	*bytes = STATES_BYTES;
	return DNN_SUCCESS;
}

enum dnn_status cudnnRestoreDropoutDescriptor(struct dnn_dropout *dropout,
					      struct dnn_handle *handle, float rate, void *states,
					      size_t bytes, unsigned long long seed)
{
	(void)states, (void)bytes, (void)seed;
	if (!dropout || !handle)
		return no_place();
	dropout->rate = rate;
	return DNN_SUCCESS;
}

/* Fills the states, where there are any. */
enum dnn_status cudnnSetDropoutDescriptor(struct dnn_dropout *dropout, struct dnn_handle *handle,
					  float rate, void *states, size_t bytes,
					  unsigned long long seed)
{
	struct dnn_work work = { .name = "cudnn_init_dropout_states_simulated",
				 .bytes = (double)bytes,
				 .outputs = (double)bytes / 4 };
	enum dnn_status status =
		cudnnRestoreDropoutDescriptor(dropout, handle, rate, states, bytes, seed);

	return status || !states ? status : dnn_work_launch(handle, &work);
}

enum dnn_status cudnnSetRNNDescriptor_v8(struct dnn_recurrent *network, int algorithm, int cell,
					 int biases, int direction, int input_mode,
					 enum dnn_data data, enum dnn_data compute, int math,
					 int32_t input, int32_t hidden, int32_t projected,
					 int32_t layers, struct dnn_dropout *dropout,
					 uint32_t flags)
{
	(void)algorithm, (void)input_mode, (void)compute, (void)math, (void)dropout, (void)flags;
	if (!network)
		return no_place();
	if (cell < DNN_CELL_RELU || cell > DNN_CELL_GRU || biases < 0 || biases > 3 || input < 1 ||
	    hidden < 1 || projected < 0 || layers < 1)
		return dnn_fail(DNN_BAD_PARAM, "a network of %d layers, %d wide", layers, hidden);
	*network = (struct dnn_recurrent){ .cell = (enum dnn_cell)cell,
					   .biases = biases,
					   .directions = direction ? 2 : 1,
					   .data = data,
					   .input = input,
					   .hidden = hidden,
					   .projected = projected ? projected : hidden,
					   .layers = layers };
	return DNN_SUCCESS;
}

enum dnn_status cudnnSetRNNDataDescriptor(struct dnn_sequences *sequences, enum dnn_data data,
					  int layout, int steps_max, int batch, int width,
					  const int *steps, void *padding)
{
	int i;

	(void)layout, (void)steps_max, (void)padding;
	if (!sequences || !steps)
		return no_place();
	*sequences = (struct dnn_sequences){ .data = data, .width = width };
	for (i = 0; i < batch; i++)
		sequences->steps += steps[i];
	return DNN_SUCCESS;
}

/* ---- where the weights lie ---- */

static int64_t gates(const struct dnn_recurrent *n)
{
	return n->cell == DNN_CELL_LSTM ? 4 : n->cell == DNN_CELL_GRU ? 3 : 1;
}

static int64_t input_of(const struct dnn_recurrent *n, int64_t layer)
{
	return layer < n->directions ? n->input : n->projected * n->directions;
}

/* Elements of a gate's matrix; the projection's is the last of all. */
static int64_t columns(const struct dnn_recurrent *n, int64_t layer, int64_t gate)
{
	return gate < gates(n)	     ? input_of(n, layer)
	       : gate < 2 * gates(n) ? n->projected
				     : n->hidden;
}

static int64_t rows(const struct dnn_recurrent *n, int64_t gate)
{
	return gate < 2 * gates(n) ? n->hidden : n->projected;
}

static int64_t matrices(const struct dnn_recurrent *n)
{
	return 2 * gates(n) + (n->projected != n->hidden);
}

/* Elements before a gate's matrix, and of the whole where the layer is behind the last. */
static int64_t matrix_before(const struct dnn_recurrent *n, int64_t layer, int64_t gate)
{
	int64_t before = 0, l, g;

	for (l = 0; l <= layer && l < n->layers * n->directions; l++)
		for (g = 0; g < matrices(n) && (l < layer || g < gate); g++)
			before += rows(n, g) * columns(n, l, g);
	return before;
}

/* Which biases there are: of the gates for the input, and of those for the state. */
static bool has_bias(const struct dnn_recurrent *n, int64_t gate)
{
	return gate < gates(n) ? n->biases == 1 || n->biases == 2
			       : gate < 2 * gates(n) && n->biases >= 2;
}

static int64_t bias_before(const struct dnn_recurrent *n, int64_t layer, int64_t gate)
{
	int64_t before = 0, each = 0, g;

	for (g = 0; g < 2 * gates(n); g++) {
		each += has_bias(n, g) ? n->hidden : 0;
		before += g < gate && has_bias(n, g) ? n->hidden : 0;
	}
	return layer * each + before;
}

static int64_t weights(const struct dnn_recurrent *n)
{
	int64_t all = n->layers * n->directions;

	return matrix_before(n, all, 0) + bias_before(n, all, 0);
}

enum dnn_status cudnnGetRNNWeightSpaceSize(struct dnn_handle *handle,
					   const struct dnn_recurrent *network, size_t *bytes)
{
	if (!handle || !network || !bytes)
		return no_place();
	*bytes = (size_t)((double)weights(network) * dnn_data_bytes(network->data));
	return DNN_SUCCESS;
}

static void describe(struct dnn_tensor *tensor, enum dnn_data data, int64_t rows, int64_t columns)
{
	if (tensor)
		*tensor = (struct dnn_tensor){ .data = data,
					       .n = 3,
					       .dims = { 1, (int)rows, (int)columns },
					       .strides = { (int)(rows * columns), (int)columns,
							    1 } };
}

static void put_place(void **at, const void *weights_at, int64_t before, enum dnn_data data)
{
	if (at)
		*at = (char *)(uintptr_t)weights_at +
		      (size_t)((double)before * dnn_data_bytes(data));
}

enum dnn_status cudnnGetRNNWeightParams(struct dnn_handle *handle,
					const struct dnn_recurrent *network, int32_t layer,
					size_t bytes, const void *weights_at, int32_t gate,
					struct dnn_tensor *matrix, void **matrix_at,
					struct dnn_tensor *bias, void **bias_at)
{
	const struct dnn_recurrent *n = network;
	int64_t all;

	(void)bytes;
	if (!handle || !n)
		return no_place();
	all = n->layers * n->directions;
	if (layer < 0 || layer >= all || gate < 0 || gate >= matrices(n))
		return dnn_fail(DNN_BAD_PARAM, "no gate %d in layer %d", gate, layer);
	describe(matrix, n->data, rows(n, gate), columns(n, layer, gate));
	put_place(matrix_at, weights_at, matrix_before(n, layer, gate), n->data);
	if (!has_bias(n, gate)) {
		if (bias)
			*bias = (struct dnn_tensor){ .data = n->data };
		if (bias_at)
			*bias_at = NULL;
		return DNN_SUCCESS;
	}
	describe(bias, n->data, n->hidden, 1);
	put_place(bias_at, weights_at, matrix_before(n, all, 0) + bias_before(n, layer, gate),
		  n->data);
	return DNN_SUCCESS;
}

enum dnn_status cudnnGetRNNTempSpaceSizes(struct dnn_handle *handle,
					  const struct dnn_recurrent *network, int mode,
					  const struct dnn_sequences *x, size_t *workspace,
					  size_t *reserve)
{
	(void)mode;
	if (!handle || !network || !x)
		return no_place();
	if (workspace)
		*workspace = 0;
	if (reserve)
		*reserve = 0;
	return DNN_SUCCESS;
}

/* ---- work ---- */

/* Each step multiplies each matrix by a vector. */
static enum dnn_status run(struct dnn_handle *handle, const struct dnn_recurrent *network,
			   const struct dnn_sequences *x, const char *verb)
{
	static const char *const cells[] = { "RELU", "TANH", "LSTM", "GRU" };
	const struct dnn_recurrent *n = network;
	struct dnn_work work = { .flops = 0 };
	double width;

	if (!handle || !n || !x)
		return no_place();
	width = (double)(n->input + n->projected * n->directions);
	work.flops = 2 * (double)x->steps * (double)matrix_before(n, n->layers * n->directions, 0);
	work.bytes = dnn_data_bytes(n->data) * ((double)weights(n) + (double)x->steps * width);
	work.outputs = (double)(x->steps * n->hidden * n->directions);
	work.type = dnn_data_type(n->data, true);
	snprintf(work.name, sizeof work.name, "RNN_blockPersist_%s_%s_simulated", verb,
		 cells[n->cell]);
	return dnn_work_launch(handle, &work);
}

enum dnn_status cudnnRNNForward(struct dnn_handle *handle, const struct dnn_recurrent *network,
				int mode, const int32_t *steps, const struct dnn_sequences *x,
				const void *x_data, const struct dnn_sequences *y, void *y_data,
				const struct dnn_tensor *h, const void *hx, void *hy,
				const struct dnn_tensor *c, const void *cx, void *cy,
				size_t weights_bytes, const void *weights_at,
				size_t workspace_bytes, void *workspace, size_t reserve_bytes,
				void *reserve)
{
	(void)mode, (void)steps, (void)x_data, (void)y, (void)y_data, (void)h, (void)hx, (void)hy;
	(void)c, (void)cx, (void)cy, (void)weights_bytes, (void)weights_at;
	(void)workspace_bytes, (void)workspace, (void)reserve_bytes, (void)reserve;
	return run(handle, network, x, "fp");
}

enum dnn_status cudnnRNNBackwardData_v8(
	struct dnn_handle *handle, const struct dnn_recurrent *network, const int32_t *steps,
	const struct dnn_sequences *y, const void *y_data, const void *dy_data,
	const struct dnn_sequences *x, void *dx_data, const struct dnn_tensor *h, const void *hx,
	const void *dhy, void *dhx, const struct dnn_tensor *c, const void *cx, const void *dcy,
	void *dcx, size_t weights_bytes, const void *weights_at, size_t workspace_bytes,
	void *workspace, size_t reserve_bytes, void *reserve)
{
	(void)steps, (void)y, (void)y_data, (void)dy_data, (void)dx_data, (void)h, (void)hx;
	(void)dhy, (void)dhx, (void)c, (void)cx, (void)dcy, (void)dcx, (void)weights_bytes;
	(void)weights_at, (void)workspace_bytes, (void)workspace, (void)reserve_bytes;
	(void)reserve;
	return run(handle, network, x, "bp");
}

enum dnn_status cudnnRNNBackwardWeights_v8(struct dnn_handle *handle,
					   const struct dnn_recurrent *network, int add,
					   const int32_t *steps, const struct dnn_sequences *x,
					   const void *x_data, const struct dnn_tensor *h,
					   const void *hx, const struct dnn_sequences *y,
					   const void *y_data, size_t weights_bytes, void *dweights,
					   size_t workspace_bytes, void *workspace,
					   size_t reserve_bytes, void *reserve)
{
	(void)add, (void)steps, (void)x_data, (void)h, (void)hx, (void)y, (void)y_data;
	(void)weights_bytes, (void)dweights, (void)workspace_bytes, (void)workspace;
	(void)reserve_bytes, (void)reserve;
	return run(handle, network, x, "wgrad");
}
