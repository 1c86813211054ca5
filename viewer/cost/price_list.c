/* SPDX-License-Identifier: Apache-2.0 */
/* Price lists in memory; the lists are small, so that every search is linear. */
#include "price_list.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "cost.h"
#include "base/csv.h"
#include "core/embedded.h"
#include "base/files.h"
#include "base/units.h"

enum column {
	GPU,
	PROVIDER,
	INSTANCE_TYPE,
	GPU_COUNT,
	USD,
	MODEL,
	REGION,
	SOURCE,
	DATE,
	COLUMNS
};
static const char *const column_names[COLUMNS] = {
	[GPU] = "gpu",
	[PROVIDER] = "provider",
	[INSTANCE_TYPE] = "instance_type",
	[GPU_COUNT] = "gpu_count",
	[USD] = "usd_per_gpu_hour",
	[MODEL] = "price_model",
	[REGION] = "region",
	[SOURCE] = "source",
	[DATE] = "date",
};

static void drop_from(char *text, const char *mark)
{
	char *at = strstr(text, mark);

	if (at)
		*at = '\0';
}

void view_gpu_key(char *out, size_t room, const char *name)
{
	if (!strncasecmp(name, "nvidia ", 7))
		name += 7;
	if (!strncasecmp(name, "tesla ", 6))
		name += 6;
	snprintf(out, room, "%s", name);
	for (char *p = out; *p; p++)
		if (*p >= 'A' && *p <= 'Z')
			*p = (char)(*p + 'a' - 'A');
	drop_from(out, " (simulated)");
	drop_from(out, " mig ");
}

static const char *next_word(const char *p, size_t *len)
{
	while (*p && !isalnum((unsigned char)*p))
		p++;
	for (*len = 0; isalnum((unsigned char)p[*len]);)
		++*len;
	return p;
}

bool view_gpu_has_words(const char *name, const char *words)
{
	size_t len, own_len;
	bool any = false;

	for (const char *w = next_word(words, &len); len; w = next_word(w + len, &len)) {
		const char *own = next_word(name, &own_len);
		while (own_len && (own_len != len || strncasecmp(own, w, len) != 0))
			own = next_word(own + own_len, &own_len);
		if (!own_len)
			return false;
		any = true;
	}
	return any;
}

static void add_row(struct view_prices *p, const struct view_price *row)
{
	if (p->rows == p->room) {
		size_t room = p->room ? p->room * 2 : 64;
		struct view_price *more = base_arena_array(&p->mem, room, sizeof(*more));
		if (p->rows)
			memcpy(more, p->row, p->rows * sizeof(*more));
		p->row = more;
		p->room = room;
	}
	p->row[p->rows++] = *row;
}

void view_prices_add_bad(struct view_prices *p, int line, const char *why)
{
	if (p->bads == p->bad_room) {
		size_t room = p->bad_room ? p->bad_room * 2 : 16;
		char **more = base_arena_array(&p->mem, room, sizeof(*more));
		if (p->bads)
			memcpy(more, p->bad, p->bads * sizeof(*more));
		p->bad = more;
		p->bad_room = room;
	}
	p->bad[p->bads++] = base_arena_printf(&p->mem, "line %d: %s", line, why);
}

