/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One row of a Kineto or Chrome event list: what is kept of it while it is read, and what record
 * it becomes. Rows know nothing of JSON's places; import_json.h does. One thread per row.
 */
#ifndef VIEW_IMPORT_KINETO_ROWS_H
#define VIEW_IMPORT_KINETO_ROWS_H

#include "records.h"

enum view_import_field {
	F_PH,
	F_CAT,
	F_NAME,
	F_PID,
	F_TID,
	F_TS,
	F_DUR,
	F_ARGS_FIRST,
	F_DEVICE = F_ARGS_FIRST,
	F_STREAM,
	F_CONTEXT,
	F_CORRELATION,
	F_PROCESS,
	F_BYTES,
	F_GRAPH,
	F_FROM_DEVICE,
	F_TO_DEVICE,
	F_OURS, /* of our own exports: kind of a range, flags << 8 */
	FIELDS,
	F_ARGS, /* the object itself */
	F_NONE,
};

struct view_import_row {
	uint8_t type[FIELDS]; /* as import_rows.c numbers them */
	int64_t num[FIELDS];
	uint32_t len[FIELDS];
	char text[FIELDS][WIRE_STRING_BYTES_MAX];
};

void view_import_row_begin(struct view_import_row *r);
void view_import_row_forget_args(struct view_import_row *r);

/* Values, as the text of the file; the last of several for a field holds. */
void view_import_row_number(struct view_import_row *r, enum view_import_field f, const char *text,
			    size_t len);
void view_import_row_text(struct view_import_row *r, enum view_import_field f, const char *text,
			  size_t len);
void view_import_row_boolean(struct view_import_row *r, enum view_import_field f, bool value);
void view_import_row_null(struct view_import_row *r, enum view_import_field f);
void view_import_row_odd(struct view_import_row *r, enum view_import_field f); /* list, object */

/* The row is complete: adds its record, if it is one. 0, -ENOMEM or -E2BIG. */
int view_import_row_finish(struct view_import_row *r, struct view_import_trace *t);

/* Small tables of words, ended by WORDS_END. */
struct view_import_word {
	const char *text;
	size_t len;
	int value;
};
#define WORD(text, value)                     \
	{                                     \
		text, sizeof(text) - 1, value \
	}
#define WORDS_END          \
	{                  \
		NULL, 0, 0 \
	}
int view_import_lookup(const struct view_import_word *w, const void *text, size_t len,
		       int otherwise);

#endif
