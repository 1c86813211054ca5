/* SPDX-License-Identifier: Apache-2.0 */
/* Columns and rows. */
#include <errno.h>
#include "sqlite_db.h"

int view_db_fail(struct view_db *p, int rc)
{
	if (rc == SQLITE_OK || rc == SQLITE_DONE || p->err)
		return p->err;
	p->err = rc == SQLITE_FULL ? -ENOSPC : rc == SQLITE_NOMEM ? -ENOMEM : -EIO;
	return p->err;
}

sqlite3_stmt *view_db_row(struct view_db *p, enum view_db_insert i)
{
	p->column = 0;
	return p->put[i];
}

void view_db_int(struct view_db *p, sqlite3_stmt *s, int64_t v)
{
	sqlite3_bind_int64(s, ++p->column, v);
}

void view_db_text(struct view_db *p, sqlite3_stmt *s, const char *text, size_t len)
{
	char valid[2 * WIRE_STRING_BYTES_MAX];
	size_t n = view_text_valid(valid, sizeof(valid), text, len);

	sqlite3_bind_text(s, ++p->column, valid, (int)n, SQLITE_TRANSIENT);
}

/* One of our own constants, or what outlives the statement. */
void view_db_name(struct view_db *p, sqlite3_stmt *s, const char *text)
{
	sqlite3_bind_text(s, ++p->column, text, -1, SQLITE_STATIC);
}

void view_db_null(struct view_db *p, sqlite3_stmt *s)
{
	sqlite3_bind_null(s, ++p->column);
}

void view_db_known(struct view_db *p, sqlite3_stmt *s, int64_t v, bool known)
{
	if (known)
		view_db_int(p, s, v);
	else
		view_db_null(p, s);
}

int view_db_insert(struct view_db *p, sqlite3_stmt *s)
{
	int rc = sqlite3_step(s);

	sqlite3_reset(s);
	p->x->rows++;
	return view_db_fail(p, rc);
}

int view_db_script(struct view_db *p, const char *sql)
{
	return p->err ? p->err : view_db_fail(p, sqlite3_exec(p->db, sql, NULL, NULL, NULL));
}

/* A statement for a table with few rows. */
sqlite3_stmt *view_db_once(struct view_db *p, const char *sql)
{
	sqlite3_stmt *s = NULL;

	p->column = 0;
	if (!p->err)
		view_db_fail(p, sqlite3_prepare_v2(p->db, sql, -1, &s, NULL));
	return s;
}

void view_db_insert_once(struct view_db *p, sqlite3_stmt *s)
{
	if (s)
		view_db_insert(p, s);
	sqlite3_finalize(s);
}
