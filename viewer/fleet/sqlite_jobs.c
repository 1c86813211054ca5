/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The digest of a scheduler's job holds the time of all its runs, and that of GPUs which none of
 * them used: it takes the place of theirs, whichever comes first, so that nothing is billed twice.
 * One that began after the job's digest ends is of a later life of the job, and stays until that is
 * digested. Runs of another tenant are another's; but the scheduler's host knows no tenants, and
 * what it puts of a job is the same time as what a tenant's collector does: of the two digests the
 * one of more time counts, of equal ones the tenant's. So nobody hides a job by saying less of it.
 */
#include <errno.h>
#include "sqlite_priv.h"

#define WHOLE "instr(g.text, '\"whole_job\": true')>0"

static int64_t end_of(const struct fleet_digest *d)
{
	int64_t end;

	return __builtin_add_overflow(d->start_unix_ns, d->wall_ns, &end) ? INT64_MAX : end;
}

/* Of a run, and of the job's own digest, in terms of what bind_job binds. */
#define SAME_JOB "r.job=?1 AND r.cluster=?2 AND (r.tenant=?3 OR r.tenant='' OR ?3='')"
#define HOLDS_RUN "r.start_ns+r.wall_ns>=?4"
#define HOLDS_JOB "r.tenant<>?3 AND (r.held_ns>?5 OR (r.held_ns=?5 AND ?3=''))"
#define HELD_BY_JOB "r.tenant<>?3 AND (r.held_ns<?5 OR (r.held_ns=?5 AND r.tenant=''))"

static void bind_job(sqlite3_stmt *st, const struct fleet_digest *d, int64_t t_ns)
{
	sqlite3_bind_text(st, 1, d->job, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 2, d->cluster, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 3, d->tenant, -1, SQLITE_STATIC);
	sqlite3_bind_int64(st, 4, t_ns);
	sqlite3_bind_int64(st, 5, fleet_digest_held_ns(d));
}

int fleet_db_job_holds(sqlite3 *db, const struct fleet_digest *d)
{
	sqlite3_stmt *st;
	int err, code;

	if (!d->job[0])
		return 0;
	err = fleet_db_prepare(
		db, &st,
		d->whole_job ? "SELECT 1 FROM run r JOIN digest g ON g.key=r.key WHERE " SAME_JOB
			       " AND " HOLDS_RUN " AND " HOLDS_JOB " AND " WHOLE " LIMIT 1"
			     : "SELECT 1 FROM run r JOIN digest g ON g.key=r.key WHERE " SAME_JOB
			       " AND " HOLDS_RUN " AND " WHOLE " LIMIT 1");
	if (err)
		return err;
	bind_job(st, d, d->start_unix_ns);
	code = sqlite3_step(st);
	sqlite3_finalize(st);
	return code == SQLITE_ROW ? 1 : code == SQLITE_DONE ? 0 : fleet_db_error(db, code);
}

int64_t fleet_db_job_step(sqlite3 *db, const struct fleet_digest *d)
{
	sqlite3_stmt *st;
	int64_t key = 0;
	int code, err = fleet_db_prepare(db, &st,
					 "SELECT r.key FROM run r JOIN digest g ON g.key=r.key"
					 " WHERE " SAME_JOB " AND r.start_ns<=?4"
					 " AND (NOT " WHOLE " OR (" HELD_BY_JOB ")) LIMIT 1");

	if (err)
		return err;
	bind_job(st, d, end_of(d));
	code = sqlite3_step(st);
	if (code == SQLITE_ROW)
		key = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return code == SQLITE_ROW || code == SQLITE_DONE ? key : fleet_db_error(db, code);
}
