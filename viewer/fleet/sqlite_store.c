/* SPDX-License-Identifier: Apache-2.0 */
/* Digests into SQLite: each run with its rows, or none of them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/minmax.h"
#include "sqlite_priv.h"

struct lite {
	struct fleet_store base;
	sqlite3 *db;
};

struct batch {
	const struct fleet_digest *digest;
	size_t n;
};

/* The key of the stored one, 0 without; *revision of it. Negative errno. */
static int64_t find(sqlite3 *db, const struct fleet_digest *d, int64_t *revision)
{
	sqlite3_stmt *st;
	int64_t key = 0;
	int err =
		fleet_db_prepare(db, &st, "SELECT key, revision FROM run WHERE tenant=? AND run=?");

	if (err)
		return err;
	sqlite3_bind_text(st, 1, d->tenant, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 2, d->run, -1, SQLITE_STATIC);
	int code = sqlite3_step(st);
	if (code == SQLITE_ROW) {
		key = sqlite3_column_int64(st, 0);
		*revision = sqlite3_column_int64(st, 1);
	} else if (code != SQLITE_DONE) {
		key = fleet_db_error(db, code);
	}
	sqlite3_finalize(st);
	return key;
}

static int forget(sqlite3 *db, int64_t key)
{
	static const char *const sql[] = {
		"DELETE FROM gpu WHERE key=?",	 "DELETE FROM class WHERE key=?",
		"DELETE FROM spot WHERE key=?",	 "DELETE FROM fix WHERE key=?",
		"DELETE FROM label WHERE key=?", "DELETE FROM digest WHERE key=?",
		"DELETE FROM run WHERE key=?",
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(sql) / sizeof(sql[0]) && !err; i++)
		err = fleet_db_run(db, sql[i], "i", key);
	return err;
}

static int put_run(sqlite3 *db, const struct fleet_digest *d)
{
	const struct fleet_derived derived = fleet_digest_derive(d), *more = &derived;

	return fleet_db_run(db,
			    "INSERT INTO run("
#define RUN_TEXT(column, value) #column ", "
#define RUN_INT(column, array, value) #column ", "
#include "run_columns.def"
			    "rules) VALUES("
#define RUN_TEXT(column, value) "?,"
#define RUN_INT(column, array, value) "?,"
#include "run_columns.def"
			    "?)",
#define RUN_TEXT(column, value) "t"
#define RUN_INT(column, array, value) "i"
#include "run_columns.def"
			    "i"
#define RUN_TEXT(column, value) , value
#define RUN_INT(column, array, value) , (int64_t)(value)
#include "run_columns.def"
			    ,
			    (int64_t)d->rules);
}

static int put_gpus(sqlite3 *db, int64_t key, const struct fleet_digest *d)
{
	int err = 0;

	for (size_t i = 0; i < d->lines && !err; i++) {
		const struct fleet_line *l = &d->line[i];
		err = fleet_db_run(db,
				   "INSERT INTO gpu VALUES(?,?"
#define LINE_TEXT(member, array) ",?"
#define LINE_INT(member, column, array) ",?"
#define SUM(symbol, column) ",?"
#include "facts/fleet_lines.def"
				   ")",
				   "ii"
#define LINE_TEXT(member, array) "t"
#define LINE_INT(member, column, array) "i"
#define SUM(symbol, column) "i"
#include "facts/fleet_lines.def"
				   ,
				   key, (int64_t)i
#define LINE_TEXT(member, array) , l->member
#define LINE_INT(member, column, array) , (int64_t)l->member
#define SUM(symbol, column) , l->column
#define LINE_UNPRICED(symbol, column) , l->priced ? (int64_t)0 : l->held_ns
#define LINE_MINUTES(symbol, column, band) , l->minutes[band]
#include "facts/fleet_lines.def"
		);
	}
	return err;
}

/* A name that comes twice keeps its first value. */
static int put_rest(sqlite3 *db, int64_t key, const struct fleet_digest *d)
{
	int err = 0;

	for (size_t i = 0; i < d->shares && !err; i++)
		err = fleet_db_run(db, "INSERT OR IGNORE INTO class VALUES(?,?,?,?)", "itii", key,
				   d->share[i].class, d->share[i].ns, d->share[i].usd);
	for (size_t i = 0; i < d->hotspots && !err; i++)
		err = fleet_db_run(db, "INSERT INTO spot VALUES(?,?,?,?,?,?)", "iittii", key,
				   (int64_t)i, d->hotspot[i].class, d->hotspot[i].place,
				   d->hotspot[i].ns, d->hotspot[i].usd);
	for (size_t i = 0; i < d->fixes && !err; i++)
		err = fleet_db_run(db, "INSERT INTO fix VALUES(?,?,?,?,?,?,?,?,?)", "iitttttii",
				   key, (int64_t)i, d->fix[i].id, d->fix[i].title, d->fix[i].class,
				   d->fix[i].place, d->fix[i].brief, d->fix[i].ns, d->fix[i].usd);
	for (size_t i = 0; i < d->labels && !err; i++)
		err = fleet_db_run(db, "INSERT OR IGNORE INTO label VALUES(?,?,?)", "itt", key,
				   d->label_of[i].key, d->label_of[i].value);
	return err;
}

