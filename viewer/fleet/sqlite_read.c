/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The views as SQLite's SQL. Every value is bound; rows come as they are stored, and are summed in
 * C.
 */
#include <errno.h>
#include <string.h>
#include "job_rest.h"
#include "sqlite_priv.h"

#define FILTER " r.start_ns>=?1 AND r.start_ns<?2 AND (?3 IS NULL OR r.team=?3)"
/* Nothing overflows: wall_ns and ?2 are not negative, and nor is ?1 where it is asked. */
#define CROSSING                                                           \
	" r.start_ns<?2 AND (r.start_ns<?1 AND r.start_ns>?1-r.wall_ns OR" \
	" r.start_ns>=?1 AND r.start_ns>?2-r.wall_ns) AND (?3 IS NULL OR r.team=?3)"
#define RUN_COLUMNS                                                             \
	"SELECT r.run, r.tenant, r.team, r.user_name, r.project,"               \
	" CASE WHEN r.verdict='" FLEET_NO_PROCESS "' THEN '" FLEET_REST_END "'" \
	" ELSE r.ended END, r.exit_status, "                                    \
	"r.start_ns, r.held_ns, r.usd, r.priced FROM run r WHERE" FILTER

/* What is summed of each line. The rest of a job is no run. */
#define LINE_MEASURES                              \
	" g.n=0 AND r.verdict<>'" FLEET_NO_PROCESS \
	"', g.n=0 AND r.simulated AND r.verdict<>'" FLEET_NO_PROCESS "',"
#define LINE_MORE                                                         \
	" g.n=0 AND " FLEET_BROKE("r.ended") ", g.held_ns*(" FLEET_BROKE( \
		"r.ended") "), g.usd*(" FLEET_BROKE("r.ended") "),"       \
							       " g.held_ns*(g.model='spot'), g.usd*(g.model='spot')"

/* ?4 is the label that is asked for, or the least dollars. */
static const char *const sql[FLEET_VIEWS] = {
	[FLEET_VIEW_FACTS] = "SELECT "
#define NAME(symbol, name, column, title, told) "r." #column ", "
#include "facts/fleet_names.def"
			     "g.gpu, g.model, r.week, r.ended, coalesce(l.value, '')," LINE_MEASURES
#define SUM(symbol, column) " g." #column ","
#include "facts/fleet_lines.def"
				     LINE_MORE " FROM run r CROSS JOIN gpu g ON g.key=r.key"
			     " LEFT JOIN label l ON l.key=r.key AND l.name=?4 WHERE" FILTER,
	[FLEET_VIEW_CLASSES] = "SELECT c.class, 1, c.ns, c.usd FROM run r CROSS JOIN class c"
			       " ON c.key=r.key WHERE" FILTER,
	[FLEET_VIEW_HOTSPOTS] =
		"SELECT s.class, s.place, 1, s.ns, s.usd FROM run r CROSS JOIN spot s"
		" ON s.key=r.key WHERE" FILTER,
	[FLEET_VIEW_FIXES] = "SELECT f.id, f.title, f.class, f.place, f.brief, 1, f.ns, f.usd"
			     " FROM run r CROSS JOIN fix f ON f.key=r.key WHERE" FILTER,
	[FLEET_VIEW_RATES] =
		"SELECT g.gpu, g.model, g.label, g.source, g.date, CAST(g.per_hour AS TEXT),"
		" g.held_ns, g.usd FROM run r CROSS JOIN gpu g ON g.key=r.key"
		" WHERE g.priced AND" FILTER,
	[FLEET_VIEW_WEEKS] = "SELECT r.team, r.week, r.usd, r.held_ns FROM run r"
			     " WHERE r.start_ns<?2 AND (?3 IS NULL OR r.team=?3)",
	[FLEET_VIEW_FAILED] = RUN_COLUMNS " AND " FLEET_BROKE("r.ended"),
	[FLEET_VIEW_UNLABELLED] = RUN_COLUMNS
	" AND NOT EXISTS(SELECT 1 FROM label l WHERE l.key=r.key AND l.name=?4 AND l.value<>'')",
	[FLEET_VIEW_COSTLY] = RUN_COLUMNS " AND r.usd>=?4",
	[FLEET_VIEW_RULES] = "SELECT r.rules, 1, r.held_ns,"
			     " " FLEET_BROKE("r.ended") " AND r.verdict<>'" FLEET_NO_PROCESS
							"' FROM run r WHERE" FILTER,
	[FLEET_VIEW_DIGESTS] = "SELECT d.text FROM run r CROSS JOIN digest d ON d.key=r.key"
			       " WHERE" FILTER,
	[FLEET_VIEW_LINES] = FILTER " AND (?5 IS NULL OR r.kind=?5)",
	[FLEET_VIEW_CROSSING] = CROSSING,
};

