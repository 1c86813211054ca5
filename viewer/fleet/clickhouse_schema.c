/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ClickHouse's tables: how they are made, which columns came later, and how tables that lack these
 * are read.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "clickhouse_priv.h"

/*
 * What a digest says, in columns of their own: no bill needs to read whole digests for it. The
 * server makes them of each row that comes, from programs before this one, too; `*` is without
 * them.
 */
#define RULES_EXPRESSION "greatest(toInt64OrZero(extract(digest, '\"rules\": ?([0-9]+)')), 1)"
#define WHOLE_EXPRESSION "position(digest, '\"whole_job\": true') > 0"
#define REST_EXPRESSION "toInt64OrZero(extract(digest, '\"rest_of_job_ns\": ([0-9]+)'))"

/* [["samples", 204, 1]], but for the last bracket; units.c reads it. "" where it tells none. */
#define UNITS_AT "position(digest, '\"units\": [')"
#define UNITS_TEXT "substring(digest, " UNITS_AT ", 1024)"
#define UNITS_EXPRESSION \
	"if(" UNITS_AT " > 0, substring(" UNITS_TEXT ", 1, position(" UNITS_TEXT ", ']]')), '')"

/* [[0, 0, 3600, 1, 3600]] in the same way; job_rest.h reads it. */
#define SPANS_AT "position(digest, '" FLEET_REST_HEAD "')"
#define SPANS_TEXT "substring(digest, " SPANS_AT ", " FLEET_REST_ROOM ")"
#define SPANS_EXPRESSION \
	"if(" SPANS_AT " > 0, substring(" SPANS_TEXT ", 1, position(" SPANS_TEXT ", ']]')), '')"

/* The columns that a row brings. */
static const char columns[] =
#define RUN_TEXT(column, value) #column " String, "
#define RUN_ADDED(column, value, missing) #column " String DEFAULT '" missing "', "
#define RUN_INT(column, array, value) #array " Int64, "
#define RUN_REVISION(value) "revision UInt64, "
#include "run_columns.def"
#define LINE_TEXT(member, array) #array " Array(String), "
#define LINE_INT(member, column, array) #array " Array(Int64), "
#define SUM(symbol, column) #column " Array(Int64), "
#include "facts/fleet_lines.def"
	"classes Array(String), class_ns Array(Int64),"
	" class_usd Array(Int64), spot_classes Array(String), spot_places Array(String),"
	" spot_ns Array(Int64), spot_usd Array(Int64), fix_ids Array(String),"
	" fix_titles Array(String), fix_classes Array(String), fix_places Array(String),"
	" fix_briefs Array(String), fix_ns Array(Int64), fix_usd Array(Int64),"
	" label_names Array(String), label_values Array(String), digest String";

/*
 * On the table that stands for all shards these are names alone: 18.16 would send them with each
 * row, and the shards refuse rows that bring them.
 */
#define RULES "Int64 MATERIALIZED " RULES_EXPRESSION
#define RULES_OF_SHARDS "Int64 ALIAS " RULES_EXPRESSION
#define WHOLE "UInt8 MATERIALIZED " WHOLE_EXPRESSION
#define WHOLE_OF_SHARDS "UInt8 ALIAS " WHOLE_EXPRESSION
#define REST "Int64 MATERIALIZED " REST_EXPRESSION
#define REST_OF_SHARDS "Int64 ALIAS " REST_EXPRESSION
#define UNITS "String MATERIALIZED " UNITS_EXPRESSION
#define UNITS_OF_SHARDS "String ALIAS " UNITS_EXPRESSION
#define SPANS "String MATERIALIZED " SPANS_EXPRESSION
#define SPANS_OF_SHARDS "String ALIAS " SPANS_EXPRESSION

static const char derived[] = "rules " RULES ", whole_job " WHOLE ", rest_of_job_ns " REST
			      ", units_told " UNITS ", rest_spans " SPANS;
static const char derived_of_shards[] =
	"rules " RULES_OF_SHARDS ", whole_job " WHOLE_OF_SHARDS ", rest_of_job_ns " REST_OF_SHARDS
	", units_told " UNITS_OF_SHARDS ", rest_spans " SPANS_OF_SHARDS;

/*
 * {shard} and {replica} are each server's own to say (macros in its configuration). What is noted
 * is of no shard: all servers have it.
 */
#define COPIED(path, replica) \
	"ReplicatedReplacingMergeTree('/clickhouse/tables/" path "', '" replica "'"
#define RUNS_COPIED COPIED("{shard}/%1$s/gpustarve_runs", "{replica}")
#define NOTED_COPIED COPIED("%1$s/gpustarve_noted", "{shard}-{replica}")

static char *sql_runs(const struct click *c)
{
	char *sql = NULL;

	return asprintf(
		       &sql,
		       c->has_replicas
			       ? "CREATE TABLE IF NOT EXISTS %1$s.gpustarve_%2$s (%3$s, %4$s) ENGINE=" RUNS_COPIED
				 ", revision) ORDER BY (tenant, run)"
			       : "CREATE TABLE IF NOT EXISTS %1$s.gpustarve_%2$s (%3$s, %4$s)"
				 " ENGINE=ReplacingMergeTree(revision) ORDER BY (tenant, run)",
		       c->at.database, c->at.cluster ? "runs_local" : "runs", columns, derived) < 0
		       ? NULL
		       : sql;
}

static char *sql_noted(const struct click *c)
{
	char *sql = NULL;

	return asprintf(&sql,
			c->has_replicas ? "CREATE TABLE IF NOT EXISTS %1$s.gpustarve_noted"
					  " (name String, at_ns Int64) ENGINE=" NOTED_COPIED
					  ") ORDER BY name"
					: "CREATE TABLE IF NOT EXISTS %1$s.gpustarve_noted"
					  " (name String, at_ns Int64) ENGINE=ReplacingMergeTree"
					  " ORDER BY name",
			c->at.database) < 0
		       ? NULL
		       : sql;
}

