/* SPDX-License-Identifier: Apache-2.0 */
/* The file: opened, made, told from others. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "core/log.h"
#include "sqlite_priv.h"

#define APPLICATION 0x67737676 /* "gsvv" */
#define VERSION 4 /* 2: run.rules; 3: NAME_ADDED of fleet_names.def; 4: aside */
#define PATIENCE_MS 60000

/* Runs that the digest of their job holds: sqlite_jobs.c */
#define ASIDE                                                                            \
	"CREATE TABLE aside(tenant TEXT NOT NULL, run TEXT NOT NULL, job TEXT NOT NULL," \
	" cluster TEXT NOT NULL, revision INTEGER NOT NULL, text TEXT NOT NULL,"         \
	" PRIMARY KEY(tenant, run)) WITHOUT ROWID;CREATE INDEX aside_job ON aside(job);"

static const char schema[] =
	"CREATE TABLE run(key INTEGER PRIMARY KEY,"
#define RUN_TEXT(column, value) " " #column " TEXT NOT NULL,"
#define RUN_INT(column, array, value) " " #column " INTEGER NOT NULL,"
#include "run_columns.def"
	" rules INTEGER NOT NULL DEFAULT 1, UNIQUE(tenant, run));"
	"CREATE INDEX run_start ON run(start_ns);"
	"CREATE TABLE gpu(key INTEGER NOT NULL, n INTEGER NOT NULL,"
#define LINE_TEXT(member, array) " " #member " TEXT NOT NULL,"
#define LINE_INT(member, column, array) " " #column " INTEGER NOT NULL,"
#define SUM(symbol, column) " " #column " INTEGER NOT NULL,"
#include "facts/fleet_lines.def"
	" PRIMARY KEY(key, n)) WITHOUT ROWID;"
	"CREATE TABLE class(key INTEGER NOT NULL, class TEXT NOT NULL, ns INTEGER NOT NULL,"
	" usd INTEGER NOT NULL, PRIMARY KEY(key, class)) WITHOUT ROWID;"
	"CREATE TABLE spot(key INTEGER NOT NULL, n INTEGER NOT NULL, class TEXT NOT NULL,"
	" place TEXT NOT NULL, ns INTEGER NOT NULL, usd INTEGER NOT NULL,"
	" PRIMARY KEY(key, n)) WITHOUT ROWID;"
	"CREATE TABLE fix(key INTEGER NOT NULL, n INTEGER NOT NULL, id TEXT NOT NULL,"
	" title TEXT NOT NULL, class TEXT NOT NULL, place TEXT NOT NULL, brief TEXT NOT NULL,"
	" ns INTEGER NOT NULL, usd INTEGER NOT NULL, PRIMARY KEY(key, n)) WITHOUT ROWID;"
	"CREATE TABLE label(key INTEGER NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL,"
	" PRIMARY KEY(key, name)) WITHOUT ROWID;"
	"CREATE TABLE digest(key INTEGER PRIMARY KEY, text TEXT NOT NULL);"
	"CREATE TABLE noted(name TEXT PRIMARY KEY, at_ns INTEGER NOT NULL) WITHOUT ROWID;"
	"CREATE TABLE outbox(target TEXT NOT NULL, tenant TEXT NOT NULL, run TEXT NOT NULL,"
	" revision INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY(target, tenant, run))"
	" WITHOUT ROWID;" ASIDE "PRAGMA application_id=1735620214;"
	"PRAGMA user_version=4;";

_Static_assert(APPLICATION == 1735620214, "the number in the schema");

int fleet_db_error(sqlite3 *db, int code)
{
	const char *file = sqlite3_db_filename(db, "main");

	view_error("%s: %s; %s", file && file[0] ? file : "the store", sqlite3_errmsg(db),
		   code == SQLITE_FULL	 ? "make room"
		   : code == SQLITE_BUSY ? "another program writes; try again"
		   : code == SQLITE_NOTADB || code == SQLITE_CORRUPT
			   ? "restore it, or make it again from the runs"
			   : "see gpustarve-digest(1)");
	switch (code & 0xff) {
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_READONLY:
	case SQLITE_PERM:
		return -EACCES;
	case SQLITE_NOTADB:
	case SQLITE_CORRUPT:
		return -EBADMSG;
	default:
		return -EIO;
	}
}

int fleet_db_prepare(sqlite3 *db, sqlite3_stmt **st, const char *sql)
{
	int code = sqlite3_prepare_v2(db, sql, -1, st, NULL);

	return code ? fleet_db_error(db, code) : 0;
}

