/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The views that are sums, as ClickHouse's SQL: of the runs' own rows, and of the rows that were
 * summed up before (clickhouse_rolled.c) with those that came since.
 */
#include <inttypes.h>
#include <string.h>
#include "clickhouse_priv.h"

/* One SELECT ... GROUP BY. FACTS are two: fewer rows than by everything at once. */
struct shape {
	enum fleet_view view;
	const char *key[6]; /* what is grouped by; of FACTS and UNITS it follows from the dims */
	const char *sum[6]; /* of FACTS and MONTHS: the measures */
	const char *join, *where;
	bool bill; /* of FACTS and UNITS: by the dims of the bill, or by all others */
	bool always; /* whatever since says */
};

/* What stands in a digest (units.c): [["samples", 204, 1], ["tokens", 9, 1, "at_least"]] */
#define UNIT(name, count, divisor, bound) \
	"extractAll(told, '\\\\[\"" name "\", " count ", " divisor "(?:, \"" bound "\")?\\\\]')"
#define UNIT_NAME "[a-z0-9_]+"
#define UNIT_INT "[0-9]+"
#define UNIT_BOUND "[a-z_]+"
#define UNITS                                                                                    \
	" ARRAY JOIN arrayConcat([''], " UNIT(                                                   \
		"(" UNIT_NAME ")", UNIT_INT, UNIT_INT,                                           \
		UNIT_BOUND) ") AS unit,"                                                         \
			    " arrayConcat(['0'], " UNIT(                                         \
				    UNIT_NAME, "(" UNIT_INT ")", UNIT_INT,                       \
				    UNIT_BOUND) ") AS"                                           \
						" num, arrayConcat(['1'], " UNIT(                \
							UNIT_NAME, UNIT_INT, "(" UNIT_INT ")",   \
							UNIT_BOUND) ") AS den,"                  \
								    " arrayConcat([''], " UNIT(  \
									    UNIT_NAME, UNIT_INT, \
									    UNIT_INT,            \
									    "(" UNIT_BOUND       \
									    ")") ") AS"          \
										 " bound"
/* usd, count, runs, at least, at most, told any */
#define UNIT_SUMS                                                                             \
	{                                                                                     \
		"run_usd * (run_priced != 0)", "toInt64OrZero(num)", "unit != ''",            \
			"bound = 'at_least'", "bound = 'at_most'", "unit = '' AND told != ''" \
	}
#define UNIT_WHERE " WHERE unit = '' OR den = '1' AND unit != 'epochs' AND run_priced != 0"

static const struct shape shapes[CLICK_SHAPES] = {
	{ .view = FLEET_VIEW_FACTS, .bill = true },
	{ .view = FLEET_VIEW_FACTS },
	{ .view = FLEET_VIEW_CLASSES,
	  .key = { "class" },
	  .sum = { "1", "ns", "nano" },
	  .join = " ARRAY JOIN classes AS class, class_ns AS ns, class_usd AS nano" },
	{ .view = FLEET_VIEW_HOTSPOTS,
	  .key = { "class", "place" },
	  .sum = { "1", "ns", "nano" },
	  .join = " ARRAY JOIN spot_classes AS class, spot_places AS place, spot_ns AS ns,"
		  " spot_usd AS nano" },
	{ .view = FLEET_VIEW_FIXES,
	  .key = { "id", "title", "class", "place", "brief" },
	  .sum = { "1", "ns", "nano" },
	  .join = " ARRAY JOIN fix_ids AS id, fix_titles AS title, fix_classes AS class,"
		  " fix_places AS place, fix_briefs AS brief, fix_ns AS ns, fix_usd AS nano" },
	{ .view = FLEET_VIEW_RATES,
	  .key = { "gpu", "model", "price_label", "source", "date", "toString(per_hour)" },
	  .sum = { "ns", "nano" },
	  .join = " ARRAY JOIN gpus AS gpu, models AS model, price_labels AS price_label,"
		  " sources AS source, dates AS date, per_hours AS per_hour, held_ns AS ns,"
		  " usd AS nano, priced AS known",
	  .where = " AND known = 1" },
	{ .view = FLEET_VIEW_WEEKS,
	  .key = { "team", "week" },
	  .sum = { "run_usd", "run_held_ns" },
	  .always = true },
	{ .view = FLEET_VIEW_RULES,
	  .key = { "toString(rules)" },
	  .sum = { "1", "run_held_ns", "(" FLEET_BROKE("ended") ") * " CLICK_IS_RUN } },
	{ .view = FLEET_VIEW_UNITS, .sum = UNIT_SUMS, .join = UNITS, .bill = true },
	{ .view = FLEET_VIEW_UNITS, .sum = UNIT_SUMS, .join = UNITS },
	{ .view = FLEET_VIEW_MONTHS,
	  .key = { "toString(" CLICK_MONTH ")" },
	  .where = " AND NOT " CLICK_IS_OVER },
};

