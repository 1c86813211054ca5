/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The digest of a scheduler's job is of its rest, beside those of its runs (job_rest.h), or of all
 * of it. That one holds the time of all its runs and takes their place, whichever comes first, so
 * that nothing is billed twice: runs that it holds are set aside, and are there again when the job
 * is digested as its rest, as where its runs came later than what it was given. A run that began
 * after the job's digest ends is of a later life of the job, and stays until that is digested.
 *
 * Runs of another tenant are another's; but the scheduler's host knows no tenants, and what it puts
 * of a job, and of its runs, is the same time as what a tenant's collector does: of two digests of
 * the same the one of more time counts, of equal ones the tenant's. So nobody hides a job by saying
 * less of it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"
#include "job_rest.h"
#include "sqlite_priv.h"

#define WHOLE "instr(g.text, '\"whole_job\": true')>0"
#define REST "r.verdict='" FLEET_NO_PROCESS "'"
#define OF_JOB "(" REST " OR " WHOLE ")"
/* What the job held: a cast takes the number that a text begins with. */
#define ALL                                                                       \
	"CASE WHEN " REST                                                         \
	" THEN CAST(substr(g.text, instr(g.text, '\"rest_of_job_ns\": ')+18, 20)" \
	" AS INTEGER) ELSE r.held_ns END"

bool fleet_digest_of_job(const struct fleet_digest *d)
{
	return d->job[0] && (d->whole_job || d->rest.job_ns);
}

static int64_t end_of(const struct fleet_digest *d)
{
	int64_t end;

	return __builtin_add_overflow(d->start_unix_ns, d->wall_ns, &end) ? INT64_MAX : end;
}

/* Of a run, and of the job's own digest, in terms of what bind_job binds. */
#define SAME_JOB "r.job=?1 AND r.cluster=?2 AND (r.tenant=?3 OR r.tenant='' OR ?3='')"
#define HOLDS_RUN "r.start_ns+r.wall_ns>=?4"
#define HOLDS_JOB "r.tenant<>?3 AND (" ALL ">?5 OR (" ALL "=?5 AND ?3=''))"
#define HELD_BY_JOB "r.tenant<>?3 AND (" ALL "<?5 OR (" ALL "=?5 AND r.tenant=''))"
#define SAME_RUN "r.run=?6 AND NOT " OF_JOB

static void bind_job(sqlite3_stmt *st, const struct fleet_digest *d, int64_t t_ns)
{
	int64_t all = d->rest.job_ns ? d->rest.job_ns : fleet_digest_held_ns(d);

	sqlite3_bind_text(st, 1, d->job, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 2, d->cluster, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 3, d->tenant, -1, SQLITE_STATIC);
	sqlite3_bind_int64(st, 4, t_ns);
	sqlite3_bind_int64(st, 5, all);
	sqlite3_bind_text(st, 6, d->run, -1, SQLITE_STATIC);
}

int fleet_db_job_holds(sqlite3 *db, const struct fleet_digest *d)
{
	sqlite3_stmt *st;
	int err, code;

	if (!d->job[0])
		return 0;
	err = fleet_db_prepare(
		db, &st,
		fleet_digest_of_job(d)
			? "SELECT 1 FROM run r JOIN digest g ON g.key=r.key WHERE " SAME_JOB
			  " AND " HOLDS_RUN " AND " HOLDS_JOB " AND " OF_JOB " LIMIT 1"
			: "SELECT 1 FROM run r JOIN digest g ON g.key=r.key WHERE " SAME_JOB
			  " AND (" HOLDS_RUN " AND " WHOLE " OR " SAME_RUN " AND " HOLDS_JOB
			  ") LIMIT 1");
	if (err)
		return err;
	bind_job(st, d, d->start_unix_ns);
	code = sqlite3_step(st);
	sqlite3_finalize(st);
	return code == SQLITE_ROW ? 1 : code == SQLITE_DONE ? 0 : fleet_db_error(db, code);
}

#define FROM " FROM run r JOIN digest g ON g.key=r.key WHERE " SAME_JOB " AND "