static int bind(sqlite3_stmt *st, const char *types, va_list ap)
{
	int code = SQLITE_OK;

	for (int i = 0; types[i] && !code; i++) {
		if (types[i] == 't')
			code = sqlite3_bind_text(st, i + 1, va_arg(ap, const char *), -1,
						 SQLITE_STATIC);
		else
			code = sqlite3_bind_int64(st, i + 1, va_arg(ap, int64_t));
	}
	return code;
}

/* A statement that was run before is there still. */
static int recall(sqlite3 *db, sqlite3_stmt **st, const char *sql)
{
	for (*st = sqlite3_next_stmt(db, NULL); *st; *st = sqlite3_next_stmt(db, *st))
		if (!sqlite3_stmt_busy(*st) && !strcmp(sqlite3_sql(*st), sql))
			return 0;
	int code = sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, st, NULL);
	return code ? fleet_db_error(db, code) : 0;
}

int fleet_db_run(sqlite3 *db, const char *sql, const char *types, ...)
{
	sqlite3_stmt *st;
	va_list ap;
	int err = recall(db, &st, sql), code;

	if (err)
		return err;
	va_start(ap, types);
	code = bind(st, types, ap);
	va_end(ap);
	while (!code || code == SQLITE_ROW)
		code = sqlite3_step(st);
	err = code == SQLITE_DONE ? 0 : fleet_db_error(db, code);
	sqlite3_reset(st);
	sqlite3_clear_bindings(st);
	return err;
}

int fleet_stored_add(struct fleet_stored *stored, bool found, const char *tenant, int64_t revision)
{
	if (found && strcmp(stored->tenant, tenant) != 0)
		return -ENOTUNIQ;
	if (!found || revision > stored->revision)
		stored->revision = revision;
	fleet_tame(stored->tenant, sizeof(stored->tenant), tenant);
	return 1;
}

int fleet_db_find(sqlite3 *db, const char *sql, const char *const *text, bool found,
		  struct fleet_stored *stored)
{
	sqlite3_stmt *st;
	int err = fleet_db_prepare(db, &st, sql), code, result = found;

	if (err)
		return err;
	for (int i = 0; text[i]; i++)
		sqlite3_bind_text(st, i + 1, text[i], -1, SQLITE_STATIC);
	while ((code = sqlite3_step(st)) == SQLITE_ROW && result >= 0)
		result = fleet_stored_add(stored, result > 0,
					  (const char *)sqlite3_column_text(st, 0),
					  sqlite3_column_int64(st, 1));
	if (code != SQLITE_DONE && code != SQLITE_ROW)
		result = fleet_db_error(db, code);
	sqlite3_finalize(st);
	return result;
}

void fleet_db_close(sqlite3 *db)
{
	sqlite3_stmt *st;

	while (db && (st = sqlite3_next_stmt(db, NULL)) != NULL)
		sqlite3_finalize(st);
	sqlite3_close(db);
}

static int64_t pragma(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *st;
	int64_t v = -1;

	if (sqlite3_prepare_v2(db, sql, -1, &st, NULL))
		return -1;
	if (sqlite3_step(st) == SQLITE_ROW)
		v = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return v;
}

int fleet_db_within(sqlite3 *db, int (*work)(sqlite3 *db, void *arg), void *arg)
{
	int code = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);

	if (code)
		return fleet_db_error(db, code);
	int err = work(db, arg);
	if (!err) {
		code = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
		err = code ? fleet_db_error(db, code) : 0;
	}
	if (err)
		sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	return err;
}

/* Within a transaction, so that of several that come at once one makes it. */
static int make(sqlite3 *db, void *arg)
{
	(void)arg;
	if (pragma(db, "PRAGMA user_version") > 0)
		return 0;
	int code = sqlite3_exec(db, schema, NULL, NULL, NULL);
	return code ? fleet_db_error(db, code) : 0;
}

/*
 * Within a transaction, too: killed in between, it is as it was, and the next who writes does it.
 */
static int upgrade(sqlite3 *db, void *arg)
{
	(void)arg;
	int64_t version = pragma(db, "PRAGMA user_version");
	int code = 0;

	if (version < 2)
		code = sqlite3_exec(db,
				    "ALTER TABLE run ADD COLUMN rules INTEGER NOT NULL DEFAULT 1",
				    NULL, NULL, NULL);
	if (!code && version < 3)
		code = sqlite3_exec(db,
#define NAME(symbol, name, column, title, told)
#define NAME_ADDED(symbol, name, column, title, told, missing) \
	"ALTER TABLE run ADD COLUMN " #column " TEXT NOT NULL DEFAULT '" missing "';"
#include "facts/fleet_names.def"
				    , NULL, NULL, NULL);
	if (!code && version < 4)
		code = sqlite3_exec(db, ASIDE "PRAGMA user_version=4;", NULL, NULL, NULL);
	return code ? fleet_db_error(db, code) : 0;
}