static char *sql_all_shards(const struct click *c)
{
	const char *database = c->at.database;
	char *sql = NULL;

	return asprintf(&sql,
			"CREATE TABLE IF NOT EXISTS %s.gpustarve_runs (%s, %s) ENGINE="
			"Distributed(%s, %s, gpustarve_runs_local, cityHash64(tenant, run))",
			database, columns, derived_of_shards, c->at.cluster, database) < 0
		       ? NULL
		       : sql;
}

char *click_sql_database(const struct click *c)
{
	char *sql = NULL;

	return asprintf(&sql, "CREATE DATABASE IF NOT EXISTS %s", c->at.database) < 0 ? NULL : sql;
}

char *click_sql_schema(const struct click *c, size_t statement)
{
	errno = 0;
	switch (statement) {
	case 0:
		return click_sql_database(c);
	case 1:
		return sql_runs(c);
	case 2:
		return sql_noted(c);
	case 3:
		return c->at.cluster ? sql_all_shards(c) : NULL;
	default:
		return NULL;
	}
}

char *click_sql_alone(const struct click *c)
{
	char *sql = NULL;

	return asprintf(
		       &sql,
		       "SELECT toInt64(count()) FROM system.tables WHERE database = '%s'"
		       " AND name = 'gpustarve_runs_local' AND NOT startsWith(engine, 'Replicated')"
		       " FORMAT TabSeparated",
		       c->at.database) < 0
		       ? NULL
		       : sql;
}

char *click_sql_forgets(void)
{
	return strdup("SELECT toInt64(count()) FROM system.settings WHERE name = '" CLICK_FORGET
		      "' FORMAT TabSeparated");
}

char *click_sql_macros(void)
{
	return strdup("SELECT toInt64(count()) FROM system.macros"
		      " WHERE macro IN ('shard', 'replica') FORMAT TabSeparated");
}

/* What came later, in the order of their bits: a column's type, and that of all shards. */
static const struct {
	const char *name, *own, *of_shards;
	const char *missing; /* what it is of a table that lacks it: no constant on a shard's way */
	bool derived; /* `*` is without it */
} added[] = {
#define NAME(symbol, name, column, title, told)
#define NAME_ADDED(symbol, name, column, title, told, missing)                     \
	{ #column, "String DEFAULT '" missing "'", "String DEFAULT '" missing "'", \
	  "materialize('" missing "')", false },
#include "facts/fleet_names.def"
	{ "rules", RULES, RULES_OF_SHARDS, RULES_EXPRESSION, true },
	{ "whole_job", WHOLE, WHOLE_OF_SHARDS, WHOLE_EXPRESSION, true },
	{ "rest_of_job_ns", REST, REST_OF_SHARDS, REST_EXPRESSION, true },
	{ "units_told", UNITS, UNITS_OF_SHARDS, UNITS_EXPRESSION, true },
	{ "rest_spans", SPANS, SPANS_OF_SHARDS, SPANS_EXPRESSION, true },
};
#define ADDED (sizeof(added) / sizeof(added[0]))

/* A column by itself, so that what was cut off half-way goes on; of the shard first. */
char *click_sql_upgrade(const struct click *c, size_t statement)
{
	size_t tables = c->at.cluster ? 2 : 1, i = statement % ADDED;
	bool of_shards = c->at.cluster && statement >= ADDED;
	char *sql = NULL;

	errno = 0;
	if (statement < tables * ADDED &&
	    asprintf(&sql, "ALTER TABLE %s.gpustarve_%s ADD COLUMN %s %s", c->at.database,
		     c->at.cluster && !of_shards ? "runs_local" : "runs", added[i].name,
		     of_shards ? added[i].of_shards : added[i].own) >= 0)
		return sql;
	return NULL;
}

char *click_sql_end(FILE *f, char *const *text)
{
	if (!fclose(f))
		return *text;
	free(*text);
	return NULL;
}

char *click_sql_lacks(const struct click *c, const char *table)
{
	char *sql = NULL;
	size_t len;
	FILE *f = open_memstream(&sql, &len);

	if (!f)
		return NULL;
	fputs("SELECT toInt64(if(count() = 0, 0, 0", f);
	for (size_t i = 0; i < ADDED; i++)
		fprintf(f, " + (1 - max(name = '%s')) * %" PRIu64, added[i].name, UINT64_C(1) << i);
	fprintf(f,
		")) FROM system.columns WHERE database = '%s' AND table = '%s'"
		" FORMAT TabSeparated",
		c->at.database, table);
	return click_sql_end(f, &sql);
}

char *click_sql_columns(uint64_t lacks)
{
	char *sql = NULL;
	size_t len;
	FILE *f = open_memstream(&sql, &len);

	if (!f)
		return NULL;
	fputc('*', f);
	for (size_t i = 0; i < ADDED; i++) {
		if (lacks >> i & 1)
			fprintf(f, ", %s AS %s", added[i].missing, added[i].name);
		else if (added[i].derived)
			fprintf(f, ", %s", added[i].name);
	}
	return click_sql_end(f, &sql);
}

char *click_sql_rows(const char *table, uint64_t lacks)
{
	char *all = lacks ? click_sql_columns(lacks) : NULL, *rows = NULL;

	if (lacks && (!all || asprintf(&rows, "(SELECT %s FROM %s)", all, table) < 0))
		rows = NULL;
	free(all);
	return lacks ? rows : strdup(table);
}