/* What it holds: the runs of its job, or the same run by others. Runs are set aside. */
static int forget_steps(sqlite3 *db, const struct fleet_digest *d)
{
	int64_t key;
	bool run;
	int err = 0;

	while (!err && (key = fleet_db_job_step(db, d, &run)) != 0) {
		err = key < 0 ? (int)key : run ? fleet_db_aside_row(db, key) : 0;
		if (!err)
			err = forget(db, key);
	}
	return err;
}

static int insert(sqlite3 *db, const struct fleet_digest *d)
{
	int err = put_run(db, d);

	if (err)
		return err;
	int64_t key = sqlite3_last_insert_rowid(db);
	err = put_gpus(db, key, d);
	if (!err)
		err = put_rest(db, key, d);
	char *text = err ? NULL : fleet_digest_write(d);
	if (!err)
		err = text ? fleet_db_run(db, "INSERT INTO digest VALUES(?,?)", "it", key, text)
			   : -ENOMEM;
	free(text);
	return err;
}

static int put_one(sqlite3 *db, const struct fleet_digest *d)
{
	int64_t revision = 0, key = find(db, d, &revision);
	bool of_job = fleet_digest_of_job(d);
	int err;

	if (key < 0)
		return (int)key;
	if (key && revision >= d->revision)
		return 0;
	err = fleet_db_job_holds(db, d);
	if (err)
		return err < 0 || of_job ? base_min(err, 0) : fleet_db_aside(db, d);
	err = key ? forget(db, key) : 0;
	if (!err && d->job[0])
		err = forget_steps(db, d);
	if (!err && !of_job && d->job[0])
		err = fleet_db_not_aside(db, d);
	if (!err)
		err = insert(db, d);
	if (!err && of_job && !d->whole_job)
		err = fleet_db_take_back(db, d, put_one);
	return err;
}

static int put_all(sqlite3 *db, void *arg)
{
	const struct batch *b = arg;
	int err = 0;

	for (size_t i = 0; i < b->n && !err; i++)
		err = put_one(db, &b->digest[i]);
	return err;
}

static int lite_put(struct fleet_store *s, const struct fleet_digest *d, size_t n, size_t *waiting)
{
	struct batch b = { d, n };

	(void)waiting;
	return fleet_db_within(((struct lite *)s)->db, put_all, &b);
}

int fleet_sqlite_digest(struct fleet_store *s, const char *run, struct fleet_digest *d)
{
	sqlite3 *db = ((struct lite *)s)->db;
	sqlite3_stmt *st;
	int rows = 0, code,
	    err = fleet_db_prepare(db, &st,
				   "SELECT g.text FROM run r JOIN digest g"
				   " ON g.key=r.key WHERE r.run=? LIMIT 2");
	const char *text, *why;

	if (err)
		return err;
	sqlite3_bind_text(st, 1, run, -1, SQLITE_STATIC);
	while ((code = sqlite3_step(st)) == SQLITE_ROW) {
		text = (const char *)sqlite3_column_text(st, 0);
		rows += text && !fleet_digest_read(d, text, strlen(text), &why) ? 1 : 2;
	}
	sqlite3_finalize(st);
	return code == SQLITE_DONE ? rows == 1 : fleet_db_error(db, code);
}

static int lite_find(struct fleet_store *s, const char *run, const char *tenant,
		     struct fleet_stored *stored)
{
	const char *const text[] = { run, tenant, NULL };

	return fleet_db_find(((struct lite *)s)->db,
			     tenant ? "SELECT tenant, revision FROM run WHERE run=? AND tenant=?"
				    : "SELECT tenant, revision FROM run WHERE run=?",
			     text, false, stored);
}

static int lite_read(struct fleet_store *s, enum fleet_view view, const struct fleet_query *q,
		     void (*on_row)(void *arg, const struct fleet_cell *cell), void *arg)
{
	if (view == FLEET_VIEW_UNITS || view == FLEET_VIEW_MONTHS || view == FLEET_VIEW_OVER_MONTH)
		return -ENOTSUP;
	return fleet_db_read(((struct lite *)s)->db, view, q, on_row, arg);
}

static int lite_note(struct fleet_store *s, const char *name, int64_t at_ns)
{
	return fleet_db_note(((struct lite *)s)->db, name, at_ns);
}

static int lite_put_pulses(struct fleet_store *s, const struct fleet_pulses *p)
{
	return fleet_db_put_pulses(((struct lite *)s)->db, p);
}

static int lite_read_pulses(struct fleet_store *s, const struct fleet_pulses_query *q,
			    struct fleet_pulses *p)
{
	return fleet_db_read_pulses(((struct lite *)s)->db, q, p);
}

static void lite_close(struct fleet_store *s)
{
	fleet_db_close(((struct lite *)s)->db);
	free(s);
}

int fleet_sqlite_open(struct fleet_store **s, const char *file, bool write)
{
	static const struct fleet_store_ops ops = { .put = lite_put,
						    .find = lite_find,
						    .read = lite_read,
						    .note = lite_note,
						    .put_pulses = lite_put_pulses,
						    .read_pulses = lite_read_pulses,
						    .close = lite_close };
	struct lite *l = calloc(1, sizeof(*l));
	int err = l ? fleet_db_open(&l->db, file, write) : -ENOMEM;

	if (err) {
		free(l);
		return err;
	}
	l->base.ops = &ops;
	*s = &l->base;
	return 0;
}
