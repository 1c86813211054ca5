/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ClickHouse's SQL of what is asked and stored, as 18.16 and later versions take it. A run is one
 * row, its parts arrays of it: so it comes and is replaced as a whole. FINAL leaves the highest
 * revision of each run; all revisions of a run lie on the same shard. It costs more than all else,
 * and is done without where it is known which few runs have more than one row (clickhouse.c).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/jsonout.h"
#include "clickhouse_priv.h"

/* --- literals --- */

void click_put_text(FILE *f, const char *text)
{
	fputc('\'', f);
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			fprintf(f, "\\%c", *text);
		else if ((unsigned char)*text < 0x20)
			fprintf(f, "\\x%02x", (unsigned int)(unsigned char)*text);
		else
			fputc(*text, f);
	}
	fputc('\'', f);
}

char *click_sql_insert(void)
{
	return strdup("INSERT INTO gpustarve_runs FORMAT JSONEachRow\n");
}

/* --- views --- */

/* Runs that cross a bound; nothing overflows, for neither bound nor wall_ns is negative. */
static void put_crossing(FILE *f, const struct click_asked *a)
{
	const struct fleet_query *q = a->q;

	click_put_filter(f, a, false);
	fprintf(f,
		" AND (start_ns < %1$" PRId64 " AND start_ns > %1$" PRId64 " - wall_ns OR"
		" start_ns >= %1$" PRId64 " AND start_ns > %2$" PRId64 " - wall_ns)",
		q->since_ns, q->until_ns);
}

static void put_runs(FILE *f, enum fleet_view view, const struct click_asked *a)
{
	fprintf(f,
		"SELECT run, tenant, team, user_name, project,"
		" " CLICK_ENDED ", exit_status, start_ns,"
		" run_held_ns, run_usd, run_priced FROM %s",
		a->from);
	click_put_filter(f, a, true);
	if (view == FLEET_VIEW_FAILED) {
		fputs(" AND " FLEET_BROKE("ended") "", f);
		if (a->q->top)
			fprintf(f,
				" ORDER BY run_usd DESC, run_held_ns DESC, run, tenant LIMIT %zu",
				a->q->top);
	} else if (view == FLEET_VIEW_COSTLY) {
		fprintf(f, " AND run_usd >= %" PRId64, a->q->least_usd);
	} else {
		const char *column = fleet_column_of(a->q->required);

		fputs(" AND ", f);
		if (column)
			fputs(column, f);
		else
			click_put_label(f, a->q->required);
		fputs(" = ''", f);
	}
}

/* Each line by itself: as SQLite's rows are. */
static void put_lines_of(FILE *f, enum fleet_view view, const struct click_asked *a)
{
	fputs("SELECT run, tenant, job, ended, exit_status, week, ", f);
	if (a->q->label)
		click_put_label(f, a->q->label);
	else
		fputs("materialize('')", f); /* a shard may send no row, and then no constant */
	fputs(", if(n = 1, units_told, ''), " CLICK_SPANS ", gpu, model, price_label, source, date",
	      f);
#define NAME(symbol, name, column, title, told) fputs(", " #column, f);
#include "facts/fleet_names.def"
	fputs(", toInt64(n) - 1, start_ns, wall_ns, run_priced, run_usd, run_held_ns, known,"
	      " per_hour, line_gpus",
	      f);
	for (int m = 0; m < FLEET_MEASURES; m++) {
		char column[32];

		fprintf(f, ", toInt64(%s)", click_measure((enum fleet_measure)m, column));
	}
	fprintf(f,
		" FROM %s ARRAY JOIN gpus AS gpu, models AS model, price_labels AS price_label,"
		" sources AS source, dates AS date, priced AS known, per_hours AS per_hour,"
		" counts AS line_gpus, arrayEnumerate(gpus) AS n",
		a->from);
	for (int m = FLEET_HELD_NS; m < FLEET_FAILED_RUNS; m++)
		fprintf(f, ", %s AS g_%s", fleet_measure_columns[m], fleet_measure_columns[m]);
	if (view == FLEET_VIEW_CROSSING)
		put_crossing(f, a);
	else
		click_put_filter(f, a, true);
	if (view == FLEET_VIEW_LINES && a->q->kind) {
		fputs(" AND kind = ", f);
		click_put_text(f, a->q->kind);
	}
}

