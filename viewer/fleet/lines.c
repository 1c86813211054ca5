/* SPDX-License-Identifier: Apache-2.0 */
#include "lines.h"

#include <string.h>
#include <time.h>
#include "base/minmax.h"

#define NS INT64_C(1000000000)
#define MONTHS_MAX 1200 /* a run of a hundred years is none */

/* Where the columns of FLEET_VIEW_LINES begin; the measures are last. */
enum column {
	RUN,
	TENANT,
	JOB,
	END,
	EXIT,
	WEEK,
	LABEL,
	UNITS,
	REST,
	GPU,
	MODEL,
	PRICE,
	SOURCE,
	DATE,
	NAMES,
	NUMBER = NAMES + FLEET_RUN_DIMS,
	START,
	WALL,
	RUN_PRICED,
	RUN_USD,
	RUN_HELD,
	PRICED,
	PER_HOUR,
	GPUS,
	MEASURES
};

struct reading {
	fleet_on_line *on_line;
	void *arg;
};

static void on_row(void *arg, const struct fleet_cell *cell)
{
	const struct reading *r = arg;
	struct fleet_rest_span span[FLEET_REST_SPANS_MAX];
	struct fleet_line_row l = {
		.run = cell[RUN].text,
		.tenant = cell[TENANT].text,
		.job = cell[JOB].text,
		.end = cell[END].text,
		.exit = cell[EXIT].text,
		.week = cell[WEEK].text,
		.label = cell[LABEL].text,
		.units = cell[UNITS].text,
		.first = cell[NUMBER].i == 0,
		.start_ns = (int64_t)cell[START].i,
		.wall_ns = (int64_t)cell[WALL].i,
		.run_priced = cell[RUN_PRICED].i != 0,
		.run_usd = (int64_t)cell[RUN_USD].i,
		.run_held_ns = (int64_t)cell[RUN_HELD].i,
		.gpu = cell[GPU].text,
		.model = cell[MODEL].text,
		.price = cell[PRICE].text,
		.source = cell[SOURCE].text,
		.date = cell[DATE].text,
		.priced = cell[PRICED].i != 0,
		.per_hour = (int64_t)cell[PER_HOUR].i,
		.gpus = (int64_t)cell[GPUS].i,
	};

	for (int d = 0; d < FLEET_RUN_DIMS; d++)
		l.name[d] = cell[NAMES + d].text;
	for (int m = 0; m < FLEET_MEASURES; m++)
		l.sums.m[m] = cell[MEASURES + m].i;
	l.spans = fleet_rest_spans_of(cell[REST].text, (size_t)cell[NUMBER].i, span);
	l.span = span;
	l.astray = fleet_rest_is_astray(cell[REST].text, l.wall_ns);
	r->on_line(r->arg, &l);
}

static void on_over(void *arg, const struct fleet_cell *cell)
{
	enum {
		SPANS,
		LINE,
		BEGAN,
		TOOK,
		SUMS
	};
	const struct reading *r = arg;
	struct fleet_rest_span span[FLEET_REST_SPANS_MAX];
	struct fleet_line_row l = {
		.first = cell[LINE].i == 0,
		.start_ns = (int64_t)cell[BEGAN].i,
		.wall_ns = (int64_t)cell[TOOK].i,
		.spans = fleet_rest_spans_of(cell[SPANS].text, (size_t)cell[LINE].i, span),
		.span = span,
		.astray = fleet_rest_is_astray(cell[SPANS].text, (int64_t)cell[TOOK].i),
	};

	for (int m = 0; m < FLEET_MEASURES; m++)
		l.sums.m[m] = cell[SUMS + m].i;
	r->on_line(r->arg, &l);
}

int fleet_each_over(struct fleet_store *s, const struct fleet_query *q, fleet_on_line *on_line,
		    void *arg)
{
	struct reading r = { on_line, arg };

	return fleet_store_read(s, FLEET_VIEW_OVER_MONTH, q, on_over, &r);
}

int fleet_each_line(struct fleet_store *s, const struct fleet_query *q, fleet_on_line *on_line,
		    void *arg)
{
	struct reading r = { on_line, arg };

	_Static_assert(MEASURES + FLEET_MEASURES <= 64, "FLEET_COLUMNS_MAX");
	return fleet_store_read(s, FLEET_VIEW_LINES, q, on_row, &r);
}

int fleet_each_crossing(struct fleet_store *s, const struct fleet_query *q, fleet_on_line *on_line,
			void *arg)
{
	struct reading r = { on_line, arg };

	return fleet_store_read(s, FLEET_VIEW_CROSSING, q, on_row, &r);
}

const char *fleet_line_name(const struct fleet_line_row *l, enum fleet_dim d)
{
	if (d < FLEET_RUN_DIMS)
		return l->name[d];
	switch (d) {
	case FLEET_DIM_GPU:
		return l->gpu;
	case FLEET_DIM_MODEL:
		return l->model;
	case FLEET_DIM_WEEK:
		return l->week;
	case FLEET_DIM_END:
		return l->end;
	default:
		return l->label;
	}
}

