/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recurrent.h - recurrent networks, and the dropout between their layers: a kernel per call, as
 * long as its products say. Where the weights lie is this library's own choice, as with NVIDIA's:
 * of all layers those for the input and then those for the state, gate after gate, and behind them
 * all the biases in the same order.
 */
#ifndef DNN_RECURRENT_H
#define DNN_RECURRENT_H

#include <stddef.h>
#include <stdint.h>

#include "handle.h"
#include "tensor.h"

enum dnn_cell {
	DNN_CELL_RELU,
	DNN_CELL_TANH,
	DNN_CELL_LSTM,
	DNN_CELL_GRU
};

struct dnn_recurrent {
	enum dnn_cell cell;
	int biases; /* 0: none, 1 and 3: one, of the input or the state; 2: both */
	int directions;
	enum dnn_data data;
	int64_t input, hidden, projected, layers;
};

struct dnn_sequences {
	enum dnn_data data;
	int64_t steps; /* of all sequences together */
	int64_t width;
};

struct dnn_dropout {
	float rate;
};

SIM_API enum dnn_status cudnnCreateDropoutDescriptor(struct dnn_dropout **dropout);
SIM_API enum dnn_status cudnnDestroyDropoutDescriptor(struct dnn_dropout *dropout);
SIM_API enum dnn_status cudnnDropoutGetStatesSize(struct dnn_handle *handle, size_t *bytes);
SIM_API enum dnn_status cudnnSetDropoutDescriptor(struct dnn_dropout *dropout,
						  struct dnn_handle *handle, float rate,
						  void *states, size_t bytes,
						  unsigned long long seed);
SIM_API enum dnn_status cudnnRestoreDropoutDescriptor(struct dnn_dropout *dropout,
						      struct dnn_handle *handle, float rate,
						      void *states, size_t bytes,
						      unsigned long long seed);

SIM_API enum dnn_status cudnnCreateRNNDescriptor(struct dnn_recurrent **network);
SIM_API enum dnn_status cudnnDestroyRNNDescriptor(struct dnn_recurrent *network);
SIM_API enum dnn_status cudnnSetRNNDescriptor_v8(struct dnn_recurrent *network, int algorithm,
						 int cell, int biases, int direction,
						 int input_mode, enum dnn_data data,
						 enum dnn_data compute, int math, int32_t input,
						 int32_t hidden, int32_t projected, int32_t layers,
						 struct dnn_dropout *dropout, uint32_t flags);
SIM_API enum dnn_status cudnnCreateRNNDataDescriptor(struct dnn_sequences **sequences);
SIM_API enum dnn_status cudnnDestroyRNNDataDescriptor(struct dnn_sequences *sequences);
SIM_API enum dnn_status cudnnSetRNNDataDescriptor(struct dnn_sequences *sequences,
						  enum dnn_data data, int layout, int steps_max,
						  int batch, int width, const int *steps,
						  void *padding);
SIM_API enum dnn_status cudnnGetRNNWeightSpaceSize(struct dnn_handle *handle,
						   const struct dnn_recurrent *network,
						   size_t *bytes);
SIM_API enum dnn_status cudnnGetRNNTempSpaceSizes(struct dnn_handle *handle,
						  const struct dnn_recurrent *network, int mode,
						  const struct dnn_sequences *x, size_t *workspace,
						  size_t *reserve);

/* A layer of a direction: 2 layer + direction where there are two. */
SIM_API enum dnn_status cudnnGetRNNWeightParams(struct dnn_handle *handle,
						const struct dnn_recurrent *network, int32_t layer,
						size_t bytes, const void *weights, int32_t gate,
						struct dnn_tensor *matrix, void **matrix_at,
						struct dnn_tensor *bias, void **bias_at);

SIM_API enum dnn_status cudnnRNNForward(struct dnn_handle *handle,
					const struct dnn_recurrent *network, int mode,
					const int32_t *steps, const struct dnn_sequences *x,
					const void *x_data, const struct dnn_sequences *y,
					void *y_data, const struct dnn_tensor *h, const void *hx,
					void *hy, const struct dnn_tensor *c, const void *cx,
					void *cy, size_t weights_bytes, const void *weights,
					size_t workspace_bytes, void *workspace,
					size_t reserve_bytes, void *reserve);
SIM_API enum dnn_status cudnnRNNBackwardData_v8(
	struct dnn_handle *handle, const struct dnn_recurrent *network, const int32_t *steps,
	const struct dnn_sequences *y, const void *y_data, const void *dy_data,
	const struct dnn_sequences *x, void *dx_data, const struct dnn_tensor *h, const void *hx,
	const void *dhy, void *dhx, const struct dnn_tensor *c, const void *cx, const void *dcy,
	void *dcx, size_t weights_bytes, const void *weights, size_t workspace_bytes,
	void *workspace, size_t reserve_bytes, void *reserve);
SIM_API enum dnn_status cudnnRNNBackwardWeights_v8(
	struct dnn_handle *handle, const struct dnn_recurrent *network, int add,
	const int32_t *steps, const struct dnn_sequences *x, const void *x_data,
	const struct dnn_tensor *h, const void *hx, const struct dnn_sequences *y,
	const void *y_data, size_t weights_bytes, void *dweights, size_t workspace_bytes,
	void *workspace, size_t reserve_bytes, void *reserve);

#endif