/* No sum can be larger than what it is added up in. */
static void put_sum(FILE *f, const char *what)
{
	fprintf(f, "sum(toDecimal128(%s, 0))", what);
}

const char *click_measure(enum fleet_measure m, char column[32])
{
	static const char *const more[FLEET_MEASURES] = {
		[FLEET_RUNS] = "(n = 1) * " CLICK_IS_RUN,
		[FLEET_SIMULATED] = "(n = 1) * simulated * " CLICK_IS_RUN,
		[FLEET_FAILED_RUNS] = "(n = 1) * (" FLEET_BROKE("ended") ")",
		[FLEET_FAILED_NS] = "g_held_ns * (" FLEET_BROKE("ended") ")",
		[FLEET_FAILED_USD] = "g_usd * (" FLEET_BROKE("ended") ")",
		[FLEET_SPOT_NS] = "g_held_ns * (model = 'spot')",
		[FLEET_SPOT_USD] = "g_usd * (model = 'spot')",
	};

	if (more[m])
		return more[m];
	snprintf(column, 32, "g_%s", fleet_measure_columns[m]);
	return column;
}

void click_put_label(FILE *f, const char *label)
{
	fputs("label_values[indexOf(label_names, ", f);
	click_put_text(f, label);
	fputs(")]", f);
}

void click_put_filter(FILE *f, const struct click_asked *a, bool since)
{
	const struct fleet_query *q = a->q;

	fprintf(f, " WHERE 1%s", a->among);
	if (since && q->since_ns > 0)
		fprintf(f, " AND start_ns >= %" PRId64, q->since_ns);
	if (q->until_ns < INT64_MAX)
		fprintf(f, " AND start_ns < %" PRId64, q->until_ns);
	if (q->team) {
		fputs(" AND team = ", f);
		click_put_text(f, q->team);
	}
}

void click_put_line_arrays(FILE *f)
{
	fputs(" ARRAY JOIN gpus AS gpu, models AS model, arrayEnumerate(gpus) AS n", f);
	for (int m = FLEET_HELD_NS; m < FLEET_FAILED_RUNS; m++)
		fprintf(f, ", %s AS g_%s", fleet_measure_columns[m], fleet_measure_columns[m]);
}

void click_put_measures(FILE *f, const char *before, const char *behind)
{
	char column[32];

	for (int m = 0; m < FLEET_MEASURES; m++)
		fprintf(f, "%s%s%s", before, click_measure((enum fleet_measure)m, column), behind);
}

static bool is_of_bill(int dim)
{
	for (int i = 0; i < FLEET_BILL_DIMS; i++)
		if ((int)fleet_bill_dims[i] == dim)
			return true;
	return false;
}

static bool has_dim(const struct shape *s, int dim)
{
	return dim != FLEET_DIM_LABEL && is_of_bill(dim) == s->bill;
}

/* What it groups by, but for a label; how many. Of UNITS the last is the unit. */
static int keys_of(const struct shape *s, const char *key[CLICK_KEYS])
{
	int n = 0;

	_Static_assert(FLEET_DIMS - FLEET_BILL_DIMS <= CLICK_KEYS, "a column for each");
	if (s->view == FLEET_VIEW_UNITS || s->view == FLEET_VIEW_FACTS) {
		for (int d = 0; d < FLEET_DIMS; d++)
			if (has_dim(s, d))
				key[n++] = fleet_dim_columns[d];
		if (s->view == FLEET_VIEW_UNITS)
			key[n++] = "unit";
	} else {
		while (n < (int)(sizeof(s->key) / sizeof(s->key[0])) && s->key[n]) {
			key[n] = s->key[n];
			n++;
		}
	}
	return n;
}

static bool has_measures(const struct shape *s)
{
	return s->view == FLEET_VIEW_FACTS || s->view == FLEET_VIEW_MONTHS;
}

static int sums_of(const struct shape *s)
{
	int n = 0;

	if (has_measures(s))
		return FLEET_MEASURES;
	while (n < (int)(sizeof(s->sum) / sizeof(s->sum[0])) && s->sum[n])
		n++;
	return n;
}

static void put_sum_of(FILE *f, const struct shape *s, int i)
{
	char column[32];

	put_sum(f, has_measures(s) ? click_measure((enum fleet_measure)i, column) : s->sum[i]);
}

/* The view's columns of names, of @key's; a label that is asked for is @label, else none. */
static void put_names(FILE *f, const struct shape *s, const char *const *key, int keys,
		      const char *label)
{
	const char *comma = "";

	if (s->view != FLEET_VIEW_FACTS) {
		for (int i = 0; i < keys; i++, comma = ", ")
			fprintf(f, "%s%s", comma, key[i]);
		return;
	}
	for (int d = 0; d < FLEET_DIMS; d++, comma = ", ") {
		fputs(comma, f);
		if (has_dim(s, d))
			fputs(*key++, f);
		else if (is_of_bill(d) != s->bill)
			fprintf(f, "CAST(NULL AS Nullable(String)) AS none_%d", d);
		else if (label)
			click_put_label(f, label);
		else
			fputs("''", f);
	}
}

