/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens and reads SQLite files of other tools.
 */
#include "db.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROWS_PER_PROGRESS 4096
#define STEPS_PER_PROGRESS 1000000 /* of SQLite's machine, for rows that take it long */
#define TEXT_BYTES_MAX (64 << 20) /* of one value; beyond it the file is refused */

int view_import_db_fail(struct view_import_db *d)
{
	int rc = sqlite3_errcode(d->db);

	if (rc == SQLITE_INTERRUPT)
		return -EINTR; /* told already */
	if (rc == SQLITE_NOMEM)
		return view_import_fail(d->job, -ENOMEM, "out of memory");
	return view_import_fail(d->job, -EBADMSG,
				"SQLite cannot read it (%s); export or copy the file again",
				sqlite3_errmsg(d->db));
}

/* --- the file --- */

/* A URI for sqlite: what has a meaning in one is written as %xx. */
static char *uri_of(const char *path)
{
	static const char hex[] = "0123456789abcdef";
	static const char tail[] = "?mode=ro&immutable=1";
	char *uri = malloc(5 + 2 + strlen(path) * 3 + sizeof(tail)), *p = uri;

	if (!uri)
		return NULL;
	p = stpcpy(p, *path == '/' ? "file://" : "file:");
	for (; *path; path++) {
		unsigned char c = (unsigned char)*path;

		if (c == '%' || c == '?' || c == '#' || c < ' ' || c >= 0x7f) {
			*p++ = '%';
			*p++ = hex[c >> 4];
			*p++ = hex[c & 15];
		} else {
			*p++ = (char)c;
		}
	}
	memcpy(p, tail, sizeof(tail));
	return uri;
}

static int on_progress(void *arg)
{
	struct view_import_db *d = arg;

	return view_import_progress(d->job, -1, d->rows) != 0;
}

