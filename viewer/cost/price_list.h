/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of prices per GPU and hour: the built-in catalogue, a site file of the same columns, and
 * SkyPilot's CSV. Who may use which price is rates.h; this is reading, matching and writing.
 * A row without a source or a date is no row.
 */
#ifndef VIEW_PRICE_LIST_H
#define VIEW_PRICE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "base/arena.h"

#define VIEW_PRICES_SITE_FILE "/etc/gpustarve/prices.csv"

struct view_price {
	const char *gpu; /* as the driver names it; in site files a shell pattern may stand here */
	/* never NULL */
	const char *provider, *instance_type, *price_model, *region, *source, *date;
	int gpu_count; /* of the instance, 0: not said */
	int64_t nano_usd_per_hour; /* of one GPU */
};

struct view_prices {
	struct base_arena mem;
	struct view_price *row;
	size_t rows, room;
	char **bad; /* rows left out: "line 7: no date" */
	size_t bads, bad_room;
};

/* What a price is looked for. Texts may be "" (not known), never NULL. */
struct view_price_query {
	const char *gpu, *provider, *instance_type, *price_model;
};

/*
 * The GPU's name without what is no part of it: vendor, " (simulated)", " MIG 1g.10gb"; lower case.
 */
void view_gpu_key(char *out, size_t room, const char *name);

/*
 * Whether each word of @words ("H100", "a100 80gb") is one of the GPU's name, by letters and digits:
 * what a person types for "NVIDIA A100-SXM4-80GB".
 */
bool view_gpu_has_words(const char *name, const char *words);

/* Adds the rows of a CSV text. 0, or -EBADMSG with *why (static) when its header is not ours. */
int view_prices_parse(struct view_prices *p, const char *text, size_t len, const char **why);

/* Adds the rows of a file. 0 or negative errno; -EBADMSG with *why. */
int view_prices_read(struct view_prices *p, const char *path, const char **why);

/* Where the site file is: GPUSTARVE_PRICES, else VIEW_PRICES_SITE_FILE. */
const char *view_prices_site(void);

/* Adds the built-in catalogue. */
void view_prices_builtin(struct view_prices *p);

/*
 * Adds the rows of SkyPilot's CSV, which prices whole instances: @provider (its files do not name
 * it), @source and @date go into each row. Rows without a GPU or a price are passed over; those
 * that price GPU and machine apart are left out and listed in bad. 0 or -EBADMSG with *why.
 */
int view_prices_parse_skypilot(struct view_prices *p, const char *text, size_t len,
			       const char *provider, const char *source, const char *date,
			       const char **why);
bool view_prices_is_skypilot(const char *text, size_t len);

/*
 * The row for a query; NULL: none. GPU and price model must match (an exact name before a
 * pattern). Then the first that has a row: this instance type; this provider; where neither is
 * known, any provider, guides last (*assumed is set). Of several the cheapest, then the newest,
 * then the first: the waste is then never overstated.
 */
const struct view_price *view_prices_find(const struct view_prices *p,
					  const struct view_price_query *q, bool *assumed);

bool view_price_is_guide(const struct view_price *row);

/* Adds a row, or replaces the one with the same GPU, provider, instance, model and region. */
void view_prices_put(struct view_prices *p, const struct view_price *row);

bool view_prices_is_day(const char *text); /* YYYY-MM-DD */

/* Notes a row that was left out. */
void view_prices_add_bad(struct view_prices *p, int line, const char *why);

/* Writes header and rows as CSV. */
void view_prices_write(const struct view_prices *p, FILE *f);

void view_prices_fini(struct view_prices *p);

#endif