static void put_view(FILE *f, enum fleet_view view, const struct click_asked *a)
{
	if (click_is_sums(view)) {
		click_put_sums(f, view, a);
	} else if (view == FLEET_VIEW_LINES || view == FLEET_VIEW_CROSSING) {
		put_lines_of(f, view, a);
	} else if (view == FLEET_VIEW_OVER_MONTH) {
		click_put_over(f, a);
	} else if (view == FLEET_VIEW_DIGESTS) {
		fprintf(f, "SELECT digest FROM %s", a->from);
		click_put_filter(f, a, true);
	} else {
		put_runs(f, view, a);
	}
}

/* A shard has all rows of its runs. */
char *click_sql_twice(const char *among, size_t most)
{
	char *sql = NULL;

	return asprintf(&sql,
			"SELECT toString(cityHash64(tenant, run)) AS hash FROM gpustarve_runs"
			" WHERE 1%s GROUP BY cityHash64(tenant, run) HAVING count() > 1 LIMIT %zu"
			" FORMAT TabSeparated",
			among, most) < 0
		       ? NULL
		       : sql;
}

char *click_sql_twice_of(const char *of, const char *among)
{
	char *sql = NULL;

	return asprintf(&sql,
			"SELECT tenant, run FROM gpustarve_runs"
			" WHERE cityHash64(tenant, run) IN (%s)%s"
			" GROUP BY tenant, run HAVING count() > 1 FORMAT TabSeparated",
			of, among) < 0
		       ? NULL
		       : sql;
}

/* @more, and of what jobs' digests hold nothing; @few: of t->twice alone. */
static char *put_among(const struct click_table *t, const char *more, bool few)
{
	char *held = NULL, *among = NULL;

	if (!t->has_jobs)
		return strdup(more);
	held = few ? click_sql_held_of_twice(t) : click_sql_held(t, "", false);
	if (held && asprintf(&among, "%s AND (tenant, run) %sNOT IN (%s)", more,
			     t->many ? "GLOBAL " : "", held) < 0)
		among = NULL;
	free(held);
	return among;
}

/* All rows of the table, the latest of each run. */
static void put_view_final(FILE *f, enum fleet_view view, const struct fleet_query *q,
			   const struct click_table *t)
{
	char *rows = click_sql_rows(t->twice ? "gpustarve_runs" : "gpustarve_runs FINAL", t->lacks);
	char *among = put_among(t, "", false);
	const struct click_asked all = { q, rows, among };

	if (rows && among)
		put_view(f, view, &all);
	free(rows);
	free(among);
}

char *click_sql_latest(const char *twice, const char *more, uint64_t lacks)
{
	char *columns = click_sql_columns(lacks), *sql = NULL;

	/* Of two rows of one revision it is always the same one. */
	if (columns && asprintf(&sql,
				"(SELECT %s FROM gpustarve_runs WHERE (tenant, run) IN (%s)%s"
				" ORDER BY revision DESC, digest DESC LIMIT 1 BY tenant, run)",
				columns, twice, more) < 0)
		sql = NULL;
	free(columns);
	return sql;
}

/* Of runs that have one row as it is, of the others the latest. */
static void put_view_twice(FILE *f, enum fleet_view view, const struct fleet_query *q,
			   const struct click_table *t)
{
	char *others = NULL, *rows = click_sql_latest(t->twice, "", t->lacks),
	     *table = click_sql_rows("gpustarve_runs", t->lacks);
	struct click_asked once = { q, table, NULL }, latest = { q, rows, NULL };

	if (asprintf(&others, " AND (tenant, run) NOT IN (%s)", t->twice) < 0)
		others = NULL;
	char *once_among = others ? put_among(t, others, false) : NULL,
	     *latest_among = put_among(t, "", true);
	once.among = once_among;
	latest.among = latest_among;
	if (table && rows && once_among && latest_among) {
		put_view(f, view, &once);
		fputs(" UNION ALL ", f);
		put_view(f, view, &latest);
	}
	free(once_among);
	free(latest_among);
	free(others);
	free(rows);
	free(table);
}

/* The same where whoever stored sums has told what jobs' digests hold. */
static void put_view_known(FILE *f, enum fleet_view view, const struct fleet_query *q,
			   const struct click_table *t)
{
	char *once = click_sql_rolled_once(t, true), *rows = NULL;
	struct click_asked a = { q, "gpustarve_runs", once };

	if (*t->rolled.latest)
		rows = click_sql_latest(t->rolled.latest, "", 0);
	if (once && (rows || !*t->rolled.latest))
		put_view(f, view, &a);
	if (once && rows) {
		fputs(" UNION ALL ", f);
		put_view(f, view, &(struct click_asked){ q, rows, "" });
	}
	free(once);
	free(rows);
}