static int open_path(struct view_import_db *d, const char *path)
{
	char *uri = uri_of(path);
	int rc;

	if (!uri)
		return view_import_fail(d->job, -ENOMEM, "out of memory");
	rc = sqlite3_open_v2(uri, &d->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
	free(uri);
	if (!d->db)
		return view_import_fail(d->job, -ENOMEM, "out of memory");
	if (rc)
		return view_import_db_fail(d);
	sqlite3_db_config(d->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(d->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(d->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(d->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_limit(d->db, SQLITE_LIMIT_LENGTH, TEXT_BYTES_MAX);
	sqlite3_limit(d->db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_progress_handler(d->db, STEPS_PER_PROGRESS, on_progress, d);
	/* Reads the schema, so that a file that is none is noticed here. */
	if (sqlite3_exec(d->db, "PRAGMA cell_size_check = ON; SELECT 1 FROM sqlite_master", NULL,
			 NULL, NULL))
		return view_import_db_fail(d);
	return 0;
}

/* What is still in the write-ahead log would be missed. */
static int check_log(struct view_import_job *job)
{
	char log[4096];
	struct stat st;

	if (snprintf(log, sizeof(log), "%s-wal", job->path) >= (int)sizeof(log) || stat(log, &st) ||
	    !st.st_size)
		return 0;
	return view_import_fail(job, -EBUSY,
				"it has an unfinished write-ahead log beside it; close the program "
				"that writes it");
}

static int write_all(int fd, const uint8_t *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno != EINTR)
			return -errno;
		data += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* Unpacks the input into a temporary file. @path is where. */
static int unpack(struct view_import_job *job, struct view_import_input *in, char *path,
		  size_t room)
{
	const char *base = getenv("TMPDIR"), *why = "";
	const uint8_t *data;
	size_t len;
	int fd, got, err = 0;

	snprintf(path, room, "%s/gpustarve-import-XXXXXX", base && *base ? base : "/tmp");
	fd = mkstemp(path);
	if (fd < 0) {
		err = -errno;
		path[0] = '\0';
		return view_import_fail(job, err,
					"no temporary file to unpack it into (%s); set TMPDIR to a "
					"directory with room",
					strerror(-err));
	}
	while (!err && (got = view_import_input_read(in, &data, &len, false, &why)) != 0) {
		if (got < 0) {
			err = view_import_fail(job, got, "%s", why);
			break;
		}
		err = write_all(fd, data, len);
		if (err)
			view_import_fail(job, err,
					 "cannot unpack it (%s); set TMPDIR to a directory with "
					 "room",
					 strerror(-err));
		if (!err)
			err = view_import_progress(job, view_import_input_done(in), 0);
	}
	close(fd);
	return err;
}

int view_import_db_open(struct view_import_db *d, struct view_import_job *job,
			struct view_import_input *in)
{
	int err;

	memset(d, 0, sizeof(*d));
	d->job = job;
	if (view_import_input_packed(in))
		err = unpack(job, in, d->unpacked, sizeof(d->unpacked));
	else
		err = check_log(job);
	return err ? err : open_path(d, d->unpacked[0] ? d->unpacked : job->path);
}

void view_import_db_close(struct view_import_db *d)
{
	sqlite3_close(d->db);
	if (d->unpacked[0])
		unlink(d->unpacked);
}

/* --- tables --- */

/* A plain table: no view, no virtual table. */
bool view_import_db_has_table(struct view_import_db *d, const char *table)
{
	sqlite3_stmt *s;
	bool found;

	if (sqlite3_prepare_v2(d->db,
			       "SELECT 1 FROM sqlite_master WHERE type = 'table' AND rootpage > 0 "
			       "AND name = ?1",
			       -1, &s, NULL))
		return false;
	sqlite3_bind_text(s, 1, table, -1, SQLITE_STATIC);
	found = sqlite3_step(s) == SQLITE_ROW;
	sqlite3_finalize(s);
	return found;
}

bool view_import_db_has_column(struct view_import_db *d, const char *table, const char *column)
{
	return !sqlite3_table_column_metadata(d->db, "main", table, column, NULL, NULL, NULL, NULL,
					      NULL);
}

int view_import_db_select(struct view_import_db *d, const char *table, const char *const columns[],
			  size_t n, sqlite3_stmt **s)
{
	sqlite3_str *sql;
	char *text;
	size_t i;
	int rc;

	*s = NULL;
	if (!view_import_db_has_table(d, table))
		return 0;
	sql = sqlite3_str_new(d->db);
	for (i = 0; i < n; i++) {
		sqlite3_str_appendall(sql, i ? ", " : "SELECT ");
		if (view_import_db_has_column(d, table, columns[i]))
			sqlite3_str_appendf(sql, "\"%w\"", columns[i]);
		else
			sqlite3_str_appendall(sql, "NULL");
	}
	sqlite3_str_appendf(sql, " FROM main.\"%w\" ORDER BY rowid", table);
	text = sqlite3_str_finish(sql);
	if (!text)
		return view_import_fail(d->job, -ENOMEM, "out of memory");
	rc = sqlite3_prepare_v2(d->db, text, -1, s, NULL);
	sqlite3_free(text);
	return rc ? view_import_db_fail(d) : 0;
}

int view_import_db_next(struct view_import_db *d, sqlite3_stmt *s)
{
	int rc = sqlite3_step(s);

	if (rc == SQLITE_DONE)
		return 0;
	if (rc != SQLITE_ROW)
		return view_import_db_fail(d);
	if (++d->rows % ROWS_PER_PROGRESS)
		return 1;
	rc = view_import_progress(d->job, -1, d->rows);
	return rc ? rc : 1;
}

struct view_import_value view_import_db_int(sqlite3_stmt *s, int column)
{
	struct view_import_value v = { .type = VIEW_IMPORT_NULL };

	if (sqlite3_column_type(s, column) == SQLITE_INTEGER) {
		v.type = VIEW_IMPORT_INT;
		v.num = sqlite3_column_int64(s, column);
	}
	return v;
}

const char *view_import_db_text(sqlite3_stmt *s, int column, size_t *len)
{
	const char *text = NULL;

	if (sqlite3_column_type(s, column) == SQLITE_TEXT)
		text = (const char *)sqlite3_column_text(s, column);
	*len = text ? (size_t)sqlite3_column_bytes(s, column) : 0;
	return text;
}

void view_import_db_copy(sqlite3_stmt *s, int column, char *out, size_t room)
{
	size_t len;
	const char *text = view_import_db_text(s, column, &len);

	len = len < room - 1 ? len : room - 1;
	if (text)
		memcpy(out, text, len);
	out[len] = '\0';
}
