/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lengths_kernel.c - how long a kernel lasts, by its name and geometry: the table of the kernels
 * that torch, cub and Triton launch. How many elements a thread or block moves is what their public
 * sources say, for tensors that fill their last block; where a kernel strides over its grid, its
 * geometry says no more than a lower bound, and the bound it is.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lengths.h"

/* ---- work by geometry ---- */

struct geometry {
	double blocks, x, y, z; /* of the grid */
	double threads; /* all */
	double block_y;
};

struct work {
	double flops, bytes;
};

struct rule {
	const char *word; /* the kernel's own name; with a star: how it begins */
	struct work (*work)(const struct rule *rule, const struct sim_reading *name,
			    const struct geometry *g);
	double elements; /* per thread; 0: as the name's numbers say */
	double arrays; /* each element moved so often; 0: as the name says */
	double pace; /* of the roof; what strides or waits does not reach it */
};

static struct work moved(const struct rule *rule, const struct sim_reading *name, double elements)
{
	return (struct work){ .bytes = elements * name->size * rule->arrays };
}

/* So many elements per thread. */
static struct work by_thread(const struct rule *rule, const struct sim_reading *name,
			     const struct geometry *g)
{
	return moved(rule, name, g->threads * rule->elements);
}

/* Eight elements per thread; sixteen where one byte is all that a thread moves per element. */
static struct work vectorized(const struct rule *rule, const struct sim_reading *name,
			      const struct geometry *g)
{
	double arrays = name->arrays ? name->arrays : 2;
	double elements = name->size == 1 && name->arrays == 1 ? 16 : 8;

	(void)rule;
	return (struct work){ .bytes = g->threads * elements * name->size * arrays };
}

/* <functor, array<char *, N>, elements, ...>: as many as the name says. */
static struct work unrolled(const struct rule *rule, const struct sim_reading *name,
			    const struct geometry *g)
{
	double arrays = name->arrays ? name->arrays : 2, elements = name->items ? name->items : 4;

	(void)rule;
	return (struct work){ .bytes = g->threads * elements * name->size * arrays };
}

/* <threads, elements, lambda>: strided; the name tells of operands by its functor alone. */
static struct work legacy(const struct rule *rule, const struct sim_reading *name,
			  const struct geometry *g)
{
	double elements = name->number[1] ? name->number[1] : 4;
	double arrays = rule->arrays + (name->two ? 1 : 0);

	return (struct work){ .bytes = g->threads * elements * name->size * arrays };
}

/* As many elements per thread as the name's first number says. */
static struct work by_first(const struct rule *rule, const struct sim_reading *name,
			    const struct geometry *g)
{
	return moved(rule, name, g->threads * (name->number[0] ? name->number[0] : 4));
}

/* The same by its second one. */
static struct work by_second(const struct rule *rule, const struct sim_reading *name,
			     const struct geometry *g)
{
	return moved(rule, name, g->threads * (name->number[1] ? name->number[1] : 4));
}

/*
 * A block per chunk of 65536 elements, taken as full. One list is read and written; of two and
 * three one more is written; of four and more (fused optimizers) all but the gradients are.
 */
static struct work chunks(const struct rule *rule, const struct sim_reading *name,
			  const struct geometry *g)
{
	double lists = name->lists ? name->lists : 1;
	double arrays = lists < 4 ? lists + 1 : 2 * lists - 1;

	(void)rule;
	return (struct work){ .bytes = g->blocks * 65536 * name->size * arrays };
}

/* A row of 2^n elements per warp, two where they have at most 128. */
static struct work warps(const struct rule *rule, const struct sim_reading *name,
			 const struct geometry *g)
{
	unsigned log = name->number[0] < 20 ? name->number[0] : 0;
	double rows = g->blocks * g->block_y * (log <= 7 ? 2 : 1);

	return moved(rule, name, rows * (double)(1u << log));
}

/* ---- attention ---- */

/* Q K' and P V over a square: 4 side^2 depth operations per head; half where causal. */
static double attention(double side, double depth, double heads, bool causal)
{
	return 4 * side * side * depth * heads * (causal ? 0.5 : 1);
}

/* Blocks of rows along x; batch and heads along y and z. As many keys as rows. */
static struct work flash_forward(const struct rule *rule, const struct sim_reading *name,
				 const struct geometry *g)
{
	const unsigned *n = name->number; /* depth, rows, keys, warps, 2 flags, 4 again, flags */

	(void)rule;
	return (struct work){ .flops = attention(g->x * n[1], n[0], g->y * g->z, n[11]) };
}