char *click_sql_view(enum fleet_view view, const struct fleet_query *q, const struct click_table *t)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	if (click_is_rolled(view, q, t))
		click_put_rolled(f, view, q, t);
	else if (t->rolled.gen)
		put_view_known(f, view, q, t);
	else if (t->twice && *t->twice)
		put_view_twice(f, view, q, t);
	else
		put_view_final(f, view, q, t);
	fputs(" FORMAT TabSeparated", f);
	return click_sql_end(f, &text);
}

/* --- rows --- */

#define TEXTS(j, name, array, n, member)                               \
	do {                                                           \
		base_json_array(j, name);                              \
		for (size_t at = 0; at < (n); at++)                    \
			base_json_string(j, NULL, (array)[at].member); \
		base_json_end(j);                                      \
	} while (0)
#define NUMBERS(j, name, array, n, member)                                   \
	do {                                                                 \
		base_json_array(j, name);                                    \
		for (size_t at = 0; at < (n); at++)                          \
			base_json_int(j, NULL, (int64_t)(array)[at].member); \
		base_json_end(j);                                            \
	} while (0)

static void put_run(struct base_jsonout *j, const struct fleet_digest *d)
{
	const struct fleet_derived derived = fleet_digest_derive(d), *more = &derived;

#define RUN_TEXT(column, value) base_json_string(j, #column, value);
#define RUN_INT(column, array, value) base_json_int(j, #array, value);
#include "run_columns.def"
}

static void put_lines(struct base_jsonout *j, const struct fleet_digest *d)
{
	const struct fleet_line *l = d->line;
	size_t n = d->lines;

#define LINE_TEXT(member, array) TEXTS(j, #array, l, n, member);
#define LINE_INT(member, column, array) NUMBERS(j, #array, l, n, member);
#define SUM(symbol, column) NUMBERS(j, #column, l, n, column);
#define LINE_UNPRICED(symbol, column) NUMBERS(j, #column, l, n, held_ns * !l[at].priced);
#define LINE_MINUTES(symbol, column, band) NUMBERS(j, #column, l, n, minutes[band]);
#include "facts/fleet_lines.def"
}

/* As in SQLite a name that comes twice keeps its first value. */
static bool class_seen(const struct fleet_digest *d, size_t upto)
{
	for (size_t i = 0; i < upto; i++)
		if (!strcmp(d->share[i].class, d->share[upto].class))
			return true;
	return false;
}

static void put_classes(struct base_jsonout *j, struct fleet_digest *d)
{
	size_t n = 0;

	for (size_t i = 0; i < d->shares; i++)
		if (!class_seen(d, i))
			d->share[n++] = d->share[i];
	TEXTS(j, "classes", d->share, n, class);
	NUMBERS(j, "class_ns", d->share, n, ns);
	NUMBERS(j, "class_usd", d->share, n, usd);
}

static void put_why(struct base_jsonout *j, const struct fleet_digest *d)
{
	TEXTS(j, "spot_classes", d->hotspot, d->hotspots, class);
	TEXTS(j, "spot_places", d->hotspot, d->hotspots, place);
	NUMBERS(j, "spot_ns", d->hotspot, d->hotspots, ns);
	NUMBERS(j, "spot_usd", d->hotspot, d->hotspots, usd);
	TEXTS(j, "fix_ids", d->fix, d->fixes, id);
	TEXTS(j, "fix_titles", d->fix, d->fixes, title);
	TEXTS(j, "fix_classes", d->fix, d->fixes, class);
	TEXTS(j, "fix_places", d->fix, d->fixes, place);
	TEXTS(j, "fix_briefs", d->fix, d->fixes, brief);
	NUMBERS(j, "fix_ns", d->fix, d->fixes, ns);
	NUMBERS(j, "fix_usd", d->fix, d->fixes, usd);
	TEXTS(j, "label_names", d->label_of, d->labels, key);
	TEXTS(j, "label_values", d->label_of, d->labels, value);
}

void click_put_row(FILE *f, const struct fleet_digest *whole)
{
	struct base_jsonout j = { .f = f };
	struct fleet_digest *d = malloc(sizeof(*d));
	char *text = fleet_digest_write(whole);

	if (d && text) {
		*d = *whole;
		text[strcspn(text, "\n")] = '\0';
		base_json_flat_object(&j, NULL);
		put_run(&j, d);
		put_lines(&j, d);
		put_classes(&j, d);
		put_why(&j, d);
		base_json_string(&j, "digest", text);
		base_json_end(&j);
	}
	free(d);
	free(text);
}
