/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Within the SQLite export: the file that is filled, and rows by prepared statements. A row is
 * begun, its columns are bound in order, and it is inserted. The first failure stays in err.
 * Strings are bound, never pasted into SQL. One thread.
 *
 *	sqlite.c	 tables, indexes, opening and closing
 *	sqlite_bind.c	 binding
 *	sqlite_events.c	 what the trace holds
 *	sqlite_gaps.c	 what the engine hands out
 *	sqlite_summary.c what the summary says
 */
#ifndef EXPORT_SQLITE_DB_H
#define EXPORT_SQLITE_DB_H

#include <sqlite3.h>
#include "export.h"
#include "wire/strtab.h"

#define VIEW_DB_TID_BITS 0xffffff /* of a globalTid */

enum view_db_insert {
	I_STRING,
	I_KERNEL,
	I_COPY,
	I_MEMSET,
	I_GRAPH,
	I_CALL,
	I_SYNC,
	I_RANGE,
	I_PIECE,
	I_GAP,
	I_STEP,
	I_SAMPLE,
	I_BATCH,
	INSERTS
};

struct view_db_gap;

struct view_db {
	struct view_export *x;
	sqlite3 *db;
	sqlite3_stmt *put[INSERTS];
	int column; /* bound last */
	struct wire_strtab *strings; /* ids are StringIds.id */
	size_t source;
	struct view_export_source *s;
	uint32_t *string; /* by name of the process's trace: its id, 0: not yet */
	struct ana_map tids; /* (process, tid) that does not fit 24 bits: the number it got */
	uint32_t next_tid;
	struct view_db_gap *gap; /* per GPU, while pieces come */
	int64_t gaps;
	int err;
};

int view_db_fail(struct view_db *p, int rc); /* notes SQLite's error; returns err */
sqlite3_stmt *view_db_row(struct view_db *p, enum view_db_insert i);
void view_db_int(struct view_db *p, sqlite3_stmt *s, int64_t v);
void view_db_text(struct view_db *p, sqlite3_stmt *s, const char *text, size_t len); /* copied */
void view_db_name(struct view_db *p, sqlite3_stmt *s, const char *text); /* outlives the row */
void view_db_null(struct view_db *p, sqlite3_stmt *s);
void view_db_known(struct view_db *p, sqlite3_stmt *s, int64_t v, bool known); /* else NULL */
int view_db_insert(struct view_db *p, sqlite3_stmt *s);
int view_db_script(struct view_db *p, const char *sql);
/* For a table with few rows: a statement of its own. */
sqlite3_stmt *view_db_once(struct view_db *p, const char *sql);
void view_db_insert_once(struct view_db *p, sqlite3_stmt *s);

int view_db_source(struct view_db *p, size_t i); /* 0 or negative errno */
int view_db_gaps(struct view_db *p); /* the same */
void view_db_summary(struct view_db *p);
void view_db_caveat(void *p, const char *text);
int64_t view_db_pid(const struct view_db *p); /* globalPid of p->s */

#endif
