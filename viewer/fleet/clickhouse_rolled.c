/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums that are stored. A part of the server's table never changes: rows come in new parts, and a
 * merge makes a new one in place of several. So the sums of some parts hold as long as each of
 * these is there, and what is asked for is
 *
 *     what is stored of parts P, each run once
 *   + the runs of all other parts that have one row at all
 *   + the latest rows of the runs that have several (t->twice)
 *   - what P's sums have of these: the latest of their rows in P
 *
 * each without the runs that a job's digest holds (clickhouse_jobs.c), which is what the rows by
 * themselves come to, to the nanosecond, whatever replaced what. Sums are by day, and by blocks of
 * days, of which a few are read for a long stretch.
 *
 * gpustarve_rolled has the sums of one generation after the other; gpustarve_generations says of
 * which parts they are, and is written last: a generation that is not in it is not read.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "clickhouse_priv.h"

#define DAY_NS INT64_C(86400000000000)
#define DAYS 1000000 /* more than there are */

static bool is_day(int64_t ns)
{
	return ns >= DAY_NS && ns % DAY_NS == 0;
}

bool click_is_rolled(enum fleet_view view, const struct fleet_query *q, const struct click_table *t)
{
	if (!t->rolled.gen || t->lacks || !t->twice)
		return false;
	if (view != FLEET_VIEW_FAILED && view != FLEET_VIEW_UNITS &&
	    view != FLEET_VIEW_OVER_MONTH && !click_is_sums(view))
		return false;
	if ((view == FLEET_VIEW_FACTS && q->label) ||
	    (view == FLEET_VIEW_UNITS && q->units_of == FLEET_DIM_LABEL))
		return false;
	return (q->since_ns <= 0 || is_day(q->since_ns)) &&
	       (q->until_ns == INT64_MAX || is_day(q->until_ns));
}

/* Of the dearest runs of a block some may have other rows now. */
static bool has_enough(const struct click_parts *p)
{
	return p->q->top && p->q->top + p->t->twice_runs <= CLICK_DEAREST;
}

void click_put_stored(FILE *f, int shape, const struct click_parts *p, bool since)
{
	const struct fleet_query *q = p->q;
	int64_t from = since && q->since_ns > 0 ? q->since_ns / DAY_NS : -DAYS,
		to = q->until_ns < INT64_MAX ? q->until_ns / DAY_NS : DAYS;

	fprintf(f, " FROM gpustarve_rolled WHERE gen = %" PRIu64 " AND shape = %d",
		p->t->rolled.gen, shape);
	if (shape == CLICK_OVER || (shape == CLICK_FAILED && !has_enough(p)))
		fprintf(f, " AND level = 0 AND day >= %" PRId64 " AND day < %" PRId64, from, to);
	else if (from == -DAYS && to == DAYS)
		fputs(" AND level = 1", f);
	else
		fprintf(f,
			" AND (level = 1 AND first >= %1$" PRId64 " AND behind <= %2$" PRId64
			" OR level = 0 AND day >= %1$" PRId64 " AND day < %2$" PRId64
			" AND NOT (first >= %1$" PRId64 " AND behind <= %2$" PRId64 "))",
			from, to);
	if (q->team) {
		fputs(" AND team = ", f);
		click_put_text(f, q->team);
	}
}

/* --- the list of runs that failed --- */

#define WHOSE "run, tenant, team, user_name, project"

static void put_failed_rows(FILE *f, const struct click_asked *a)
{
	fputs(" UNION ALL SELECT " WHOSE ", " CLICK_ENDED ", exit_status,"
	      " toDecimal128(start_ns, 0) AS began,"
	      " toDecimal128(run_held_ns, 0) AS held, toDecimal128(run_usd, 0) AS cost,"
	      " toDecimal128(run_priced, 0) AS known FROM ",
	      f);
	fputs(a->from, f);
	click_put_filter(f, a, true);
	fputs(" AND " FLEET_BROKE("ended") "", f);
}

static void put_failed(FILE *f, const struct click_parts *p)
{
	fputs("SELECT " WHOSE ", ended, exit_status, began, held, cost, known"
	      " FROM (SELECT k0 AS run, k1 AS tenant,"
	      " team, k2 AS user_name, k3 AS project, k4 AS ended, k5 AS exit_status,"
	      " m0 AS began, m1 AS held, m2 AS cost, m3 AS known",
	      f);
	click_put_stored(f, CLICK_FAILED, p, true);
	if (*p->t->twice)
		fprintf(f, " AND (k1, k0) NOT IN (%s)", p->t->twice);
	put_failed_rows(f, &p->of[CLICK_SINCE]);
	if (p->of[CLICK_LATEST].from)
		put_failed_rows(f, &p->of[CLICK_LATEST]);
	fputs(")", f);
	if (p->q->top)
		fprintf(f, " ORDER BY cost DESC, held DESC, run, tenant LIMIT %zu", p->q->top);
}

