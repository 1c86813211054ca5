/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts by number: looked up one by one as rows name them, or all read at once.
 */
#include "nsys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int remember_text(struct nsys *r, uint32_t id, uint32_t text)
{
	if (id >= r->texts) {
		uint32_t room = r->t->ids[VIEW_IMPORT_STRING].room, *texts;
		uint8_t *known;

		texts = realloc(r->text, room * sizeof(*texts));
		if (!texts)
			return -ENOMEM;
		r->text = texts;
		known = realloc(r->text_known, room);
		if (!known)
			return -ENOMEM;
		r->text_known = known;
		memset(known + r->texts, 0, room - r->texts);
		r->texts = room;
	}
	r->text[id] = text;
	r->text_known[id] = 1;
	return 0;
}

static int intern_column(struct nsys *r, sqlite3_stmt *s, int column, uint32_t *out)
{
	size_t len;
	const char *text = view_import_db_text(s, column, &len);

	return view_import_name(r->t, text ? text : "", len, out);
}

/* All texts, where the table has no index to look one up by. */
static int load_strings(struct nsys *r)
{
	static const char *const columns[] = { "id", "value" };
	struct view_import_value id;
	uint32_t index, text;
	sqlite3_stmt *s;
	int got;

	got = view_import_db_select(&r->db, "StringIds", columns, 2, &s);
	while (!got && s && (got = view_import_db_next(&r->db, s)) > 0) {
		id = view_import_db_int(s, 0);
		got = view_import_id(r->t, VIEW_IMPORT_STRING, &id, &index);
		if (!got)
			got = intern_column(r, s, 1, &text);
		if (!got)
			got = remember_text(r, index, text);
	}
	sqlite3_finalize(s);
	return got;
}

int nsys_strings_open(struct nsys *r)
{
	int primary = 0;
	const char *type = "";

	if (!view_import_db_has_table(&r->db, "StringIds") ||
	    !view_import_db_has_column(&r->db, "StringIds", "value"))
		return 0;
	if (sqlite3_table_column_metadata(r->db.db, "main", "StringIds", "id", &type, NULL, NULL,
					  &primary, NULL))
		return 0;
	if (!primary || !type || sqlite3_stricmp(type, "INTEGER"))
		return load_strings(r);
	if (sqlite3_prepare_v2(r->db.db, "SELECT value FROM main.StringIds WHERE id = ?1", -1,
			       &r->string, NULL))
		return view_import_db_fail(&r->db);
	return 0;
}

static int look_up(struct nsys *r, int64_t id, uint32_t *text)
{
	int rc, err = 0;

	*text = 0;
	sqlite3_reset(r->string);
	sqlite3_bind_int64(r->string, 1, id);
	rc = sqlite3_step(r->string);
	if (rc == SQLITE_ROW)
		err = intern_column(r, r->string, 0, text);
	else if (rc != SQLITE_DONE)
		err = view_import_db_fail(&r->db);
	return err;
}

int nsys_string(struct nsys *r, struct view_import_value v, uint32_t *text)
{
	uint32_t id;
	int err;

	*text = 0;
	if (v.type != VIEW_IMPORT_INT)
		return 0;
	err = view_import_id(r->t, VIEW_IMPORT_STRING, &v, &id);
	if (err)
		return err;
	if (id < r->texts && r->text_known[id]) {
		*text = r->text[id];
		return 0;
	}
	if (r->string)
		err = look_up(r, v.num, text);
	return err ? err : remember_text(r, id, *text);
}

void nsys_strings_close(struct nsys *r)
{
	sqlite3_finalize(r->string);
	free(r->text);
	free(r->text_known);
}
