/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What digests of schedulers' jobs hold, as ClickHouse's SQL: sqlite_jobs.c has the rule. Rows stay
 * where they are, and it is told when they are read: whoever comes first, and at the same time on
 * another shard. So it follows from all rows of a job together, and from nothing else.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "clickhouse_priv.h"

/*
 * Of each job, the digests of it (w_...), of whom the latest of each and no other is asked, and
 * which of them count; and the others (o_...), where some are of no tenant.
 */
#define OF_JOB "whole_job OR rest_of_job_ns > 0"
#define ALL_NS "if(rest_of_job_ns > 0, rest_of_job_ns, run_held_ns)"
static const char jobs[] =
	"SELECT groupArray(tenant) AS tenants, groupArray(run) AS steps,"
	" groupArray(revision) AS revisions,"
	" groupArray(start_ns) AS starts, groupArray(" OF_JOB ") AS kinds,"
	" groupArray(" ALL_NS ") AS alls,"
	" groupArrayIf(tenant, " OF_JOB ") AS w_tenant, groupArrayIf(run, " OF_JOB ") AS w_run,"
	" groupArrayIf(revision, " OF_JOB ") AS w_revision,"
	" groupArrayIf(start_ns, " OF_JOB ") AS w_start,"
	" groupArrayIf(start_ns + wall_ns, " OF_JOB ") AS w_end,"
	" groupArrayIf(" ALL_NS ", " OF_JOB ") AS w_all,"
	" groupArrayIf(whole_job, " OF_JOB ") AS w_whole,"
	" countIf(tenant = '') > 0 AND countIf(tenant != '') > 0 AS mixed,"
	" if(mixed, groupArrayIf(tenant, NOT (" OF_JOB ")), emptyArrayString()) AS o_tenant,"
	" if(mixed, groupArrayIf(run, NOT (" OF_JOB ")), emptyArrayString()) AS o_run,"
	" if(mixed, groupArrayIf(" ALL_NS ", NOT (" OF_JOB ")), emptyArrayInt64()) AS o_all";

/*
 * 18.16 knows in a function of arrays what the select within gave a name, not what its own did; and
 * of that only what stands outside of such functions, too.
 */
#define W "w_tenant, w_run, w_revision, w_start, w_end, w_all, w_whole, o_tenant, o_run, o_all"
#define OUTSIDE                                                                                 \
	"notEmpty(w_tenant) AND notEmpty(w_run) AND notEmpty(w_revision) AND notEmpty(w_start)" \
	" AND notEmpty(w_end) AND notEmpty(w_all) AND notEmpty(w_whole) AND notEmpty(w_last)"
static const char last[] =
	"SELECT tenants, steps, revisions, starts, kinds, alls, " W ","
	" arrayFilter(i -> NOT arrayExists((t, r, v) -> t = w_tenant[i] AND r = w_run[i]"
	" AND v > w_revision[i], w_tenant, w_run, w_revision), arrayEnumerate(w_tenant)) AS w_last";
static const char counts[] =
	"SELECT tenants, steps, revisions, starts, kinds, alls, " W ", w_last,"
	" arrayFilter(i -> NOT arrayExists(k -> w_tenant[k] != w_tenant[i]"
	" AND (w_tenant[k] = '' OR w_tenant[i] = '') AND w_start[i] <= w_end[k]"
	" AND (w_all[k] > w_all[i] OR (w_all[k] = w_all[i] AND w_tenant[i] = '')),"
	" w_last), w_last) AS w_counts";

static const char held_by_job[] =
	"if(kind, NOT arrayExists((t, r, v) -> t = whose AND r = step AND v > version,"
	" w_tenant, w_run, w_revision) AND arrayExists(i -> w_tenant[i] != whose"
	" AND (w_tenant[i] = '' OR whose = '') AND began <= w_end[i]"
	" AND (w_all[i] > all OR (w_all[i] = all AND whose = '')), w_last),"
	" arrayExists(i -> w_whole[i] AND began <= w_end[i]"
	" AND (w_tenant[i] = whose OR w_tenant[i] = '' OR whose = ''), w_counts)"
	" OR arrayExists((t, r, h) -> r = step AND t != whose AND (t = '' OR whose = '')"
	" AND (h > all OR (h = all AND whose = '')), o_tenant, o_run, o_all))";

/*
 * A job can hold a run if it has a digest of all of it, or rows of a tenant's and of nobody's. The
 * others, which are most where a rest stands beside runs, need no lists of their rows.
 */
#define JOBS_WITH(in, what) \
	"(cluster, job) " in " (SELECT cluster, job FROM %1$s WHERE job != ''%2$s AND " what ")"
#define MAY_HOLD(in)                                     \
	"(" JOBS_WITH(in, "whole_job") " OR " JOBS_WITH( \
		in, "tenant = '' AND " JOBS_WITH(in, "tenant != ''")) ")"

char *click_sql_held(const struct click_table *t, const char *more, bool few)
{
	char *rows = click_sql_rows("gpustarve_runs", t->lacks), *may = NULL, *sql = NULL;

	if (few)
		may = strdup("1");
	else if (!rows ||
		 asprintf(&may, t->many ? MAY_HOLD("GLOBAL IN") : MAY_HOLD("IN"), rows, more) < 0)
		may = NULL;
	if (rows && may &&
	    asprintf(&sql,
		     "SELECT whose, step FROM (%s FROM (%s FROM (%s FROM %s WHERE job != ''%s"
		     " AND %s GROUP BY cluster, job HAVING notEmpty(w_tenant)"
		     " AND (mixed OR has(w_whole, 1)))))"
		     " ARRAY JOIN tenants AS whose, steps AS step, revisions AS version,"
		     " starts AS began, kinds AS kind, alls AS all WHERE " OUTSIDE " AND %s",
		     counts, last, jobs, rows, more, may, held_by_job) < 0)
		sql = NULL;
	free(may);
	free(rows);
	return sql;
}

char *click_sql_held_of_twice(const struct click_table *t)
{
	char *rows = click_sql_rows("gpustarve_runs", t->lacks), *more = NULL, *held = NULL;

	if (rows && asprintf(&more,
			     " AND (cluster, job) %sIN (SELECT cluster, job FROM %s"
			     " WHERE job != '' AND (tenant, run) IN (%s))",
			     t->many ? "GLOBAL " : "", rows, t->twice) >= 0)
		held = click_sql_held(t, more, true);
	free(rows);
	free(more);
	return held;
}

char *click_sql_jobs(uint64_t lacks)
{
	char *rows = click_sql_rows("gpustarve_runs", lacks), *sql = NULL;

	if (rows && asprintf(&sql,
			     "SELECT count() FROM %s WHERE job != '' AND (" OF_JOB ")"
			     " FORMAT TabSeparated",
			     rows) < 0)
		sql = NULL;
	free(rows);
	return sql;
}
