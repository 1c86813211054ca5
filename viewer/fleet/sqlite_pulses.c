/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of pulses in SQLite. When one came is told by how long this machine runs, which nobody sets:
 * all who put rows into a file of ours are on one machine. A row of before its last start is as old
 * as that.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "core/log.h"
#include "sqlite_priv.h"

#define BOOT_ID_FILE "/proc/sys/kernel/random/boot_id"
#define DAY_S 86400

static const char schema[] =
	"CREATE TABLE IF NOT EXISTS pulse(team TEXT NOT NULL, run TEXT NOT NULL,"
	" stream TEXT NOT NULL, slot INTEGER NOT NULL, rank INTEGER NOT NULL,"
	" frame TEXT NOT NULL, boot TEXT NOT NULL, heard_s INTEGER NOT NULL,"
	" keep_s INTEGER NOT NULL, PRIMARY KEY(team, run, stream, slot)) WITHOUT ROWID;"
	"CREATE INDEX IF NOT EXISTS pulse_heard ON pulse(boot, heard_s);";

struct now {
	char boot[40]; /* "": not known, as if it were one start for ever */
	int64_t up_s; /* since then */
	int64_t wall_s;
};

static struct now read_now(void)
{
	struct timespec up = { 0 };
	struct now now = { .wall_s = time(NULL) };
	FILE *f = fopen(BOOT_ID_FILE, "re");

	if (f && fscanf(f, "%39s", now.boot) != 1)
		now.boot[0] = '\0';
	if (f)
		fclose(f);
	clock_gettime(CLOCK_BOOTTIME, &up);
	now.up_s = up.tv_sec;
	return now;
}

static int put_row(sqlite3 *db, const struct now *now, const struct live_row *r)
{
	int64_t days = live_row_stays(r->slot) ? FLEET_PULSES_BEGUN_DAYS : FLEET_PULSES_DAYS;

	return fleet_db_run(db,
			    "INSERT INTO pulse VALUES(?,?,?,?,?,?,?,?,?)"
			    " ON CONFLICT(team, run, stream, slot) DO UPDATE SET"
			    " rank=excluded.rank, frame=excluded.frame, boot=excluded.boot,"
			    " heard_s=excluded.heard_s, keep_s=excluded.keep_s"
			    " WHERE excluded.rank > rank",
			    "tttiittii", r->team, r->run, r->stream, (int64_t)r->slot, r->rank,
			    r->hex, now->boot, now->up_s, now->wall_s + days * DAY_S);
}

/* Nobody's clock alone makes what came just now old. */
static int forget_old(sqlite3 *db, const struct now *now)
{
	return fleet_db_run(db,
			    "DELETE FROM pulse WHERE keep_s < ? AND NOT"
			    " (boot = ? AND heard_s > ?)",
			    "iti", now->wall_s, now->boot, now->up_s - FLEET_PULSES_BACK_S);
}

static int put_all(sqlite3 *db, void *arg)
{
	const struct fleet_pulses *p = arg;
	struct now now = read_now();
	int err = 0;

	if (sqlite3_exec(db, schema, NULL, NULL, NULL))
		return fleet_db_error(db, sqlite3_errcode(db));
	for (size_t i = 0; i < p->rows && !err; i++)
		err = put_row(db, &now, &p->row[i]);
	return err ? err : forget_old(db, &now);
}

int fleet_db_put_pulses(sqlite3 *db, const struct fleet_pulses *p)
{
	return fleet_db_within(db, put_all, (void *)p);
}

#define COLUMNS "SELECT team, run, stream, slot, rank, frame, boot, heard_s FROM pulse WHERE "
#define OF_TEAM "(?1 IS NULL OR team = ?1) AND "

static const char *sql_of(const struct fleet_pulses_query *q)
{
	if (q->since)
		return COLUMNS OF_TEAM "boot = ?3 AND heard_s >= ?4";
	if (q->run)
		return COLUMNS OF_TEAM "run = ?2";
	if (q->unbilled)
		return COLUMNS OF_TEAM
			"(team, run) IN (SELECT team, run FROM pulse"
			" WHERE slot <> 3 AND keep_s >= ?5) AND NOT EXISTS"
			" (SELECT 1 FROM run WHERE run.tenant = pulse.team AND"
			" run.run = pulse.run) AND NOT EXISTS (SELECT 1 FROM"
			" aside WHERE aside.tenant = pulse.team AND aside.run = pulse.run)";
	if (q->newest)
		return COLUMNS OF_TEAM "(team, run) IN (SELECT team, run FROM pulse WHERE " OF_TEAM
				       "slot <> 3 ORDER BY boot = ?3 DESC, heard_s DESC LIMIT 1)";
	return COLUMNS OF_TEAM "(team, run) IN (SELECT team, run FROM pulse"
			       " WHERE boot = ?3 AND heard_s >= ?4)";
}

static bool column(char *out, size_t room, sqlite3_stmt *st, int n)
{
	const char *text = (const char *)sqlite3_column_text(st, n);

	return text && snprintf(out, room, "%s", text) < (int)room;
}

static int take(struct fleet_pulses *p, sqlite3_stmt *st, const struct now *now)
{
	const char *hex = (const char *)sqlite3_column_text(st, 5);
	const char *boot = (const char *)sqlite3_column_text(st, 6);
	struct live_row r = { .slot = (uint32_t)sqlite3_column_int(st, 3),
			      .rank = sqlite3_column_int64(st, 4),
			      .hex = hex,
			      .digits = hex ? strlen(hex) : 0,
			      .age_s = now->up_s };

	if (!hex || !boot || !column(r.team, sizeof(r.team), st, 0) ||
	    !column(r.run, sizeof(r.run), st, 1) || !column(r.stream, sizeof(r.stream), st, 2))
		return 0; /* none of ours */
	if (!strcmp(boot, now->boot))
		r.age_s -= sqlite3_column_int64(st, 7);
	if (r.age_s < 0)
		r.age_s = 0;
	return fleet_pulses_add(p, &r);
}

/* Whether somebody has put any. */
static int has_table(sqlite3 *db)
{
	sqlite3_stmt *st;
	int err = fleet_db_prepare(db, &st, "SELECT 1 FROM sqlite_master WHERE name='pulse'");
	int code = err ? SQLITE_ERROR : sqlite3_step(st);

	if (!err)
		sqlite3_finalize(st);
	return err ? err : code == SQLITE_ROW;
}

int fleet_db_read_pulses(sqlite3 *db, const struct fleet_pulses_query *q, struct fleet_pulses *p)
{
	struct now now = read_now();
	int64_t since = q->since ? q->since - FLEET_PULSES_AGAIN_S : now.up_s - FLEET_PULSES_BACK_S;
	sqlite3_stmt *st;
	int code, err = has_table(db);

	p->mark = now.up_s;
	if (err <= 0)
		return err;
	err = fleet_db_prepare(db, &st, sql_of(q));
	if (err)
		return err;
	sqlite3_bind_text(st, 1, q->team, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 2, q->run, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 3, now.boot, -1, SQLITE_STATIC);
	sqlite3_bind_int64(st, 4, since);
	sqlite3_bind_int64(st, 5, now.wall_s);
	while ((code = sqlite3_step(st)) == SQLITE_ROW && !err)
		err = take(p, st, &now);
	if (!err && code != SQLITE_DONE)
		err = fleet_db_error(db, code);
	sqlite3_finalize(st);
	return err;
}