static void put_units_from(FILE *f, const struct shape *s, const struct click_asked *a)
{
	fputs(" FROM (SELECT start_ns, run_usd, run_priced, gpus[1] AS gpu, models[1] AS model", f);
	for (int d = 0; d < FLEET_DIMS; d++)
		if (d != FLEET_DIM_LABEL && d != FLEET_DIM_GPU && d != FLEET_DIM_MODEL)
			fprintf(f, ", %s", fleet_dim_columns[d]);
	fprintf(f, ", units_told AS told FROM %s", a->from);
	click_put_filter(f, a, true);
	fprintf(f, " AND notEmpty(gpus))%s" UNIT_WHERE, s->join);
}

static void put_from(FILE *f, const struct shape *s, const struct click_asked *a)
{
	if (s->view == FLEET_VIEW_UNITS) {
		put_units_from(f, s, a);
		return;
	}
	fprintf(f, " FROM %s", a->from);
	if (has_measures(s))
		click_put_line_arrays(f);
	else if (s->join)
		fputs(s->join, f);
	click_put_filter(f, a, !s->always);
	if (s->where)
		fputs(s->where, f);
}

static void put_shape(FILE *f, const struct shape *s, const struct click_asked *a)
{
	const char *key[CLICK_KEYS], *label = s->bill ? NULL : a->q->label;
	int keys = keys_of(s, key);

	fputs("SELECT ", f);
	put_names(f, s, key, keys, label);
	for (int i = 0; i < sums_of(s); i++) {
		fputs(", ", f);
		put_sum_of(f, s, i);
	}
	put_from(f, s, a);
	for (int i = 0; i < keys; i++)
		fprintf(f, "%s%s", i ? ", " : " GROUP BY ", key[i]);
	if (s->view == FLEET_VIEW_FACTS && label) {
		fputs(", ", f);
		click_put_label(f, label);
	}
}

bool click_is_sums(enum fleet_view view)
{
	if (view == FLEET_VIEW_UNITS)
		return false; /* it is read line by line where no sums are stored */
	for (int i = 0; i < CLICK_SHAPES; i++)
		if (shapes[i].view == view)
			return true;
	return false;
}

static void put_each(FILE *f, enum fleet_view view,
		     void (*put)(FILE *f, int shape, const void *arg), const void *arg)
{
	const char *between = "";

	for (int i = 0; i < CLICK_SHAPES; i++) {
		if (shapes[i].view != view)
			continue;
		fputs(between, f);
		put(f, i, arg);
		between = " UNION ALL ";
	}
}

static void put_raw(FILE *f, int shape, const void *arg)
{
	put_shape(f, &shapes[shape], arg);
}

void click_put_sums(FILE *f, enum fleet_view view, const struct click_asked *a)
{
	put_each(f, view, put_raw, a);
}

/* --- with what was summed up before --- */

/* Sums of runs' rows under the names of gpustarve_rolled; @minus: to be taken off. */
static void put_named(FILE *f, const struct shape *s, const struct click_asked *a, bool minus)
{
	const char *key[CLICK_KEYS];
	int keys = keys_of(s, key);

	fputs("SELECT ", f);
	for (int i = 0; i < keys; i++)
		fprintf(f, "%s AS k%d, ", key[i], i);
	for (int i = 0; i < sums_of(s); i++) {
		fputs(minus ? "toDecimal128(0, 0) - " : "", f);
		put_sum_of(f, s, i);
		fprintf(f, " AS s%d, ", i);
	}
	fprintf(f, "%stoInt64(count()) AS c", minus ? "0 - " : "");
	put_from(f, s, a);
	for (int i = 0; i < keys; i++)
		fprintf(f, "%sk%d", i ? ", " : " GROUP BY ", i);
}

static void put_stored(FILE *f, int shape, const struct click_parts *p)
{
	const struct shape *s = &shapes[shape];
	const char *key[CLICK_KEYS];
	int keys = keys_of(s, key);

	fputs("SELECT ", f);
	for (int i = 0; i < keys; i++)
		fprintf(f, "k%d, ", i);
	for (int i = 0; i < sums_of(s); i++)
		fprintf(f, "sum(m%d) AS s%d, ", i, i);
	fputs("sum(cells) AS c", f);
	click_put_stored(f, shape, p, !s->always);
	for (int i = 0; i < keys; i++)
		fprintf(f, "%sk%d", i ? ", " : " GROUP BY ", i);
}

