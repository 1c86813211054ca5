/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An SQLite file of another tool, read and never trusted: opened read-only, only plain tables, by
 * rowid; a table or column that a schema version lacks reads as empty or NULL, and so does a value
 * of another type than asked for. One thread.
 */
#ifndef VIEW_IMPORT_DB_H
#define VIEW_IMPORT_DB_H

#include <sqlite3.h>
#include "import.h"

struct view_import_db {
	struct view_import_job *job;
	sqlite3 *db;
	char unpacked[4096]; /* temporary file; "": none */
	uint64_t rows; /* read so far */
};

/* Opens @in's file, unpacked first if it is packed. 0, or negative and the job's error is set. */
int view_import_db_open(struct view_import_db *d, struct view_import_job *job,
			struct view_import_input *in);
void view_import_db_close(struct view_import_db *d);

/* Sets the job's error from SQLite's; returns it. */
int view_import_db_fail(struct view_import_db *d);

bool view_import_db_has_table(struct view_import_db *d, const char *table);
bool view_import_db_has_column(struct view_import_db *d, const char *table, const char *column);

/*
 * Prepares a pass over @table in record order. 0 and *s (NULL: there is no such table), or
 * negative and the job's error is set. Finalize *s.
 */
int view_import_db_select(struct view_import_db *d, const char *table, const char *const columns[],
			  size_t n, sqlite3_stmt **s);

/* 1: a row, 0: the end, negative: the job's error is set. */
int view_import_db_next(struct view_import_db *d, sqlite3_stmt *s);

/* Values of a row. The text is valid until the next row; NULL: none. */
struct view_import_value view_import_db_int(sqlite3_stmt *s, int column);
const char *view_import_db_text(sqlite3_stmt *s, int column, size_t *len);
void view_import_db_copy(sqlite3_stmt *s, int column, char *out, size_t room);

#endif