/* For who only reads, and changes nothing: the columns of now over the table of before. */
static int look_through(sqlite3 *db, int64_t version)
{
	static const char added[] =
#define NAME(symbol, name, column, title, told)
#define NAME_ADDED(symbol, name, column, title, told, missing) ", '" missing "' AS " #column
#include "facts/fleet_names.def"
		" FROM main.run";
	char sql[256];

	if (version >= 3)
		return 0; /* what was added since nobody reads who does not write */
	snprintf(sql, sizeof(sql), "CREATE TEMP VIEW run AS SELECT *%s%s",
		 version < 2 ? ", 1 AS rules" : "", added);
	int code = sqlite3_exec(db, sql, NULL, NULL, NULL);
	return code ? fleet_db_error(db, code) : 0;
}

static int judge(sqlite3 *db, const char *file)
{
	int64_t version = pragma(db, "PRAGMA user_version");

	if (version < 0)
		return fleet_db_error(db, sqlite3_errcode(db));
	if (pragma(db, "PRAGMA application_id") != APPLICATION) {
		view_error("%s: not a store of gpustarve; name another file", file);
		return -EBADMSG;
	}
	if (version > VERSION) {
		view_error("%s: a store of a later version of gpustarve; use that one", file);
		return -EBADMSG;
	}
	return 0;
}

static bool is_empty(sqlite3 *db)
{
	return pragma(db, "SELECT count(*) FROM sqlite_master") == 0;
}

static int none_yet(const char *file)
{
	view_error("%s: no store yet; gpustarve digest RUN --store sqlite:%s makes one", file,
		   file);
	return -ENOENT;
}

static void make_folder(const char *file)
{
	char *copy = strdup(file), *slash;

	if (!copy)
		return;
	for (slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(copy, 0777);
		*slash = '/';
	}
	free(copy);
}

static int make_first(sqlite3 *db)
{
	/* Pages as large as what a sum reads at once. */
	sqlite3_exec(db, "PRAGMA page_size=16384", NULL, NULL, NULL);
	sqlite3_exec(db, "PRAGMA journal_mode=WAL", NULL, NULL, NULL);
	return fleet_db_within(db, make, NULL);
}

static int set_up(sqlite3 *db, const char *file, bool write)
{
	int err = 0;

	sqlite3_busy_timeout(db, PATIENCE_MS);
	/*
	 * Runs are looked up in the order in which they began: of 100,000 all rows of a view fit.
	 */
	sqlite3_exec(db, "PRAGMA cache_size=-65536", NULL, NULL, NULL); /* KiB, as it is needed */
	/* Not by SQL that a foreign file's schema could bring along. */
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	if (is_empty(db)) /* who only reads leaves it to whoever is about to make it */
		err = write ? make_first(db) : none_yet(file);
	if (!err)
		err = judge(db, file);
	int64_t version = err ? VERSION : pragma(db, "PRAGMA user_version");
	if (version < VERSION)
		err = write ? fleet_db_within(db, upgrade, NULL) : look_through(db, version);
	/* Older programs keep it, too. */
	if (!err && write)
		sqlite3_exec(db, "CREATE INDEX IF NOT EXISTS run_job ON run(job)", NULL, NULL,
			     NULL);
	if (!err && write)
		sqlite3_exec(db, "PRAGMA synchronous=FULL", NULL, NULL, NULL);
	return err;
}

int fleet_db_open(sqlite3 **db, const char *file, bool write)
{
	struct stat st;

	*db = NULL;
	if (!write && stat(file, &st))
		return none_yet(file);
	if (write)
		make_folder(file);
	/* Read and write in any case: a reader of a WAL file shares its index. */
	int code = sqlite3_open_v2(file, db,
				   SQLITE_OPEN_READWRITE | (write ? SQLITE_OPEN_CREATE : 0), NULL);
	if (code && !write) {
		sqlite3_close(*db);
		code = sqlite3_open_v2(file, db, SQLITE_OPEN_READONLY, NULL);
	}
	int err = code ? -EIO : set_up(*db, file, write);
	if (code)
		view_error("%s: %s; name a file that can be written", file, sqlite3_errstr(code));
	if (err) {
		fleet_db_close(*db);
		*db = NULL;
	}
	return err;
}

int fleet_db_note(sqlite3 *db, const char *name, int64_t at_ns)
{
	int err = fleet_db_run(db, "INSERT OR IGNORE INTO noted VALUES(?,?)", "ti", name, at_ns);

	return err ? err : sqlite3_changes(db) > 0;
}

int fleet_db_unnote(sqlite3 *db, const char *name)
{
	return fleet_db_run(db, "DELETE FROM noted WHERE name=?", "t", name);
}
