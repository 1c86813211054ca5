/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opgraph.h - how much work an operation graph is: floating-point operations of its convolutions,
 * matmuls and attentions by their dimensions, and the bytes of the tensors that it reads and
 * writes.
 */
#ifndef DNN_OPGRAPH_H
#define DNN_OPGRAPH_H

#include "bag.h"

/* Fills `work` from a final operation graph; `tensor`: float goes to the tensor cores. */
void dnn_opgraph_work(struct dnn_work *work, const struct dnn_bag *graph, bool tensor);

/* Does the graph multiply matrices of float, which engines with and without tensor cores can do? */
bool dnn_opgraph_float(const struct dnn_bag *graph);

#endif
