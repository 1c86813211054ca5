/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SkyPilot's catalogue of one cloud: a price per instance and zone, GPUs under short names. Becomes
 * one row per GPU, instance, region and price model: the cheapest zone's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "cost.h"
#include "base/csv.h"
#include "price_list.h"
#include "base/units.h"

enum column {
	INSTANCE,
	ACCELERATOR,
	COUNT,
	PRICE,
	SPOT,
	REGION,
	COLUMNS
};
static const char *const names[COLUMNS] = { "InstanceType", "AcceleratorName", "AcceleratorCount",
					    "Price",	    "SpotPrice",       "Region" };

/* Its short names, and what the driver calls the same GPU. Others are taken as they are. */
static const char *const gpu_names[][2] = {
	{ "A10", "NVIDIA A10" },
	{ "A100", "NVIDIA A100-SXM4-40GB" },
	{ "A100-80GB", "NVIDIA A100-SXM4-80GB" },
	{ "A100-80GB-SXM", "NVIDIA A100-SXM4-80GB" },
	{ "A10G", "NVIDIA A10G" },
	{ "A30", "NVIDIA A30" },
	{ "A40", "NVIDIA A40" },
	{ "B200", "NVIDIA B200" },
	{ "GB200", "NVIDIA GB200" },
	{ "GH200", "NVIDIA GH200 480GB" },
	{ "H100", "NVIDIA H100 80GB HBM3" },
	{ "H100-SXM", "NVIDIA H100 80GB HBM3" },
	{ "H100-80GB", "NVIDIA H100 80GB HBM3" },
	{ "H100-NVL", "NVIDIA H100 NVL" },
	{ "H100-PCIe", "NVIDIA H100 PCIe" },
	{ "H200", "NVIDIA H200" },
	{ "H200-SXM", "NVIDIA H200" },
	{ "L4", "NVIDIA L4" },
	{ "L40", "NVIDIA L40" },
	{ "L40S", "NVIDIA L40S" },
	{ "RTXA6000", "NVIDIA RTX A6000" },
	{ "RTX4090", "NVIDIA GeForce RTX 4090" },
	{ "T4", "Tesla T4" },
	{ "V100", "Tesla V100-SXM2-16GB" },
	{ "V100-32GB", "Tesla V100-SXM2-32GB" },
};

static const char *driver_name(const char *name)
{
	for (size_t i = 0; i < sizeof(gpu_names) / sizeof(gpu_names[0]); i++)
		if (!strcasecmp(gpu_names[i][0], name))
			return gpu_names[i][1];
	return name;
}

static int columns_of(int at[COLUMNS], const char *const *field, int fields)
{
	int found = 0;

	for (int c = 0; c < COLUMNS; c++) {
		at[c] = -1;
		for (int i = 0; i < fields; i++)
			if (!strcmp(field[i], names[c]))
				at[c] = i;
		found += at[c] >= 0;
	}
	return found;
}

bool view_prices_is_skypilot(const char *text, size_t len)
{
	const char *field[BASE_CSV_FIELDS];
	struct base_arena mem = { 0 };
	int at[COLUMNS];
	struct base_csv csv;

	base_csv_init(&csv, text, len);
	int n = base_csv_row(&csv, &mem, field);
	bool is = columns_of(at, field, n) == COLUMNS;
	base_arena_fini(&mem);
	return is;
}

/* "8" or "8.0"; 0: none (parts of a GPU are none either). */
static int whole_count(const char *text)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (*end == '.')
		end += 1 + strspn(end + 1, "0");
	return *end || n < 1 || n > 1024 ? 0 : (int)n;
}

/* Prices may carry more digits than a nano-dollar has; the rest is cut. */
static bool dollars(const char *text, int64_t *nano)
{
	char digits[64];

	snprintf(digits, sizeof(digits), "%s", text);
	char *point = strchr(digits, '.');
	if (point && strlen(point) > 10)
		point[10] = '\0';
	return text[0] && !view_cost_parse(digits, nano);
}

static const struct view_price *same(const struct view_prices *p, const struct view_price *row)
{
	for (size_t i = 0; i < p->rows; i++) {
		const struct view_price *r = &p->row[i];
		if (!strcmp(r->gpu, row->gpu) && !strcmp(r->provider, row->provider) &&
		    !strcmp(r->instance_type, row->instance_type) &&
		    !strcmp(r->region, row->region) && !strcmp(r->price_model, row->price_model))
			return r;
	}
	return NULL;
}

static void add(struct view_prices *p, struct view_price row, const char *price, const char *model)
{
	int64_t nano;

	if (!dollars(price, &nano))
		return;
	row.price_model = model;
	row.nano_usd_per_hour = base_div_even(nano, row.gpu_count);
	const struct view_price *have = same(p, &row);
	if (!have || have->nano_usd_per_hour > row.nano_usd_per_hour)
		view_prices_put(p, &row);
}

int view_prices_parse_skypilot(struct view_prices *p, const char *text, size_t len,
			       const char *provider, const char *source, const char *date,
			       const char **why)
{
	const char *field[BASE_CSV_FIELDS];
	struct base_csv csv;
	int at[COLUMNS], n;

	base_csv_init(&csv, text, len);
	n = base_csv_row(&csv, &p->mem, field);
	if (columns_of(at, field, n) != COLUMNS) {
		*why = "its first line does not name SkyPilot's columns";
		return -EBADMSG;
	}
	while ((n = base_csv_row(&csv, &p->mem, field)) > 0) {
		const char *cell[COLUMNS];
		for (int c = 0; c < COLUMNS; c++)
			cell[c] = at[c] < n ? field[at[c]] : "";
		int count = whole_count(cell[COUNT]);
		if (!cell[ACCELERATOR][0] || !count)
			continue;
		if (!cell[INSTANCE][0]) {
			view_prices_add_bad(p, csv.line, "prices the GPU apart from its machine");
			continue;
		}
		struct view_price row = { .gpu = driver_name(cell[ACCELERATOR]),
					  .provider = provider,
					  .instance_type = cell[INSTANCE],
					  .region = cell[REGION],
					  .source = source,
					  .date = date,
					  .gpu_count = count };
		add(p, row, cell[PRICE], "on-demand");
		add(p, row, cell[SPOT], "spot");
	}
	return 0;
}