/* --- what is asked for --- */

/* Allocated. */
static char *in_parts(const struct click_rolled *r)
{
	char *text = NULL;

	return asprintf(&text, " AND _part IN (%s)", r->parts) < 0 ? NULL : text;
}

void click_put_rolled(FILE *f, enum fleet_view view, const struct fleet_query *q,
		      const struct click_table *t)
{
	bool some = *t->rolled.latest != '\0', some_were = *t->rolled.was != '\0';
	char *since = click_sql_rolled_once(t, false), *in = in_parts(&t->rolled),
	     *latest = some ? click_sql_latest(t->rolled.latest, "", 0) : NULL,
	     *was = some_were && in ? click_sql_latest(t->rolled.was, in, 0) : NULL;
	const struct click_parts p = { .q = q,
				       .t = t,
				       .of = { [CLICK_SINCE] = { q, "gpustarve_runs", since },
					       [CLICK_LATEST] = { q, latest, "" },
					       [CLICK_WAS] = { q, was, "" } } };

	if (!since || (some && !latest) || (some_were && !was))
		; /* an empty statement is refused */
	else if (view == FLEET_VIEW_FAILED)
		put_failed(f, &p);
	else if (view == FLEET_VIEW_OVER_MONTH)
		click_put_rolled_over(f, &p);
	else
		click_put_rolled_sums(f, view, &p);
	free(since);
	free(in);
	free(latest);
	free(was);
}

/* --- jobs' digests --- */

/*
 * What a job's digest holds follows from the rows of its job. So where no row of a job came since
 * it is what it was when sums were stored, and where all of them did it follows from these. The
 * runs of all other jobs are among those that are taken off and told anew (t->twice).
 */

char *click_sql_rolled_free(uint64_t gen, const char *runs)
{
	char *sql = NULL;

	return asprintf(&sql,
			" AND (tenant, run) NOT IN (SELECT k1, k0 FROM gpustarve_rolled"
			" WHERE gen = %" PRIu64 " AND shape = %d%s%s%s)",
			gen, CLICK_HELD, *runs ? " AND (k1, k0) IN (" : "", runs,
			*runs ? ")" : "") < 0
		       ? NULL
		       : sql;
}

/* Of rows that came since. */
static char *held_since(const struct click_table *t)
{
	char *more = NULL, *sql = NULL;

	if (asprintf(&more, " AND _part NOT IN (%s)", t->rolled.parts) >= 0)
		sql = click_sql_held(t, more, false);
	free(more);
	return sql;
}

char *click_sql_rolled_once(const struct click_table *t, bool all)
{
	const struct click_rolled *r = &t->rolled;
	bool may_hold = t->has_jobs && r->rows_since;
	char *before = all && t->has_jobs ? click_sql_rolled_free(r->gen, "") : strdup(""),
	     *since = may_hold ? held_since(t) : strdup(""), *text = NULL;

	if (before && since &&
	    asprintf(&text, "%s%s%s%s%s%s%s%s%s%s", all ? "" : " AND _part NOT IN (",
		     all ? "" : r->parts, all ? "" : ")",
		     *t->twice ? " AND (tenant, run) NOT IN (" : "", t->twice, *t->twice ? ")" : "",
		     before, may_hold ? " AND (tenant, run) NOT IN (" : "", since,
		     may_hold ? ")" : "") < 0)
		text = NULL;
	free(before);
	free(since);
	return text;
}

/* Those of t->twice with the condition @that, which it frees. */
static char *twice_with(const struct click_table *t, char *that)
{
	char *sql = NULL;

	if (that && asprintf(&sql,
			     "SELECT tenant, run FROM (SELECT pair.1 AS tenant, pair.2 AS run FROM"
			     " (SELECT arrayJoin([%s]) AS pair)) WHERE 1%s FORMAT TabSeparated",
			     t->twice, that) < 0)
		sql = NULL;
	free(that);
	return sql;
}

char *click_sql_rolled_was(const struct click_table *t)
{
	return twice_with(t, click_sql_rolled_free(t->rolled.gen, t->twice));
}

char *click_sql_rolled_latest(const struct click_table *t)
{
	char *held = NULL, *that = NULL;

	if (!t->rolled.rows_since)
		return click_sql_rolled_was(t);
	held = click_sql_held_of_twice(t);
	if (held && asprintf(&that, " AND (tenant, run) NOT IN (%s)", held) < 0)
		that = NULL;
	free(held);
	return twice_with(t, that);
}

/* --- which sums hold --- */

