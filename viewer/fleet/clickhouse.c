/* SPDX-License-Identifier: Apache-2.0 */
/* The store on ClickHouse: what the interface asks for, made of the other files. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "core/log.h"
#include "clickhouse_priv.h"
#include "sqlite_priv.h"

#define TRIES 3

static struct click *click_of(struct fleet_store *s)
{
	return (struct click *)s;
}

/* The largest number of a replica that a shard of the cluster has. */
static char *replicas_sql(const struct click *c)
{
	char *sql = NULL;
	size_t len;
	FILE *f = open_memstream(&sql, &len);

	if (!f)
		return NULL;
	fputs("SELECT max(replica_num) FROM system.clusters WHERE cluster = ", f);
	click_put_text(f, c->at.cluster);
	fputs(" FORMAT TabSeparated", f);
	return click_sql_end(f, &sql);
}

static int ask_server_number(struct click *c, char *sql, int64_t *number)
{
	struct fleet_request r = { 0 };
	int err = sql ? click_ask_server(c, &r, sql) : -ENOMEM;

	*number = 0;
	if (!err && r.answer.text)
		err = click_rows(r.answer.text, "i", click_on_number, number);
	view_answer_free(&r.answer);
	free(sql);
	return err;
}

/* Servers copy our tables if they say which replica of which shard they are. */
static int check_replicas(struct click *c, int64_t replicas)
{
	int64_t alone, named;
	int err = ask_server_number(c, click_sql_alone(c), &alone);

	if (!err)
		err = ask_server_number(c, click_sql_macros(), &named);
	if (err)
		return err;
	if (alone)
		view_error(
			"%s: shards of cluster %s have %d replicas, and gpustarve's tables there "
			"were made to be copied by nobody; name a database that has none yet",
			c->at.target, c->at.cluster, (int)replicas);
	else if (named < 2)
		view_error("%s: shards of cluster %s have %d replicas, and the server does not say "
			   "which it is; give it ZooKeeper and the macros shard and replica, or "
			   "name a cluster with one replica for each shard",
			   c->at.target, c->at.cluster, (int)replicas);
	return alone || named < 2 ? -EOPNOTSUPP : 0;
}

/*
 * Where a shard has several replicas our tables are made to be copied among them. If they were not,
 * each insert would lie on one of them, and whoever asks another one is told a bill without it, and
 * nothing of what is missing.
 */
int click_check_cluster(struct click *c)
{
	int64_t replicas;

	if (!c->at.cluster || c->cluster_fits)
		return 0;
	int err = ask_server_number(c, replicas_sql(c), &replicas);
	if (!err && replicas > 1)
		err = check_replicas(c, replicas);
	c->has_replicas = !err && replicas > 1;
	c->cluster_fits = !err;
	return err;
}

int click_check_forgets(struct click *c, bool partial)
{
	int64_t forgets;
	int err = c->forgets ? 0 : click_ask_number(c, click_sql_forgets(), partial, &forgets);

	c->forgets |= !err && forgets;
	return err;
}

/* Whoever writes brings a table of before up to date; whoever reads takes it as it is. */
static int check_columns(struct click *c, bool partial)
{
	int64_t lacks = 0;

	if (c->is_looked_at)
		return 0;
	int err = click_check_forgets(c, partial);
	if (!err)
		err = click_ask_number(c, click_sql_lacks(c, "gpustarve_runs"), partial, &lacks);
	c->is_looked_at = !err;
	c->lacks = (uint64_t)lacks;
	return err;
}

static int click_flush(struct fleet_store *s, size_t *waiting)
{
	struct click *c = click_of(s);
	int err = click_check_cluster(c);

	/* A server that does not answer is met once more there, and what is to be sent waits. */
	err = err == -EOPNOTSUPP ? err : click_outbox_flush(c, waiting);
	c->has_sent = !err && !*waiting;
	return err;
}

static int click_put(struct fleet_store *s, const struct fleet_digest *d, size_t n, size_t *waiting)
{
	int err = click_outbox_put(click_of(s), d, n);

	return err ? err : click_flush(s, waiting);
}

/* --- what is stored of a run --- */

struct finding {
	struct fleet_stored *stored;
	int result; /* as fleet_store_find's */
};

static void on_found(void *arg, const struct fleet_cell *cell)
{
	struct finding *f = arg;

	if (f->result >= 0)
		f->result = fleet_stored_add(f->stored, f->result > 0, cell[0].text,
					     (int64_t)cell[1].i);
}

static char *find_sql(const char *run, const char *tenant)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	fputs("SELECT tenant, max(revision) FROM gpustarve_runs WHERE run = ", f);
	click_put_text(f, run);
	if (tenant) {
		fputs(" AND tenant = ", f);
		click_put_text(f, tenant);
	}
	fputs(" GROUP BY tenant LIMIT 2 FORMAT TabSeparated", f);
	return click_sql_end(f, &text);
}

static int click_find(struct fleet_store *s, const char *run, const char *tenant,
		      struct fleet_stored *stored)
{
	struct finding f = { .stored = stored };
	struct fleet_request r = { 0 };
	char *sql = find_sql(run, tenant);
	int err = sql ? click_ask(click_of(s), &r, 1, &sql, false, CLICK_QUIET) : -ENOMEM;

	if (!err && r.answer.text)
		err = click_rows(r.answer.text, "ti", on_found, &f);
	else if (err && click_is_new(&r))
		err = 0;
	view_answer_free(&r.answer);
	free(sql);
	if (err || f.result < 0)
		return err ? err : f.result;
	return click_outbox_find(click_of(s), run, tenant, f.result > 0, stored);
}

