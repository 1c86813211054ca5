/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the sums that clickhouse_rolled.c reads: whoever has sent digests does, when enough rows
 * lie in large parts that are in no sums. Nothing depends on it: what fails, or is cut off
 * half-way, is never read, and taken away by a later one.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "clickhouse_priv.h"

#define SHARE 20 /* of all rows, that a large part has at least one in so many: it stays for long */
#define KEPT_NS INT64_C(600000000000) /* of an old generation, for who reads it */
#define MAKING_NS INT64_C(600000000000) /* in which it is made, or never: a digest waits for it */
#define LEFT_NS INT64_C(86400000000000) /* then nobody makes it any more, whatever clocks say */
#define HELD_ROWS 2000000 /* whose jobs are looked at together */
#define AGAIN_NS INT64_C(3600000000000) /* after one that was never done */

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* --- statements --- */

/* One that nobody waits for; 0 or negative errno. It frees @sql. */
static int tell(struct click *c, char *sql)
{
	struct fleet_request r = { 0 };
	int err = sql ? click_ask(c, &r, 1, &sql, false, CLICK_QUIET) : -ENOMEM;

	view_answer_free(&r.answer);
	free(sql);
	return err;
}

static char *sql_rolled_table(void)
{
	char *sql = NULL;
	size_t len;
	FILE *f = open_memstream(&sql, &len);

	if (!f)
		return NULL;
	fputs("CREATE TABLE IF NOT EXISTS gpustarve_rolled (gen UInt64, shape UInt8, level UInt8,"
	      " day Int64, first Int64, behind Int64, team String",
	      f);
	for (int i = 0; i < CLICK_KEYS; i++)
		fprintf(f, ", k%d String", i);
	for (int i = 0; i < FLEET_MEASURES; i++)
		fprintf(f, ", m%d Decimal(38, 0)", i);
	fputs(", cells Int64) ENGINE=MergeTree PARTITION BY gen ORDER BY (shape, level, day)", f);
	return click_sql_end(f, &sql);
}

static int make_tables(struct click *c)
{
	int err = tell(c, sql_rolled_table());

	return err ? err
		   : tell(c, strdup("CREATE TABLE IF NOT EXISTS gpustarve_generations (gen UInt64,"
				    " rows UInt64, parts Array(String), names Array(String),"
				    " tenants Array(String), runs Array(String))"
				    " ENGINE=MergeTree PARTITION BY gen ORDER BY gen"));
}

/* --- what is to be done --- */

struct large {
	struct click_rolled parts; /* rows_since: of all rows, those that are not in them */
	uint64_t rows;
};

static char *sql_large(const struct click *c, const char *what)
{
	char *sql = NULL;

	return asprintf(&sql,
			"SELECT %2$s FROM system.parts WHERE " CLICK_OURS " AND rows >= %3$" PRId64
			" AND rows * %4$d >= (SELECT sum(rows)"
			" FROM system.parts WHERE " CLICK_OURS ") FORMAT TabSeparated",
			c->at.database, what, c->at.rollup, SHARE) < 0
		       ? NULL
		       : sql;
}

static void on_large(void *arg, const struct fleet_cell *cell)
{
	struct large *l = arg;

	click_rolled_free(&l->parts);
	if (!click_rolled_take(&l->parts, cell))
		click_rolled_free(&l->parts);
	l->rows = l->parts.rows_since;
}

static char *sql_begun(void)
{
	char *sql = NULL;

	return asprintf(&sql,
			"SELECT count() FROM gpustarve_rolled WHERE gen > %" PRId64
			" AND gen NOT IN (SELECT gen FROM gpustarve_generations)"
			" FORMAT TabSeparated",
			now_ns() - AGAIN_NS) < 0
		       ? NULL
		       : sql;
}

/* Somebody else is at it, or was cut off a while ago, by a server that takes too long. */
static bool is_begun(struct click *c)
{
	char *at_it = strdup("SELECT count() FROM system.processes WHERE startsWith(query,"
			     " 'INSERT INTO gpustarve_rolled') FORMAT TabSeparated");
	int64_t n = 0;

	if (click_ask_quiet(c, at_it, "i", click_on_number, &n) || n)
		return true; /* or it cannot be told */
	return !click_ask_quiet(c, sql_begun(), "i", click_on_number, &n) && n;
}