bool view_prices_is_day(const char *text)
{
	static const char shape[] = "dddd-dd-dd";

	for (int i = 0; shape[i]; i++)
		if (shape[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != '-')
			return false;
	return text[10] == '\0';
}

static bool is_model(const char *text)
{
	return !strcmp(text, "on-demand") || !strcmp(text, "spot") || !strcmp(text, "reserved") ||
	       !strcmp(text, "owned");
}

/* NULL: the row is good. */
static const char *row_of(struct view_price *row, const char *const cell[COLUMNS])
{
	*row = (struct view_price){ .gpu = cell[GPU],
				    .provider = cell[PROVIDER],
				    .instance_type = cell[INSTANCE_TYPE],
				    .price_model = cell[MODEL][0] ? cell[MODEL] : "on-demand",
				    .region = cell[REGION],
				    .source = cell[SOURCE],
				    .date = cell[DATE],
				    .gpu_count = atoi(cell[GPU_COUNT]) };
	if (!row->gpu[0])
		return "no gpu";
	if (view_cost_parse(cell[USD], &row->nano_usd_per_hour))
		return "usd_per_gpu_hour is not a price such as 6.88";
	if (!is_model(row->price_model))
		return "price_model is not one of on-demand, spot, reserved, owned";
	if (!row->source[0])
		return "no source (who says so)";
	if (!view_prices_is_day(row->date))
		return "no date as YYYY-MM-DD";
	return NULL;
}

static void find_columns(int at[], const char *const names[], int columns, const char *const *field,
			 int fields)
{
	for (int c = 0; c < columns; c++) {
		at[c] = -1;
		for (int i = 0; i < fields; i++)
			if (!strcasecmp(field[i], names[c]))
				at[c] = i;
	}
}

int view_prices_parse(struct view_prices *p, const char *text, size_t len, const char **why)
{
	const char *field[BASE_CSV_FIELDS], *cell[COLUMNS];
	int at[COLUMNS], n;
	struct base_csv csv;

	base_csv_init(&csv, text, len);
	n = base_csv_row(&csv, &p->mem, field);
	find_columns(at, column_names, COLUMNS, field, n);
	if (!n || at[GPU] < 0 || at[USD] < 0 || at[SOURCE] < 0 || at[DATE] < 0) {
		*why = "its first line does not name the columns gpu, usd_per_gpu_hour, source, date";
		return -EBADMSG;
	}
	while ((n = base_csv_row(&csv, &p->mem, field)) > 0) {
		struct view_price row;
		for (int c = 0; c < COLUMNS; c++)
			cell[c] = at[c] >= 0 && at[c] < n ? field[at[c]] : "";
		const char *bad = row_of(&row, cell);
		if (bad)
			view_prices_add_bad(p, csv.line, bad);
		else
			add_row(p, &row);
	}
	return 0;
}

int view_prices_read(struct view_prices *p, const char *path, const char **why)
{
	char *text;
	size_t len;
	int err = base_file_read(path, &text, &len);

	if (!err) {
		err = view_prices_parse(p, text, len, why);
		free(text);
	}
	return err;
}

const char *view_prices_site(void)
{
	const char *env = getenv("GPUSTARVE_PRICES");

	return env && env[0] ? env : VIEW_PRICES_SITE_FILE;
}

void view_prices_builtin(struct view_prices *p)
{
	const char *why;

	view_prices_parse(p, (const char *)view_embedded_catalogue, view_embedded_catalogue_len,
			  &why);
}

bool view_price_is_guide(const struct view_price *row)
{
	return !strcmp(row->provider, "guide");
}

/* 0: no match, 1: by pattern, 2: by name. */
static int gpu_match(const struct view_price *row, const char *key)
{
	char own[160];

	view_gpu_key(own, sizeof(own), row->gpu);
	if (!strcmp(own, key))
		return 2;
	return strpbrk(own, "*?[") && !fnmatch(own, key, 0);
}

/* How well a row fits where the machine is: 3 instance, 2 provider, 1 anywhere, 0 not at all. */
static int place_match(const struct view_price *row, const struct view_price_query *q)
{
	bool everywhere = !row->provider[0] && !row->instance_type[0];

	if (q->instance_type[0] && !strcasecmp(row->instance_type, q->instance_type))
		return 4;
	if (q->provider[0] && !strcasecmp(row->provider, q->provider))
		return 3;
	if (everywhere)
		return 3; /* a site's own price: it holds wherever the site's machines are */
	if (q->provider[0])
		return 0;
	return view_price_is_guide(row) ? 1 : 2;
}

static bool better(const struct view_price *a, const struct view_price *b)
{
	if (a->nano_usd_per_hour != b->nano_usd_per_hour)
		return a->nano_usd_per_hour < b->nano_usd_per_hour;
	return strcmp(a->date, b->date) > 0;
}

const struct view_price *view_prices_find(const struct view_prices *p,
					  const struct view_price_query *q, bool *assumed)
{
	const struct view_price *best = NULL;
	int best_rank = 0;
	char key[160];

	view_gpu_key(key, sizeof(key), q->gpu);
	for (size_t i = 0; i < p->rows; i++) {
		const struct view_price *row = &p->row[i];
		int place = place_match(row, q), name = gpu_match(row, key);
		int rank = place * 4 + name;
		if (!place || !name || strcasecmp(row->price_model, q->price_model))
			continue;
		if (rank > best_rank || (rank == best_rank && better(row, best))) {
			best = row;
			best_rank = rank;
		}
	}
	*assumed = best && best_rank / 4 <= 2;
	return best;
}

static bool same_key(const struct view_price *a, const struct view_price *b)
{
	return !strcasecmp(a->gpu, b->gpu) && !strcasecmp(a->provider, b->provider) &&
	       !strcasecmp(a->instance_type, b->instance_type) &&
	       !strcasecmp(a->price_model, b->price_model) && !strcasecmp(a->region, b->region);
}

void view_prices_put(struct view_prices *p, const struct view_price *row)
{
	struct view_price own = *row;

	own.gpu = base_arena_text(&p->mem, row->gpu);
	own.provider = base_arena_text(&p->mem, row->provider);
	own.instance_type = base_arena_text(&p->mem, row->instance_type);
	own.price_model = base_arena_text(&p->mem, row->price_model);
	own.region = base_arena_text(&p->mem, row->region);
	own.source = base_arena_text(&p->mem, row->source);
	own.date = base_arena_text(&p->mem, row->date);
	for (size_t i = 0; i < p->rows; i++) {
		if (same_key(&p->row[i], row)) {
			p->row[i] = own;
			return;
		}
	}
	add_row(p, &own);
}

void view_prices_write(const struct view_prices *p, FILE *f)
{
	for (int c = 0; c < COLUMNS; c++)
		fprintf(f, "%s%s", c ? "," : "", column_names[c]);
	fputc('\n', f);
	for (size_t i = 0; i < p->rows; i++) {
		const struct view_price *r = &p->row[i];
		char count[16], usd[48];
		base_dollars_exact(usd, r->nano_usd_per_hour);
		snprintf(count, sizeof(count), "%d", r->gpu_count);
		if (!r->gpu_count)
			count[0] = '\0';
		const char *cell[COLUMNS] = { r->gpu,	 r->provider, r->instance_type,
					      count,	 usd,	      r->price_model,
					      r->region, r->source,   r->date };
		for (int c = 0; c < COLUMNS; c++) {
			if (c)
				fputc(',', f);
			base_csv_put(f, cell[c]);
		}
		fputc('\n', f);
	}
}

void view_prices_fini(struct view_prices *p)
{
	base_arena_fini(&p->mem);
	*p = (struct view_prices){ 0 };
}