static const char *steps_of(const struct fleet_digest *d)
{
	if (!fleet_digest_of_job(d))
		return "SELECT r.key, 1" FROM SAME_RUN " AND " HELD_BY_JOB " LIMIT 1";
	if (!d->whole_job)
		return "SELECT r.key, 0" FROM "r.start_ns<=?4 AND " OF_JOB " AND " HELD_BY_JOB
		       " LIMIT 1";
	return "SELECT r.key, NOT " OF_JOB FROM "r.start_ns<=?4 AND (NOT " OF_JOB
	       " OR (" HELD_BY_JOB ")) LIMIT 1";
}

int64_t fleet_db_job_step(sqlite3 *db, const struct fleet_digest *d, bool *run)
{
	sqlite3_stmt *st;
	int64_t key = 0;
	int code, err = fleet_db_prepare(db, &st, steps_of(d));

	if (err)
		return err;
	bind_job(st, d, end_of(d));
	code = sqlite3_step(st);
	if (code == SQLITE_ROW) {
		key = sqlite3_column_int64(st, 0);
		*run = sqlite3_column_int64(st, 1);
	}
	sqlite3_finalize(st);
	return code == SQLITE_ROW || code == SQLITE_DONE ? key : fleet_db_error(db, code);
}

/* --- set aside --- */

int fleet_db_aside_row(sqlite3 *db, int64_t key)
{
	return fleet_db_run(db,
			    "INSERT OR REPLACE INTO aside SELECT r.tenant, r.run, r.job, r.cluster,"
			    " r.revision, g.text FROM run r JOIN digest g ON g.key=r.key"
			    " WHERE r.key=?",
			    "i", key);
}

int fleet_db_aside(sqlite3 *db, const struct fleet_digest *d)
{
	char *text = fleet_digest_write(d);
	int err = text ? fleet_db_run(
				 db,
				 "INSERT INTO aside VALUES(?,?,?,?,?,?) ON CONFLICT DO UPDATE SET"
				 " job=excluded.job, cluster=excluded.cluster,"
				 " revision=excluded.revision, text=excluded.text"
				 " WHERE excluded.revision>revision",
				 "ttttit", d->tenant, d->run, d->job, d->cluster, d->revision, text)
		       : -ENOMEM;

	free(text);
	return err;
}

int fleet_db_not_aside(sqlite3 *db, const struct fleet_digest *d)
{
	return fleet_db_run(db, "DELETE FROM aside WHERE tenant=? AND run=?", "tt", d->tenant,
			    d->run);
}

struct texts {
	char **text;
	size_t n, room;
};

static int read_texts(sqlite3 *db, const struct fleet_digest *d, struct texts *t)
{
	sqlite3_stmt *st;
	int code = SQLITE_ROW,
	    err = fleet_db_prepare(db, &st,
				   "SELECT text FROM aside WHERE job=?1 AND cluster=?2"
				   " AND (tenant=?3 OR tenant='' OR ?3='') ORDER BY tenant, run");

	if (err)
		return err;
	bind_job(st, d, 0);
	while (!err && (code = sqlite3_step(st)) == SQLITE_ROW) {
		const char *text = (const char *)sqlite3_column_text(st, 0);

		if (!text || !base_vec_more(t->text, t->n, t->room) ||
		    !(t->text[t->n] = strdup(text)))
			err = -ENOMEM;
		else
			t->n++;
	}
	sqlite3_finalize(st);
	return err ? err : code == SQLITE_DONE ? 0 : fleet_db_error(db, code);
}

int fleet_db_take_back(sqlite3 *db, const struct fleet_digest *job,
		       int (*put)(sqlite3 *db, const struct fleet_digest *d))
{
	struct fleet_digest *d = malloc(sizeof(*d));
	struct texts t = { 0 };
	const char *why;
	int err = d ? read_texts(db, job, &t) : -ENOMEM;

	for (size_t i = 0; i < t.n && !err; i++) {
		if (fleet_digest_read(d, t.text[i], strlen(t.text[i]), &why))
			continue;
		err = fleet_db_not_aside(db, d);
		if (!err)
			err = put(db, d);
	}
	for (size_t i = 0; i < t.n; i++)
		free(t.text[i]);
	free(t.text);
	free(d);
	return err;
}