static const char *const k[CLICK_KEYS] = { "k0", "k1", "k2", "k3", "k4",
					   "k5", "k6", "k7", "k8", "k9" };

/* The names that an answer has of them, and is grouped by again. */
static void put_asked_names(FILE *f, const struct shape *s, int keys, enum fleet_dim of)
{
	int n = 0;

	if (s->view != FLEET_VIEW_UNITS) {
		put_names(f, s, k, keys, NULL);
		return;
	}
	for (int d = 0; d < (int)of; d++)
		n += has_dim(s, d);
	fprintf(f, "%s, %s", k[n], k[keys - 1]);
}

static void put_rolled(FILE *f, int shape, const void *arg)
{
	const struct shape *s = &shapes[shape];
	const struct click_parts *p = arg;
	const char *key[CLICK_KEYS];
	int keys = keys_of(s, key);

	fputs("SELECT ", f);
	put_asked_names(f, s, keys, p->q->units_of);
	for (int i = 0; i < sums_of(s); i++)
		fprintf(f, ", sum(s%d)", i);
	fputs(" FROM (", f);
	put_stored(f, shape, p);
	for (int i = 0; i < CLICK_PARTS; i++) {
		if (!p->of[i].from)
			continue;
		fputs(" UNION ALL ", f);
		put_named(f, s, &p->of[i], i == CLICK_WAS);
	}
	fputs(") GROUP BY ", f);
	if (s->view == FLEET_VIEW_UNITS)
		put_asked_names(f, s, keys, p->q->units_of);
	for (int i = 0; i < keys && s->view != FLEET_VIEW_UNITS; i++)
		fprintf(f, "%sk%d", i ? ", " : "", i);
	fputs(" HAVING sum(c) > 0", f); /* else none of its runs is left there */
}

void click_put_rolled_sums(FILE *f, enum fleet_view view, const struct click_parts *p)
{
	if (view != FLEET_VIEW_UNITS) {
		put_each(f, view, put_rolled, p);
		return;
	}
	for (int i = 0; i < CLICK_SHAPES; i++)
		if (shapes[i].view == view && shapes[i].bill == is_of_bill((int)p->q->units_of))
			put_rolled(f, i, p);
}

/* --- summing up --- */

static void put_roll_rows(FILE *f, int shape, uint64_t gen, const struct click_asked *a)
{
	const struct shape *s = &shapes[shape];
	const char *key[CLICK_KEYS];
	int keys = keys_of(s, key);

	fprintf(f,
		"SELECT %" PRIu64 ", %d, 0, " CLICK_DAY " AS day, " CLICK_FIRST
		" AS first, " CLICK_BEHIND " AS behind, team AS of_team",
		gen, shape);
	for (int i = 0; i < keys; i++)
		fprintf(f, ", %s AS k%d", key[i], i);
	for (int i = 0; i < sums_of(s); i++) {
		fputs(", ", f);
		put_sum_of(f, s, i);
	}
	fputs(", toInt64(count())", f);
	put_from(f, s, a);
	fputs(" GROUP BY day, first, behind, of_team", f);
	for (int i = 0; i < keys; i++)
		fprintf(f, ", k%d", i);
}

static void put_columns(FILE *f, const struct shape *s)
{
	const char *key[CLICK_KEYS];
	int keys = keys_of(s, key);

	fputs("INSERT INTO gpustarve_rolled (gen, shape, level, day, first, behind, team", f);
	for (int i = 0; i < keys; i++)
		fprintf(f, ", k%d", i);
	for (int i = 0; i < sums_of(s); i++)
		fprintf(f, ", m%d", i);
	fputs(", cells) ", f);
}

void click_put_roll_sums(FILE *f, int shape, uint64_t gen, const struct click_asked a[2])
{
	put_columns(f, &shapes[shape]);
	put_roll_rows(f, shape, gen, &a[0]);
	if (a[1].from) {
		fputs(" UNION ALL ", f);
		put_roll_rows(f, shape, gen, &a[1]);
	}
}

void click_put_roll_blocks(FILE *f, int shape, uint64_t gen)
{
	const struct shape *s = &shapes[shape];
	const char *key[CLICK_KEYS];
	int keys = keys_of(s, key);

	put_columns(f, s);
	fprintf(f, "SELECT %" PRIu64 ", %d, 1, first AS day, first, behind, team", gen, shape);
	for (int i = 0; i < keys; i++)
		fprintf(f, ", k%d", i);
	for (int i = 0; i < sums_of(s); i++)
		fprintf(f, ", sum(m%d)", i);
	fprintf(f,
		", sum(cells) FROM gpustarve_rolled WHERE gen = %" PRIu64
		" AND shape = %d AND level = 0 GROUP BY first, behind, team",
		gen, shape);
	for (int i = 0; i < keys; i++)
		fprintf(f, ", k%d", i);
}
