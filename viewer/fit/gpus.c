/* SPDX-License-Identifier: Apache-2.0 */
#include "gpus.h"

#include <stdlib.h>
#include <string.h>
#include "base/csv.h"
#include "core/embedded.h"
#include "cost/amount.h"
#include "cost/price_list.h"

#define GIB (INT64_C(1) << 30)
#define NANO 1000000000

/* The columns, as its first line has them. */
enum column {
	GPU,
	MEMORY_GIB,
	MEMORY,
	HOST,
	LINK,
	FP64,
	FP32,
	TF32,
	BF16,
	FP16,
	FP8,
	INT8,
	SOURCE,
	DATE,
	COLUMNS
};

static const struct {
	enum column column;
	int precision;
} peaks[] = {
	{ FP64, FACTS_PRECISION_FP64 }, { FP32, FACTS_PRECISION_FP32 },
	{ TF32, FACTS_PRECISION_TF32 }, { BF16, FACTS_PRECISION_BF16 },
	{ FP16, FACTS_PRECISION_FP16 }, { FP8, FACTS_PRECISION_FP8 },
	{ INT8, FACTS_PRECISION_INT8 },
};

static int64_t figure(const char *text)
{
	int64_t nano;

	if (!strcmp(text, "-"))
		return FIT_NONE;
	return view_cost_parse(text, &nano) ? FIT_UNKNOWN : nano;
}

static void take(struct fit_gpu *g, const char *const cell[])
{
	*g = (struct fit_gpu){ .name = cell[GPU],
			       .memory_bytes = (uint64_t)(figure(cell[MEMORY_GIB]) / NANO * GIB),
			       .memory = figure(cell[MEMORY]),
			       .host = figure(cell[HOST]),
			       .link = figure(cell[LINK]),
			       .source = cell[SOURCE],
			       .date = cell[DATE] };
	for (size_t i = 0; i < sizeof(peaks) / sizeof(peaks[0]); i++)
		g->peak[peaks[i].precision] = figure(cell[peaks[i].column]);
}

void fit_gpus_read(struct fit_gpus *g)
{
	const char *field[BASE_CSV_FIELDS];
	struct base_csv csv;
	size_t room = 0;

	*g = (struct fit_gpus){ 0 };
	base_csv_init(&csv, (const char *)view_embedded_gpus, view_embedded_gpus_len);
	base_csv_row(&csv, &g->mem, field); /* the columns' names */
	while (base_csv_row(&csv, &g->mem, field) >= COLUMNS) {
		if (g->gpus == room) {
			struct fit_gpu *more =
				base_arena_array(&g->mem, 2 * room + 16, sizeof(*more));
			if (g->gpus)
				memcpy(more, g->gpu, g->gpus * sizeof(*more));
			g->gpu = more;
			room = 2 * room + 16;
		}
		take(&g->gpu[g->gpus++], field);
	}
}

const struct fit_gpu *fit_gpus_find(const struct fit_gpus *g, const char *name)
{
	char key[160], own[160];

	view_gpu_key(key, sizeof(key), name);
	for (size_t i = 0; i < g->gpus; i++) {
		view_gpu_key(own, sizeof(own), g->gpu[i].name);
		if (!strcmp(own, key))
			return &g->gpu[i];
	}
	return NULL;
}

void fit_gpus_fini(struct fit_gpus *g)
{
	base_arena_fini(&g->mem);
	*g = (struct fit_gpus){ 0 };
}
