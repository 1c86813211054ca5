/* SPDX-License-Identifier: Apache-2.0 */
/* The SQLite store and the outbox lie in files of one schema. Private to the stores. */
#ifndef FLEET_SQLITE_PRIV_H
#define FLEET_SQLITE_PRIV_H

#include <sqlite3.h>
#include "store_priv.h"

/*
 * Opens @file in WAL mode, makes schema and folder if @write. 0 or negative errno, said on stderr:
 * -ENOENT (also where nothing is in it yet), -EBADMSG (something else, or of a later version),
 * -EIO, ...
 */
int fleet_db_open(sqlite3 **db, const char *file, bool write);

/*
 * Runs a statement, which is kept for the next time, with texts and integers bound: t char pointer
 * (NULL: NULL), i int64_t.
 */
int fleet_db_run(sqlite3 *db, const char *sql, const char *types, ...);
int fleet_db_prepare(sqlite3 *db, sqlite3_stmt **st, const char *sql);

void fleet_db_close(sqlite3 *db); /* NULL: nothing */

/* Says what is wrong; returns @err or what it means as a negative errno. */
int fleet_db_error(sqlite3 *db, int code);

/* One transaction; -errno of @work undoes it. */
int fleet_db_within(sqlite3 *db, int (*work)(sqlite3 *db, void *arg), void *arg);

/* As fleet_store_note; and as if it had never been called. */
int fleet_db_note(sqlite3 *db, const char *name, int64_t at_ns);
int fleet_db_unnote(sqlite3 *db, const char *name);

/*
 * As fleet_store_find, by a statement that takes @text[0], [1], ... and gives tenants and
 * revisions. Adds to what is *stored already, if @found.
 */
int fleet_db_find(sqlite3 *db, const char *sql, const char *const *text, bool found,
		  struct fleet_stored *stored);

/*
 * What a store has of a run: 1 and *stored, -ENOTUNIQ if it is another tenant's than @found says.
 */
int fleet_stored_add(struct fleet_stored *stored, bool found, const char *tenant, int64_t revision);

/*
 * sqlite_jobs.c: 1 if a digest that is stored holds the time of @d, 0 if not; and the key of a
 * stored run (*run), or digest of a job, whose time @d holds, 0 without. Negative errno.
 */
bool fleet_digest_of_job(const struct fleet_digest *d); /* of all of it, or its rest */
int fleet_db_job_holds(sqlite3 *db, const struct fleet_digest *d);
int64_t fleet_db_job_step(sqlite3 *db, const struct fleet_digest *d, bool *run);

/*
 * Runs that do not count because their job's digest holds them: a stored one before it is
 * forgotten, and one that comes; of two of a run the higher revision is kept. Not any more, where
 * it counts. 0 or negative errno.
 */
int fleet_db_aside_row(sqlite3 *db, int64_t key);
int fleet_db_aside(sqlite3 *db, const struct fleet_digest *d);
int fleet_db_not_aside(sqlite3 *db, const struct fleet_digest *d);
/* Puts all of the job anew, which sets aside those that another digest of it holds. */
int fleet_db_take_back(sqlite3 *db, const struct fleet_digest *job,
		       int (*put)(sqlite3 *db, const struct fleet_digest *d));

/* sqlite_read.c: a view's rows. */
int fleet_db_read(sqlite3 *db, enum fleet_view view, const struct fleet_query *q,
		  void (*on_row)(void *arg, const struct fleet_cell *cell), void *arg);

/* sqlite_pulses.c: as fleet_store_put_pulses and fleet_store_read_pulses. */
int fleet_db_put_pulses(sqlite3 *db, const struct fleet_pulses *p);
int fleet_db_read_pulses(sqlite3 *db, const struct fleet_pulses_query *q, struct fleet_pulses *p);

#endif
