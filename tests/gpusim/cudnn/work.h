/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work.h - what one call of cuDNN means for the device: a single kernel, made-up in its name and
 * its length. NVIDIA's cuDNN picks among thousands of kernels and may launch several; here a
 * convolution, a batch norm or a whole operation graph is one, whose name follows the scheme of
 * NVIDIA's and ends in "_simulated".
 */
#ifndef DNN_WORK_H
#define DNN_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "../standin.h"
#include "handle.h"

struct dnn_work {
	char name[112];
	double flops, bytes;
	double outputs; /* elements, for the geometry */
	enum gpusim_type type;
	void *kernel; /* by the first launch */
};

enum dnn_direction {
	DNN_FPROP,
	DNN_DGRAD,
	DNN_WGRAD
};

/* Bytes of an element; a fraction for those of less than a byte. */
double dnn_data_bytes(enum dnn_data data);

/* The unit that computes on it. float: only `tensor` cores make it TF32. */
enum gpusim_type dnn_data_type(enum dnn_data data, bool tensor);

/*
 * A convolution of y = prod(n, k, p, q), each from a filter's c/groups * r * s: the three
 * directions have the same products. `channels_last` is for the name alone. Sets all but bytes.
 */
void dnn_work_convolution(struct dnn_work *work, enum dnn_direction direction, double y,
			  double taps, enum dnn_data data, bool tensor, bool channels_last);

/* Launches it on the handle's stream, into a capture where that is capturing. */
enum dnn_status dnn_work_launch(struct dnn_handle *handle, const struct dnn_work *work);

#endif