/* The same without dropout among its flags. */
static struct work flash_split(const struct rule *rule, const struct sim_reading *name,
			       const struct geometry *g)
{
	const unsigned *n = name->number;

	(void)rule;
	return (struct work){ .flops = attention(g->x * n[1], n[0], g->y * g->z, n[10]) };
}

/* Blocks of keys along x; five products where the forward pass has two. */
static struct work flash_backward(const struct rule *rule, const struct sim_reading *name,
				  const struct geometry *g)
{
	const unsigned *n = name->number; /* the same with three more of warps */

	(void)rule;
	return (struct work){ .flops = 2.5 * attention(g->x * n[2], n[0], g->y * g->z, n[14]) };
}

/* A block of rows x depth. */
static struct work flash_rows(const struct rule *rule, const struct sim_reading *name,
			      const struct geometry *g)
{
	return moved(rule, name, g->blocks * name->number[0] * name->number[1]);
}

/* fmha_cutlassF_bf16_aligned_64x64_rf_sm80: 64 rows per block; the depth is taken as 64. */
static struct work fmha(const struct rule *rule, const struct sim_reading *name,
			const struct geometry *g)
{
	double once = attention(g->x * 64, 64, g->y * g->z, false);

	(void)name;
	return (struct work){ .flops = rule->elements * once };
}

/* ---- the table; the first that fits ---- */

static const struct rule rules[] = {
	{ "vectorized_elementwise_kernel", vectorized, 8, 0, 1 },
	{ "unrolled_elementwise_kernel", unrolled, 0, 0, 1 },
	{ "unrolled_elementwise_kernel_for_multi_outputs", by_thread, 4, 3, 1 },
	{ "elementwise_kernel", legacy, 0, 2, 0.45 },
	{ "index_elementwise_kernel", by_second, 0, 3, 0.45 },
	{ "_scatter_gather_elementwise_kernel", by_second, 0, 3, 0.45 },
	{ "elementwise_kernel_with_index", by_thread, 1, 1, 1 },
	{ "distribution_elementwise_grid_stride_kernel", by_first, 0, 1, 1 },
	{ "distribution_binary_elementwise_kernel", by_thread, 4, 3, 1 },
	{ "fused_dropout_kernel_vec", by_second, 0, 3, 1 },
	{ "fused_dropout_kernel", by_thread, 4, 3, 1 },
	{ "triu_tril_kernel", by_second, 0, 2, 1 },
	{ "multi_tensor_apply_kernel", chunks, 0, 0, 0.8 },
	{ "lpnorm_cleanup", by_thread, 1, 1, 1 },

	{ "reduce_kernel", by_thread, 16, 1, 1 },
	{ "softmax_warp_forward", warps, 0, 2, 1 },
	{ "softmax_warp_backward", warps, 0, 3, 1 },
	{ "cunn_SoftMaxForward*", by_first, 0, 3, 0.5 },
	{ "cunn_SoftMaxBackward*", by_first, 0, 4, 0.5 },
	{ "cunn_SpatialSoftMax*", by_thread, 4, 3, 0.5 },
	{ "vectorized_layer_norm_kernel", by_thread, 8, 2, 0.6 },
	{ "layer_norm_grad_input_kernel*", by_thread, 8, 3, 0.6 },
	{ "GammaBetaBackward*", by_thread, 16, 2, 0.6 },
	{ "RowwiseMoments*", by_thread, 8, 1, 0.6 },
	{ "batch_norm_collect*", by_thread, 4, 1, 0.6 },
	{ "batch_norm_*", by_thread, 4, 2, 0.6 },
	{ "nll_loss*", by_thread, 1, 2, 1 },

	{ "vectorized_gather_kernel", by_thread, 4, 2, 0.8 },
	{ "indexSelect*", by_thread, 4, 2, 0.45 },
	{ "indexing_backward_kernel*", by_thread, 4, 3, 0.45 },
	{ "embedding_backward*", by_thread, 4, 3, 0.45 },
	{ "compute_grad_weight*", by_thread, 4, 2, 0.45 },
	{ "sum_and_scatter", by_thread, 4, 2, 0.45 },
	{ "CatArrayBatchedCopy*", by_thread, 8, 2, 0.6 },

	{ "max_pool_forward*", by_thread, 1, 10, 1 },
	{ "max_pool_backward*", by_thread, 1, 3, 0.6 },
	{ "avg_pool2d*", by_thread, 1, 10, 1 },
	{ "adaptive*", by_thread, 4, 2, 0.6 },
	{ "upsample_*", by_thread, 1, 5, 0.6 },
	{ "im2col_kernel", by_thread, 1, 18, 1 },
	{ "col2im_*", by_thread, 1, 10, 1 },

	{ "flash_fwd_kernel", flash_forward, 0, 0, 0.45 },
	{ "flash_fwd_splitkv_kernel", flash_split, 0, 0, 0.45 },
	{ "flash_fwd_splitkv_combine_kernel", by_thread, 4, 2, 1 },
	{ "flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel", flash_backward, 0, 0, 0.45 },
	{ "flash_bwd_dot_do_o_kernel", flash_rows, 0, 2, 1 },
	{ "flash_bwd_convert_dq_kernel", flash_rows, 0, 3, 1 },
	{ "fmha_cutlassF_*", fmha, 1, 0, 0.3 },
	{ "fmha_cutlassB_*", fmha, 2.5, 0, 0.3 },

	{ "DeviceRadixSort*", by_thread, 16, 4, 0.6 },
	{ "DeviceMergeSort*", by_thread, 16, 4, 0.6 },
	{ "DeviceScan*", by_thread, 16, 2, 0.8 },
	{ "DeviceReduce*", by_thread, 16, 1, 0.8 },
	{ "DeviceSelect*", by_thread, 16, 2, 0.8 },
	{ "triton_*", by_thread, 8, 3, 0.9 },
};