/* Large parts, and whether they are worth it. */
static bool is_wanted(struct click *c, struct large *l)
{
	char *large =
		sql_large(c, "'1', arrayStringConcat(groupArray(name), ' '), toString(sum(rows))");
	struct click_rolled held;

	*l = (struct large){ 0 };
	if (click_ask_quiet(c, large, "ttt", on_large, l) || !l->rows)
		return false;
	if (!click_find_rolled(c, &held)) {
		bool holds = held.gen && held.rows_since <= (uint64_t)c->at.rollup + l->rows / 10;

		click_rolled_free(&held);
		if (holds)
			return false;
	}
	return !is_begun(c);
}

/* --- doing it --- */

static char *sql_of_shape(int shape, uint64_t gen, const struct click_asked a[2], bool blocks)
{
	char *sql = NULL;
	size_t len;
	FILE *f = open_memstream(&sql, &len);

	if (!f)
		return NULL;
	if (blocks)
		click_put_roll_blocks(f, shape, gen);
	else
		click_put_roll_sums(f, shape, gen, a);
	return click_sql_end(f, &sql);
}

#define FAILED_TEXTS "team, k0, k1, k2, k3, k4, k5, m0, m1, m2, m3"
#define FAILED_COLUMNS "gen, shape, level, day, first, behind, " FAILED_TEXTS

static void put_failed(FILE *f, uint64_t gen, const struct click_asked *a)
{
	fprintf(f,
		"SELECT %" PRIu64 ", %d, 0, " CLICK_DAY " AS day, " CLICK_FIRST ", " CLICK_BEHIND
		", team, run, tenant, user_name, project, " CLICK_ENDED
		", exit_status, toDecimal128(start_ns, 0), toDecimal128(run_held_ns, 0),"
		" toDecimal128(run_usd, 0), toDecimal128(run_priced, 0) FROM %s",
		gen, CLICK_FAILED, a->from);
	click_put_filter(f, a, false);
	fputs(" AND " FLEET_BROKE("ended") "", f);
}

static char *sql_failed(uint64_t gen, const struct click_asked a[2])
{
	char *sql = NULL;
	size_t len;
	FILE *f = open_memstream(&sql, &len);

	if (!f)
		return NULL;
	fputs("INSERT INTO gpustarve_rolled (" FAILED_COLUMNS ") ", f);
	put_failed(f, gen, &a[0]);
	if (a[1].from) {
		fputs(" UNION ALL ", f);
		put_failed(f, gen, &a[1]);
	}
	return click_sql_end(f, &sql);
}

static char *sql_over(uint64_t gen, const struct click_asked a[2])
{
	char *sql = NULL;
	size_t len;
	FILE *f = open_memstream(&sql, &len);

	if (!f)
		return NULL;
	click_put_roll_over(f, gen, a);
	return click_sql_end(f, &sql);
}

/* Of each team and block all that cost what the last of the dearest does: they need no sorting. */
static char *sql_dearest(uint64_t gen)
{
	char *sql = NULL;

	return asprintf(
		       &sql,
		       "INSERT INTO gpustarve_rolled (" FAILED_COLUMNS
		       ") SELECT toUInt64(%1$" PRIu64
		       "), %2$d, 1, first AS day, first, behind, " FAILED_TEXTS
		       " FROM (SELECT first, behind, " FAILED_TEXTS " FROM gpustarve_rolled"
		       " WHERE gen = %1$" PRIu64 " AND shape = %2$d AND level = 0) AS one"
		       " ANY LEFT JOIN (SELECT first, team, arrayElement(arrayReverseSort("
		       "groupArray(toInt64(m2))), %3$d) AS least FROM gpustarve_rolled"
		       " WHERE gen = %1$" PRIu64 " AND shape = %2$d AND level = 0"
		       " GROUP BY first, team) AS other USING (first, team) WHERE toInt64(m2) >= least",
		       gen, CLICK_FAILED, CLICK_DEAREST) < 0
		       ? NULL
		       : sql;
}