static int fetch(struct click *c, const enum fleet_view *view, size_t n,
		 const struct fleet_query *q, const struct click_table *t)
{
	struct fleet_request r[FLEET_VIEWS] = { 0 };
	char *sql[FLEET_VIEWS] = { NULL };
	int err = 0;

	for (size_t i = 0; i < n; i++) {
		sql[i] = click_sql_view(view[i], q, t);
		err = sql[i] ? err : -ENOMEM;
	}
	if (!err)
		err = click_ask(c, r, n, sql, q->partial, CLICK_LOUD);
	for (size_t i = 0; i < n; i++) {
		free(sql[i]);
		if (err) {
			view_answer_free(&r[i].answer);
			continue;
		}
		if (c->has_ready[view[i]])
			view_answer_free(&c->ready[view[i]].answer);
		c->ready[view[i]] = r[i];
		c->has_ready[view[i]] = true;
	}
	return err;
}

/*
 * FINAL is asked for only where many runs have several rows. Which these are holds if nothing was
 * inserted or merged until all views were read; else it is tried again.
 */
static int click_prepare(struct fleet_store *s, const enum fleet_view *view, size_t n,
			 const struct fleet_query *q)
{
	struct click *c = click_of(s);
	bool holds = false, of_sums = *view == FLEET_VIEW_UNITS;
	int err = click_check_cluster(c);

	if (!err)
		err = check_columns(c, q->partial);
	for (int tries = 0; tries < TRIES && !err && !holds; tries++) {
		err = click_table_find(c, q->partial, of_sums);
		if (!err && of_sums && !click_is_rolled(*view, q, &c->table))
			err = -ENOTSUP;
		if (!err)
			err = fetch(c, view, n, q, &c->table);
		if (!err)
			err = click_table_holds(c, q->partial, &holds);
	}
	if (err || holds)
		return err;
	return of_sums ? -ENOTSUP : fetch(c, view, n, q, &c->table);
}

static int click_read(struct fleet_store *s, enum fleet_view view, const struct fleet_query *q,
		      void (*on_row)(void *arg, const struct fleet_cell *cell), void *arg)
{
	struct click *c = click_of(s);
	int err = c->has_ready[view] ? 0 : click_prepare(s, &view, 1, q);

	if (err)
		return err;
	if (c->ready[view].answer.text)
		err = click_rows(c->ready[view].answer.text, fleet_view_columns[view], on_row, arg);
	view_answer_free(&c->ready[view].answer);
	c->has_ready[view] = false;
	if (err)
		view_error("%s: the answer makes no sense; is this ClickHouse?", c->at.target);
	return err;
}

static char *note_sql(const char *name, int64_t at_ns)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	fputs(at_ns ? "INSERT INTO gpustarve_noted VALUES ("
		    : "SELECT count() FROM gpustarve_noted WHERE name = ",
	      f);
	click_put_text(f, name);
	if (at_ns)
		fprintf(f, ", %" PRId64 ")", at_ns);
	else
		fputs(" FORMAT TabSeparated", f);
	return click_sql_end(f, &text);
}

/* At the server, for other machines that look there too. */
static int note_there(struct click *c, const char *name, int64_t at_ns)
{
	struct fleet_request r = { 0 };
	char *sql = note_sql(name, 0);
	int64_t count = 0;
	int err = sql ? click_ask_rows(c, sql, false, "i", click_on_number, &count) : -ENOMEM;

	free(sql);
	if (err || count)
		return err;
	sql = note_sql(name, at_ns);
	err = sql ? click_ask(c, &r, 1, &sql, false, CLICK_LOUD) : -ENOMEM;
	view_answer_free(&r.answer);
	free(sql);
	return err ? err : 1;
}

/*
 * The outbox's own note keeps programs on this machine apart, which ask at the same time. It goes
 * again where the server fails, so that whoever comes next tells what was not told.
 */
static int click_note(struct fleet_store *s, const char *name, int64_t at_ns)
{
	struct click *c = click_of(s);
	int is_new = fleet_db_note(c->outbox, name, at_ns);

	if (is_new <= 0)
		return is_new;
	is_new = note_there(c, name, at_ns);
	if (is_new < 0)
		fleet_db_unnote(c->outbox, name);
	return is_new;
}

static void click_close(struct fleet_store *s)
{
	struct click *c = click_of(s);

	if (c->has_sent)
		click_roll(c);
	for (int v = 0; v < FLEET_VIEWS; v++)
		if (c->has_ready[v])
			view_answer_free(&c->ready[v].answer);
	click_table_forget(c);
	fleet_db_close(c->outbox);
	base_arena_fini(&c->mem);
	free(c);
}

int fleet_clickhouse_open(struct fleet_store **s, const char *url, bool write)
{
	static const struct fleet_store_ops ops = { .put = click_put,
						    .find = click_find,
						    .flush = click_flush,
						    .prepare = click_prepare,
						    .read = click_read,
						    .note = click_note,
						    .put_pulses = click_put_pulses,
						    .read_pulses = click_read_pulses,
						    .close = click_close };
	struct click *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->base.ops = &ops;
	int err = click_address_parse(&c->at, &c->mem, url);
	if (!err && write)
		err = fleet_db_open(&c->outbox, c->at.outbox, true);
	if (err) {
		click_close(&c->base);
		return err;
	}
	*s = &c->base;
	return 0;
}
