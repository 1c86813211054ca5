/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opgraph.c - the work of an operation graph.
 */
#include "opgraph.h"

#include <stdio.h>

/* ---- tensors ---- */

/* The product of dimensions [from, to), from the end where negative. 1 without any. */
static double product(const struct dnn_bag *tensor, int64_t from, int64_t to)
{
	const int64_t *dims = NULL;
	int64_t n = tensor ? dnn_bag_numbers(tensor, DNN_ATTR_TENSOR_DIMENSIONS, &dims) : 0;
	double all = 1;

	for (from = from < 0 ? from + n : from, to = to <= 0 ? to + n : to; from < to; from++)
		if (from >= 0 && from < n)
			all *= (double)dims[from];
	return all;
}

static double elements(const struct dnn_bag *tensor)
{
	return product(tensor, 0, 0);
}

static enum dnn_data data_of(const struct dnn_bag *tensor)
{
	return tensor ? (enum dnn_data)dnn_bag_number(tensor, DNN_ATTR_TENSOR_DATA_TYPE, DNN_FLOAT)
		      : DNN_FLOAT;
}

/* Channels (dimension 1) lie next to each other. */
static bool channels_last(const struct dnn_bag *tensor)
{
	const int64_t *strides = NULL;

	return tensor && dnn_bag_numbers(tensor, DNN_ATTR_TENSOR_STRIDES, &strides) > 2 &&
	       strides[1] == 1;
}

/* ---- operations ---- */

/* The operations that multiply: in which attributes their operands are. */
static const struct {
	int kind, y, w;
	int x; /* whose type and layout count */
	enum dnn_direction direction;
} convolutions[] = {
	{ DNN_KIND_CONV_FORWARD, DNN_ATTR_CONV_FORWARD_Y, DNN_ATTR_CONV_FORWARD_W,
	  DNN_ATTR_CONV_FORWARD_X, DNN_FPROP },
	{ DNN_KIND_CONV_BWD_DATA, DNN_ATTR_CONV_BWD_DATA_DY, DNN_ATTR_CONV_BWD_DATA_W,
	  DNN_ATTR_CONV_BWD_DATA_DY, DNN_DGRAD },
	{ DNN_KIND_CONV_BWD_FILTER, DNN_ATTR_CONV_BWD_FILTER_DY, DNN_ATTR_CONV_BWD_FILTER_DW,
	  DNN_ATTR_CONV_BWD_FILTER_X, DNN_WGRAD },
};

#define CONVOLUTIONS (sizeof convolutions / sizeof convolutions[0])

/* What multiplies in a graph, summed up; the first such operation names it. */
struct products {
	double flops;
	int matmuls;
	const struct dnn_bag *operand; /* of the first */
};

static void see_convolution(struct products *p, struct dnn_work *work, const struct dnn_bag *op,
			    bool tensor)
{
	const struct dnn_bag *x, *w;
	size_t i;

	for (i = 0; i < CONVOLUTIONS && convolutions[i].kind != op->kind; i++)
		;
	if (i == CONVOLUTIONS)
		return;
	x = dnn_bag_bag(op, convolutions[i].x);
	w = dnn_bag_bag(op, convolutions[i].w);
	dnn_work_convolution(work, convolutions[i].direction,
			     elements(dnn_bag_bag(op, convolutions[i].y)), product(w, 1, 0),
			     data_of(x), tensor, channels_last(x));
	p->flops += work->flops;
	p->operand = x;
}

/* c[.., m, n] = a[.., m, k] * b[.., k, n]; k is a's last dimension. */
static void see_matmul(struct products *p, const struct dnn_bag *op)
{
	const struct dnn_bag *a = dnn_bag_bag(op, DNN_ATTR_MATMUL_A);

	p->flops += 2 * elements(dnn_bag_bag(op, DNN_ATTR_MATMUL_C)) * product(a, -1, 0);
	p->matmuls++;
	if (!p->operand)
		p->operand = a;
}

/*
 * Attention as one operation: q k' and the scores times v; backward three and two products like
 * these.
 */
static void see_attention(struct products *p, const struct dnn_bag *op)
{
	bool back = op->kind == DNN_KIND_SDPA_BWD;
	const struct dnn_bag *q = dnn_bag_bag(op, back ? DNN_ATTR_SDPA_BWD_Q : DNN_ATTR_SDPA_FWD_Q);
	const struct dnn_bag *k = dnn_bag_bag(op, back ? DNN_ATTR_SDPA_BWD_K : DNN_ATTR_SDPA_FWD_K);
	const struct dnn_bag *v = dnn_bag_bag(op, back ? DNN_ATTR_SDPA_BWD_V : DNN_ATTR_SDPA_FWD_V);
	double scores = product(q, 0, -1) * product(k, -2, -1);

	p->flops += 2 * scores *
		    ((back ? 3 : 1) * product(q, -1, 0) + (back ? 2 : 1) * product(v, -1, 0));
	p->matmuls += back ? 5 : 2;
	if (!p->operand)
		p->operand = q;
}