static bool fits(const char *word, const char *text, size_t length)
{
	size_t n = strlen(word);

	if (word[n - 1] == '*')
		return length >= n - 1 && !memcmp(text, word, n - 1);
	return length == n && !memcmp(text, word, n);
}

static const void *match(const char *text, size_t length)
{
	const struct rule *rule;

	for (rule = rules; rule < rules + sizeof rules / sizeof *rules; rule++)
		if (fits(rule->word, text, length))
			return rule;
	return NULL;
}

/* ---- names read once ---- */

#define BUCKETS 4096

struct known {
	struct known *next;
	const struct rule *rule; /* NULL: unknown */
	struct sim_reading reading;
	char name[];
};

static struct known *table[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* By address: the driver has one copy of each name (names.h), too long to hash at each launch. */
static size_t bucket(const char *name)
{
	return ((uintptr_t)name >> 4) % BUCKETS;
}

static struct known *read_name(const char *name)
{
	struct known *k = calloc(1, sizeof *k + strlen(name) + 1);

	if (!k)
		return NULL;
	strcpy(k->name, name);
	k->rule = sim_name_read(name, match, &k->reading);
	return k;
}

/* NULL without memory. */
static const struct known *look_up(const char *name)
{
	struct known **head = &table[bucket(name)], *k;

	pthread_mutex_lock(&lock);
	for (k = *head; k && strcmp(k->name, name); k = k->next)
		;
	if (!k && (k = read_name(name))) {
		k->next = *head;
		*head = k;
	}
	pthread_mutex_unlock(&lock);
	return k;
}

/* Of 16-bit elements tensor cores are what works on them; other attention is not in the table. */
static uint64_t length(const struct rule *rule, const struct sim_reading *reading,
		       const struct geometry *g)
{
	struct work work = rule->work(rule, reading, g);

	return gpusim_length_work(work.flops / rule->pace, work.bytes / rule->pace,
				  reading->size == 2 ? GPUSIM_F16 : GPUSIM_TF32);
}

uint64_t gpusim_length_kernel(const char *name, const unsigned grid[3], const unsigned block[3])
{
	const struct known *k = look_up(name);
	struct geometry g = {
		.blocks = (double)grid[0] * grid[1] * grid[2],
		.x = grid[0],
		.y = grid[1],
		.z = grid[2],
		.block_y = block[1],
	};

	if (!k || !k->rule)
		return SIM_LENGTH_UNKNOWN_NS;
	g.threads = g.blocks * block[0] * block[1] * block[2];
	return length(k->rule, &k->reading, &g);
}