/* Each line by itself; behind it comes which. */
static const char lines_of[] =
	"SELECT r.run, r.tenant, r.job, r.ended, r.exit_status, r.week,"
	" coalesce(l.value, ''), CASE WHEN g.n=0 AND instr(d.text, '\"units\": [')"
	" THEN substr(d.text, instr(d.text, '\"units\": ['), 1024) ELSE '' END,"
	" CASE WHEN r.verdict='" FLEET_NO_PROCESS
	"' THEN substr(d.text, instr(d.text, '" FLEET_REST_HEAD "'), " FLEET_REST_ROOM
	") ELSE '' END,"
	" g.gpu, g.model, g.label, g.source, g.date, "
#define NAME(symbol, name, column, title, told) "r." #column ", "
#include "facts/fleet_names.def"
	"g.n, r.start_ns, r.wall_ns, r.priced, r.usd, r.held_ns, g.priced, g.per_hour,"
	" g.gpus," LINE_MEASURES
#define SUM(symbol, column) " g." #column ","
#include "facts/fleet_lines.def"
		LINE_MORE " FROM run r CROSS JOIN gpu g ON g.key=r.key"
	" LEFT JOIN label l ON l.key=r.key AND l.name=?4"
	" LEFT JOIN digest d ON d.key=r.key WHERE";

/* What is a column of the run is not looked for among its labels. @column is one of ours. */
static int prepare(sqlite3 *db, sqlite3_stmt **st, enum fleet_view view,
		   const struct fleet_query *q)
{
	const char *column = view == FLEET_VIEW_UNLABELLED ? fleet_column_of(q->required) : NULL;
	char text[4096];

	_Static_assert(sizeof(lines_of) + sizeof(CROSSING) <= sizeof(text), "room for either");
	if (view == FLEET_VIEW_LINES || view == FLEET_VIEW_CROSSING) {
		snprintf(text, sizeof(text), "%s%s", lines_of, sql[view]);
		return fleet_db_prepare(db, st, text);
	}
	if (!column)
		return fleet_db_prepare(db, st, sql[view]);
	snprintf(text, sizeof(text), RUN_COLUMNS " AND r.%s=''", column);
	return fleet_db_prepare(db, st, text);
}

/* Where the statement has no such parameter the bind does nothing. */
static void bind(sqlite3_stmt *st, enum fleet_view view, const struct fleet_query *q)
{
	const char *name = view == FLEET_VIEW_UNLABELLED ? q->required : q->label;

	sqlite3_bind_int64(st, 1, q->since_ns);
	sqlite3_bind_int64(st, 2, q->until_ns);
	sqlite3_bind_text(st, 3, q->team, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 5, q->kind, -1, SQLITE_STATIC);
	if (view == FLEET_VIEW_COSTLY)
		sqlite3_bind_int64(st, 4, q->least_usd);
	else
		sqlite3_bind_text(st, 4, name, -1, SQLITE_STATIC);
}

static void fill(struct fleet_cell *cell, sqlite3_stmt *st, const char *columns)
{
	for (int i = 0; columns[i]; i++) {
		cell[i].text = NULL;
		if (columns[i] == 't' || columns[i] == 'n')
			cell[i].text = (const char *)sqlite3_column_text(st, i);
		else
			cell[i].i = sqlite3_column_int64(st, i);
		if (columns[i] == 't' && !cell[i].text)
			cell[i].text = "";
	}
}

int fleet_db_read(sqlite3 *db, enum fleet_view view, const struct fleet_query *q,
		  void (*on_row)(void *arg, const struct fleet_cell *cell), void *arg)
{
	struct fleet_cell cell[FLEET_COLUMNS_MAX];
	sqlite3_stmt *st;
	int err = prepare(db, &st, view, q), code;

	if (err)
		return err;
	bind(st, view, q);
	while ((code = sqlite3_step(st)) == SQLITE_ROW) {
		fill(cell, st, fleet_view_columns[view]);
		on_row(arg, cell);
	}
	err = code == SQLITE_DONE ? 0 : fleet_db_error(db, code);
	sqlite3_finalize(st);
	return err;
}