static bool in_time(uint64_t gen)
{
	int64_t took = now_ns() - (int64_t)gen;

	return took >= 0 && took < MAKING_NS;
}

static int sum_up(struct click *c, uint64_t gen, const struct click_asked a[2])
{
	int err = 0;

	for (int shape = 0; shape < CLICK_SHAPES && !err; shape++) {
		if (!in_time(gen))
			return -ETIMEDOUT;
		err = tell(c, sql_of_shape(shape, gen, a, false));
		if (!err)
			err = tell(c, sql_of_shape(shape, gen, a, true));
	}
	if (!err)
		err = tell(c, sql_failed(gen, a));
	if (!err)
		err = tell(c, sql_over(gen, a));
	return err ? err : tell(c, sql_dearest(gen));
}

/*
 * What jobs' digests hold, as the parts @p tell it. A job at a time would do: so many jobs at once
 * that their runs' names need no more memory than other statements.
 */
static int put_held(struct click *c, uint64_t gen, const struct click_rolled *p, uint64_t rows)
{
	const struct click_table t = { 0 };
	uint64_t pieces = 1 + rows / HELD_ROWS;
	int err = 0;

	for (uint64_t i = 0; i < pieces && !err; i++) {
		char *more = NULL, *held = NULL, *sql = NULL;

		if (!in_time(gen))
			return -ETIMEDOUT;
		if (asprintf(&more,
			     " AND _part IN (%s) AND cityHash64(cluster, job) %% %" PRIu64
			     " = %" PRIu64,
			     p->parts, pieces, i) < 0)
			more = NULL;
		held = more ? click_sql_held(&t, more, false) : NULL;
		if (!held || asprintf(&sql,
				      "INSERT INTO gpustarve_rolled (gen, shape, k1, k0)"
				      " SELECT %" PRIu64 ", %d, whose, step FROM (%s)",
				      gen, CLICK_HELD, held) < 0)
			sql = NULL;
		free(more);
		free(held);
		err = tell(c, sql);
	}
	return err;
}

/* Of the parts @p: runs with several rows in them, NULL where these are many. */
static int sum_up_parts(struct click *c, uint64_t gen, const struct click_rolled *p,
			const char *twice, bool has_jobs)
{
	const struct fleet_query all = { .until_ns = INT64_MAX };
	struct click_asked a[2] = { { &all, "gpustarve_runs", NULL }, { &all, NULL, NULL } };
	char *once = NULL, *in = NULL, *latest = NULL,
	     *unheld = has_jobs ? click_sql_rolled_free(gen, "") : strdup(""),
	     *unheld_of = has_jobs ? click_sql_rolled_free(gen, twice) : strdup("");
	bool several = *twice != '\0';
	int err = -ENOMEM;

	if (asprintf(&in, " AND _part IN (%s)", p->parts) < 0)
		in = NULL;
	if (!unheld || asprintf(&once, " AND _part IN (%s)%s%s%s%s", p->parts,
				several ? " AND (tenant, run) NOT IN (" : "", twice,
				several ? ")" : "", unheld) < 0)
		once = NULL;
	if (in && several)
		latest = click_sql_latest(twice, in, 0);
	a[0].among = once;
	a[1].from = latest;
	a[1].among = unheld_of;
	if (in && once && unheld_of && (latest || !several))
		err = sum_up(c, gen, a);
	free(in);
	free(once);
	free(latest);
	free(unheld);
	free(unheld_of);
	return err;
}

/* That it is there, if each of its parts still is: then it was when its rows were read. */
static char *sql_generation(const struct click *c, uint64_t gen, const struct click_rolled *p,
			    uint64_t rows, const char *twice)
{
	char *sql = NULL;

	return asprintf(
		       &sql,
		       "INSERT INTO gpustarve_generations SELECT toUInt64(%2$" PRIu64
		       "), sum(rows),"
		       " arrayPushBack(arrayPushBack(groupArray(" CLICK_WHAT "), '" CLICK_SUMS
		       "'), (SELECT " CLICK_WHAT_TABLE
		       " FROM system.tables WHERE database = '%1$s' AND name = 'gpustarve_runs')),"
		       " groupArray(name), arrayMap(x -> x.1, CAST([%5$s] AS Array(Tuple(String, String)))),"
		       " arrayMap(x -> x.2, CAST([%5$s] AS Array(Tuple(String, String))))"
		       " FROM system.parts WHERE " CLICK_OURS
		       " AND name IN (%3$s) HAVING sum(rows) = %4$" PRIu64,
		       c->at.database, gen, p->parts, rows, twice) < 0
		       ? NULL
		       : sql;
}

