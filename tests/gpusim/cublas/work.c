/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work.c - one kernel per call: its name, geometry and length.
 */
#include <stdio.h>

#include "blas.h"

#define TILE 128 /* of results, in both directions */

static const struct element {
	int data;
	const char *name;
	enum gpusim_type type;
	unsigned size;
	bool complex;
} elements[] = {
	{ BLAS_R_32F, "f32", GPUSIM_F32, 4, false },
	{ BLAS_R_64F, "f64", GPUSIM_F64, 8, false },
	{ BLAS_R_16F, "f16", GPUSIM_F16, 2, false },
	{ BLAS_R_16BF, "bf16", GPUSIM_F16, 2, false },
	{ BLAS_R_8I, "i8", GPUSIM_I8, 1, false },
	{ BLAS_R_32I, "i32", GPUSIM_F32, 4, false },
	{ BLAS_R_8F_E4M3, "e4m3", GPUSIM_F8, 1, false },
	{ BLAS_R_8F_E5M2, "e5m2", GPUSIM_F8, 1, false },
	{ BLAS_R_4F_E2M1, "e2m1", GPUSIM_F8, 1, false },
	{ BLAS_C_32F, "c32", GPUSIM_F32, 8, true },
	{ BLAS_C_64F, "c64", GPUSIM_F64, 16, true },
};

static const struct element *element(int data)
{
	size_t i;

	for (i = 0; i < sizeof elements / sizeof *elements; i++)
		if (elements[i].data == data)
			return &elements[i];
	return NULL;
}

unsigned blas_size(int data)
{
	const struct element *e = element(data);

	return e ? e->size : 0;
}

enum gpusim_type blas_type(int data, int compute)
{
	const struct element *e = element(data);

	if (!e || e->type != GPUSIM_F32)
		return e ? e->type : GPUSIM_F32;
	switch (compute) {
	case BLAS_COMPUTE_32F_FAST_TF32:
		return GPUSIM_TF32;
	case BLAS_COMPUTE_32F_FAST_16F:
	case BLAS_COMPUTE_32F_FAST_16BF:
		return GPUSIM_F16;
	default:
		return GPUSIM_F32;
	}
}

static const char *accumulator(int compute)
{
	switch (compute) {
	case BLAS_COMPUTE_16F:
		return "f16";
	case BLAS_COMPUTE_64F:
		return "f64";
	case BLAS_COMPUTE_32I:
		return "i32";
	default:
		return "f32";
	}
}

/* Launches under the runtime's call that a library shows which has the runtime linked in. */
static int launch(const char *name, const unsigned grid[3], unsigned threads, uint64_t length,
		  void *stream)
{
	struct gpusim_launch l = {
		.kernel = gpusim_kernel(name),
		.grid = { grid[0], grid[1], grid[2] },
		.block = { threads, 1, 1 },
		.stream = stream,
		.length_ns = length,
	};

	if (!l.kernel)
		return BLAS_ALLOC_FAILED;
	return gpusim_launch(&l, SIM_CBID_cudaLaunchKernelExC) ? BLAS_EXECUTION_FAILED : 0;
}

/* Operands, what is multiplied (or results), sums; as NVIDIA's names have it. */
static void product_name(const struct blas_product *p, char *name, size_t size)
{
	bool tf32 = blas_type(p->a, p->compute) == GPUSIM_TF32;
	const char *sum = accumulator(p->compute);

	snprintf(name, size, "sm90_xmma_gemm_%s%s_%s%s_%s_%c%c_n_tilesize128x128%s_simulated",
		 element(p->a)->name, element(p->b)->name, tf32 ? "tf32" : element(p->c)->name, sum,
		 sum, p->transposed_a ? 't' : 'n', p->transposed_b ? 't' : 'n',
		 p->epilogue ? p->epilogue : "");
}

/* A complex product is four real ones; an element's bytes are counted as they are. */
static uint64_t product_length(const struct blas_product *p)
{
	const struct element *a = element(p->a), *b = element(p->b), *c = element(p->c);
	double m = (double)p->m, n = (double)p->n, k = (double)p->k, batch = (double)p->batch;
	double bytes = m * k * a->size + k * n * b->size + m * n * c->size;

	return gpusim_length_work((a->complex ? 8 : 2) * m * n * k * batch, bytes * batch,
				  blas_type(p->a, p->compute));
}

static unsigned tiles(int64_t n, int64_t tile)
{
	return (unsigned)((n + tile - 1) / tile);
}

int blas_product_launch(const struct blas_product *p, void *stream)
{
	unsigned grid[3] = { tiles(p->m, TILE), tiles(p->n, TILE), (unsigned)p->batch };
	char name[128];

	if (p->m < 0 || p->n < 0 || p->k < 0 || p->batch < 0)
		return BLAS_INVALID_VALUE;
	if (!element(p->a) || !element(p->b) || !element(p->c))
		return BLAS_NOT_SUPPORTED;
	if (!p->m || !p->n || !p->batch)
		return BLAS_SUCCESS;
	product_name(p, name, sizeof name);
	return launch(name, grid, 384, product_length(p), stream);
}

int blas_work_launch(const struct blas_work *w, void *stream)
{
	unsigned grid[3] = { tiles(w->elements, 256), 1, 1 };
	const struct element *e = element(w->data);
	char name[128];

	if (w->elements < 0)
		return BLAS_INVALID_VALUE;
	if (!e)
		return BLAS_NOT_SUPPORTED;
	if (!w->elements)
		return BLAS_SUCCESS;
	snprintf(name, sizeof name, "%s_%s_simulated", w->name, e->name);
	return launch(name, grid, 256,
		      gpusim_length_work(w->flops * (e->complex ? 4 : 1), w->bytes, e->type),
		      stream);
}