char *click_sql_rolled(const struct click *c)
{
	char *sql = NULL;

	return asprintf(
		       &sql,
		       "SELECT toString(gen), arrayStringConcat(names, ' '), toString((SELECT sum(rows)"
		       " FROM system.parts WHERE " CLICK_OURS ") - rows)"
		       " FROM gpustarve_generations WHERE arrayAll(p -> has((SELECT groupArray(what)"
		       " FROM (SELECT '" CLICK_SUMS "' AS what UNION ALL"
		       " SELECT " CLICK_WHAT " AS what FROM system.parts WHERE " CLICK_OURS
		       " UNION ALL SELECT " CLICK_WHAT_TABLE " AS what FROM system.tables"
		       " WHERE database = '%1$s' AND name = 'gpustarve_runs')), p), parts)"
		       " ORDER BY gen DESC LIMIT 1 FORMAT TabSeparated",
		       c->at.database) < 0
		       ? NULL
		       : sql;
}

/* "all_1_5_1 all_6_6_0" as literals. NULL: that are no names. */
static char *literals(const char *names)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	for (const char *p = names; *p;) {
		size_t n = strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "0123456789_-");

		if (!n || (p[n] && p[n] != ' '))
			break;
		fprintf(f, "%s'%.*s'", p == names ? "" : ", ", (int)n, p);
		p += n + (p[n] == ' ');
		if (!*p)
			return click_sql_end(f, &text);
	}
	fclose(f);
	free(text);
	return NULL;
}

bool click_rolled_take(struct click_rolled *r, const struct fleet_cell *cell)
{
	r->gen = strtoull(cell[0].text, NULL, 10);
	r->parts = literals(cell[1].text);
	r->rows_since = strtoull(cell[2].text, NULL, 10);
	return r->gen && r->parts;
}

void click_rolled_free(struct click_rolled *r)
{
	free(r->parts);
	free(r->latest);
	free(r->was);
	*r = (struct click_rolled){ 0 };
}

#define BEFORE                                                    \
	"SELECT t AS tenant, r AS run FROM gpustarve_generations" \
	" ARRAY JOIN tenants AS t, runs AS r WHERE gen = %1$" PRIu64

/*
 * Runs that have several rows, one at least of which came since. By hashes, which are compared in
 * an eighth of the time: one more that happens to have the same is asked for its latest row.
 */
#define SEVERAL                                                              \
	" UNION ALL SELECT tenant, run FROM gpustarve_runs"                  \
	" WHERE _part NOT IN (%2$s) GROUP BY tenant, run HAVING count() > 1" \
	" UNION ALL SELECT tenant, run FROM gpustarve_runs"                  \
	" WHERE _part IN (%2$s) AND cityHash64(tenant, run) IN"              \
	" (SELECT cityHash64(tenant, run) FROM gpustarve_runs WHERE _part NOT IN (%2$s))"

/* Of jobs that have digests of their own, all runs of those of which some rows came since. */
#define OF_JOBS                                                                        \
	" UNION ALL SELECT tenant, run FROM (SELECT groupArray(tenant) AS tenants,"    \
	" groupArray(run) AS runs FROM gpustarve_runs WHERE job != ''"                 \
	" AND cityHash64(cluster, job) IN (SELECT cityHash64(cluster, job)"            \
	" FROM gpustarve_runs WHERE _part IN (%2$s) AND job != ''"                     \
	" AND cityHash64(cluster, job) IN (SELECT cityHash64(cluster, job)"            \
	" FROM gpustarve_runs WHERE _part NOT IN (%2$s) AND job != ''))"               \
	" GROUP BY cluster, job HAVING max(whole_job) > 0 OR max(rest_of_job_ns) > 0)" \
	" ARRAY JOIN tenants AS tenant, runs AS run"

char *click_sql_rolled_twice(const struct click_table *t, size_t most)
{
	const struct click_rolled *r = &t->rolled;
	char *sql = NULL;
	int len;

	if (!r->rows_since)
		len = asprintf(&sql, BEFORE " FORMAT TabSeparated", r->gen);
	else
		len = asprintf(&sql,
			       t->has_jobs
				       ? "SELECT tenant, run FROM (" BEFORE SEVERAL OF_JOBS
					 ") GROUP BY tenant, run LIMIT %3$zu FORMAT TabSeparated"
				       : "SELECT tenant, run FROM (" BEFORE SEVERAL
					 ") GROUP BY tenant, run LIMIT %3$zu FORMAT TabSeparated",
			       r->gen, r->parts, most);
	return len < 0 ? NULL : sql;
}

char *click_sql_rolled_is_there(const struct click_rolled *r)
{
	char *sql = NULL;

	return asprintf(&sql,
			"SELECT count() FROM gpustarve_generations WHERE gen = %" PRIu64
			" FORMAT TabSeparated",
			r->gen) < 0
		       ? NULL
		       : sql;
}