/* ---- graphs ---- */

#define TENSORS_MAX 256

/* The tensors that the device reads and writes, each once. */
struct traffic {
	int64_t seen[TENSORS_MAX];
	int n;
	double bytes, largest;
};

static bool seen(struct traffic *t, int64_t id)
{
	int i;

	for (i = 0; i < t->n; i++)
		if (t->seen[i] == id)
			return true;
	if (t->n < TENSORS_MAX)
		t->seen[t->n++] = id;
	return false;
}

static void see_tensor(struct traffic *t, const struct dnn_bag *tensor)
{
	double n = elements(tensor);

	if (dnn_bag_number(tensor, DNN_ATTR_TENSOR_IS_VIRTUAL, 0) ||
	    dnn_bag_number(tensor, DNN_ATTR_TENSOR_IS_BY_VALUE, 0) ||
	    seen(t, dnn_bag_number(tensor, DNN_ATTR_TENSOR_UNIQUE_ID, 0)))
		return;
	t->bytes += n * dnn_data_bytes(data_of(tensor));
	if (n > t->largest)
		t->largest = n;
}

static void see_tensors(struct traffic *t, const struct dnn_bag *op)
{
	struct dnn_bag *const *bags;
	int64_t j;
	int i;

	for (i = 0; i < op->n; i++) {
		if (op->attributes[i].type != DNN_TYPE_DESCRIPTOR)
			continue;
		bags = op->attributes[i].values;
		for (j = 0; j < op->attributes[i].n; j++)
			if (bags[j]->kind == DNN_KIND_TENSOR)
				see_tensor(t, bags[j]);
	}
}

/* A graph that multiplies nothing is named for its first operation. */
static const char *word(int kind)
{
	switch (kind) {
	case DNN_KIND_POINTWISE:
		return "pointwise";
	case DNN_KIND_GEN_STATS:
		return "genstats";
	case DNN_KIND_REDUCTION:
		return "reduction";
	case DNN_KIND_RESAMPLE_FWD:
	case DNN_KIND_RESAMPLE_BWD:
		return "resample";
	case DNN_KIND_NORM_FORWARD:
		return "norm_fwd";
	case DNN_KIND_NORM_BACKWARD:
		return "norm_bwd";
	case DNN_KIND_SOFTMAX:
		return "softmax";
	default:
		return "graph";
	}
}

static void name_graph(struct dnn_work *work, const struct products *p, int first)
{
	if (work->name[0])
		return; /* a convolution and what is fused to it */
	if (p->matmuls > 1)
		snprintf(work->name, sizeof work->name, "cudnn_sdpa_sm90_flash_%s_%s_simulated",
			 p->matmuls > 2 ? "bprop" : "fprop",
			 data_of(p->operand) == DNN_BFLOAT16 ? "bf16" : "f16");
	else if (p->matmuls)
		snprintf(work->name, sizeof work->name, "sm90_xmma_gemm_cudnn_simulated");
	else
		snprintf(work->name, sizeof work->name, "cudnn_generated_%s_simulated",
			 word(first));
}

static int64_t operations(const struct dnn_bag *graph, struct dnn_bag *const **ops)
{
	const struct dnn_attribute *a = dnn_bag_find(graph, DNN_ATTR_GRAPH_OPS);

	if (!a || a->type != DNN_TYPE_DESCRIPTOR)
		return 0;
	*ops = a->values;
	return a->n;
}

static struct products see_products(struct dnn_work *work, const struct dnn_bag *graph, bool tensor)
{
	struct products p = { 0 };
	struct dnn_bag *const *ops = NULL;
	int64_t i, n = operations(graph, &ops);

	for (i = 0; i < n; i++) {
		if (ops[i]->kind == DNN_KIND_MATMUL)
			see_matmul(&p, ops[i]);
		else if (ops[i]->kind == DNN_KIND_SDPA_FWD || ops[i]->kind == DNN_KIND_SDPA_BWD)
			see_attention(&p, ops[i]);
		else
			see_convolution(&p, work, ops[i], tensor);
	}
	return p;
}

void dnn_opgraph_work(struct dnn_work *work, const struct dnn_bag *graph, bool tensor)
{
	struct traffic traffic = { .n = 0 };
	struct dnn_bag *const *ops = NULL;
	struct products p;
	int64_t i, n = operations(graph, &ops);

	*work = (struct dnn_work){ .type = GPUSIM_F32 };
	p = see_products(work, graph, tensor);
	for (i = 0; i < n; i++)
		see_tensors(&traffic, ops[i]);
	work->flops = p.flops;
	work->bytes = traffic.bytes;
	work->outputs = traffic.largest;
	work->type = dnn_data_type(data_of(p.operand), tensor);
	name_graph(work, &p, n ? ops[0]->kind : 0);
}

bool dnn_opgraph_float(const struct dnn_bag *graph)
{
	struct dnn_work work = { .bytes = 0 };
	struct products p = see_products(&work, graph, false);

	return p.operand && data_of(p.operand) == DNN_FLOAT;
}