struct old {
	uint64_t gen[64];
	size_t n;
};

static void on_old(void *arg, const struct fleet_cell *cell)
{
	struct old *o = arg;

	if (o->n < sizeof(o->gen) / sizeof(o->gen[0]))
		o->gen[o->n++] = strtoull(cell->text, NULL, 10);
}

static void drop(struct click *c, const char *table, uint64_t gen)
{
	char *sql = NULL;

	if (asprintf(&sql, "ALTER TABLE gpustarve_%s DROP PARTITION %" PRIu64, table, gen) < 0)
		sql = NULL;
	tell(c, sql);
}

/*
 * What is older than the newest, and than whoever may still read it. Of one that was never done it
 * is not known whether somebody still makes it.
 */
static void drop_old(struct click *c, uint64_t newest)
{
	struct old done = { 0 }, left = { 0 };
	char *sql = NULL;

	if (asprintf(&sql,
		     "SELECT toString(gen) FROM gpustarve_generations WHERE gen < %" PRId64
		     " AND gen != %" PRIu64 " FORMAT TabSeparated",
		     now_ns() - KEPT_NS, newest) < 0 ||
	    click_ask_quiet(c, sql, "t", on_old, &done))
		return;
	for (size_t i = 0; i < done.n; i++) {
		drop(c, "generations", done.gen[i]);
		drop(c, "rolled", done.gen[i]);
	}
	if (asprintf(&sql,
		     "SELECT toString(gen) FROM (SELECT DISTINCT gen FROM gpustarve_rolled WHERE"
		     " gen < %" PRId64 ") WHERE gen NOT IN (SELECT gen FROM gpustarve_generations)"
		     " FORMAT TabSeparated",
		     now_ns() - LEFT_NS) < 0 ||
	    click_ask_quiet(c, sql, "t", on_old, &left))
		return;
	for (size_t i = 0; i < left.n; i++)
		drop(c, "rolled", left.gen[i]);
}

/* Is it there now? */
static bool make(struct click *c, uint64_t gen, const struct large *l, const char *twice,
		 bool has_jobs)
{
	const struct click_rolled made = { .gen = gen };
	int64_t there = 0;

	return (!has_jobs || !put_held(c, gen, &l->parts, l->rows)) &&
	       !sum_up_parts(c, gen, &l->parts, twice, has_jobs) && in_time(gen) &&
	       !tell(c, sql_generation(c, gen, &l->parts, l->rows, twice)) &&
	       !click_ask_quiet(c, click_sql_rolled_is_there(&made), "i", click_on_number,
				&there) &&
	       there;
}

void click_roll(struct click *c)
{
	uint64_t gen = (uint64_t)now_ns();
	struct large l = { 0 };
	bool has_jobs = true;
	char *twice = NULL, *in = NULL;
	int64_t lacks = 1;

	if (c->at.cluster || !c->at.rollup || click_check_forgets(c, false) || !is_wanted(c, &l) ||
	    click_ask_quiet(c, click_sql_lacks(c, "gpustarve_runs"), "i", click_on_number,
			    &lacks) ||
	    lacks || click_find_jobs(c, false, &has_jobs) ||
	    asprintf(&in, " AND _part IN (%s)", l.parts.parts) < 0)
		goto out;
	if (click_find_twice(c, in, false, &twice) || !twice || make_tables(c))
		goto out;
	if (make(c, gen, &l, twice, has_jobs))
		drop_old(c, gen);
	else
		drop(c, "rolled", gen);
out:
	free(in);
	free(twice);
	click_rolled_free(&l.parts);
}