/* What lies before @t, cut: so that parts that adjoin lose and double nothing. */
static base_wide before(base_wide whole, int64_t start, int64_t wall, int64_t t)
{
	base_wide gone = (base_wide)t - start;

	if (gone <= 0)
		return 0;
	if (gone >= wall)
		return whole;
	return whole / wall * gone + whole % wall * gone / wall; /* whole x gone may be too wide */
}

base_wide fleet_part(base_wide whole, int64_t start, int64_t wall, int64_t from, int64_t to)
{
	if (wall <= 0)
		return start >= from && start < to ? whole : 0;
	return before(whole, start, wall, to) - before(whole, start, wall, from);
}

void fleet_month(char out[16], int64_t unix_ns, int64_t *next_ns)
{
	time_t t = (time_t)(unix_ns / NS - (unix_ns % NS < 0));
	struct tm tm = { 0 };

	out[0] = '\0';
	*next_ns = INT64_MAX;
	if (!gmtime_r(&t, &tm))
		return;
	strftime(out, 16, "%Y-%m", &tm);
	*next_ns = fleet_month_begin(unix_ns, 1);
}

void fleet_month_name(char out[16], int64_t months)
{
	snprintf(out, 16, "%04d-%02d", (int)(1970 + months / 12), (int)(months % 12 + 1));
}

bool fleet_line_is_over(const struct fleet_line_row *l)
{
	char first[16], last[16];
	int64_t next;

	if (l->astray || l->start_ns < 0 || l->start_ns >= FLEET_MONTHS_TO ||
	    l->wall_ns >= FLEET_MONTHS_TO - l->start_ns)
		return true;
	fleet_month(first, l->start_ns, &next);
	fleet_month(last, l->start_ns + base_max(l->wall_ns, INT64_C(1)) - 1, &next);
	return strcmp(first, last) != 0;
}

int64_t fleet_month_begin(int64_t unix_ns, int months)
{
	time_t t = (time_t)(unix_ns / NS - (unix_ns % NS < 0));
	struct tm tm = { 0 };

	if (!gmtime_r(&t, &tm))
		return unix_ns;
	tm = (struct tm){ .tm_year = tm.tm_year, .tm_mon = tm.tm_mon + months, .tm_mday = 1 };
	t = timegm(&tm);
	return t <= INT64_MIN / NS ? INT64_MIN : t >= INT64_MAX / NS ? INT64_MAX : (int64_t)t * NS;
}

int64_t fleet_line_span_start(const struct fleet_line_row *l, size_t span)
{
	int64_t at, from = l->span[span].from_ns;

	if (__builtin_add_overflow(l->start_ns, from, &at))
		at = from < 0 ? INT64_MIN : INT64_MAX;
	return at;
}

/* What unused GPUs held before @t: within each span evenly. */
static base_wide rest_before(const struct fleet_line_row *l, int64_t t)
{
	base_wide ns = 0;

	for (size_t i = 0; i < l->spans; i++)
		ns += before(l->span[i].held_ns, fleet_line_span_start(l, i), l->span[i].wall_ns,
			     t);
	return ns;
}

static base_wide share(base_wide whole, base_wide part, base_wide of)
{
	base_wide product;

	if (part >= of)
		return whole;
	if (!__builtin_mul_overflow(whole, part, &product))
		return product / of;
	return whole / of * part;
}

/* As fleet_part, of a line whose spans are known. */
static base_wide rest_part(base_wide whole, const struct fleet_line_row *l, int64_t from,
			   int64_t to)
{
	base_wide all = 0;

	for (size_t i = 0; i < l->spans; i++)
		all += l->span[i].held_ns;

	if (all <= 0)
		return fleet_part(whole, l->start_ns, l->wall_ns, from, to);
	return share(whole, rest_before(l, to), all) - share(whole, rest_before(l, from), all);
}

void fleet_line_count(struct fleet_sums *part, const struct fleet_line_row *l)
{
	static const enum fleet_measure whole[] = { FLEET_RUNS, FLEET_SIMULATED,
						    FLEET_FAILED_RUNS };

	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		part->m[whole[i]] = l->sums.m[whole[i]];
}

void fleet_line_cut(struct fleet_sums *part, const struct fleet_line_row *l, int64_t from,
		    int64_t to)
{
	for (int m = 0; m < FLEET_MEASURES; m++)
		part->m[m] = l->spans ? rest_part(l->sums.m[m], l, from, to)
				      : fleet_part(l->sums.m[m], l->start_ns, l->wall_ns, from, to);
	fleet_line_count(part, l);
}

int64_t fleet_line_end(const struct fleet_line_row *l, int64_t until)
{
	int64_t end;

	if (__builtin_add_overflow(l->start_ns, l->wall_ns, &end))
		end = INT64_MAX;
	if (end <= l->start_ns)
		end = l->start_ns + 1;
	return base_min(end, until);
}

void fleet_each_month(const struct fleet_line_row *l, int64_t since, int64_t until,
		      fleet_on_month *on_month, void *arg)
{
	int64_t end = fleet_line_end(l, until), at = base_max(l->start_ns, since), next;
	struct fleet_sums part;
	char month[16];

	for (int n = 0; at < end && n < MONTHS_MAX; n++, at = next) {
		fleet_month(month, at, &next);
		if (n == MONTHS_MAX - 1 || next > end)
			next = end;
		fleet_line_cut(&part, l, at, next);
		on_month(arg, l, month, &part, at, next);
	}
}
