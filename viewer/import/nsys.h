/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One nsys SQLite export while it is read. Shared by the files nsys*.c and private to them; one
 * thread.
 */
#ifndef VIEW_IMPORT_NSYS_H
#define VIEW_IMPORT_NSYS_H

#include "db.h"

#define NSYS_ID_BITS 0xffffff /* of a global id, for the thread; above them stands the process */

struct nsys {
	struct view_import_job *job;
	struct view_import_trace *t;
	struct view_import_db db;
	sqlite3_stmt *string; /* one text by id; NULL: all are loaded, or there are none */
	uint32_t *text; /* by STRING id: number in texts */
	uint8_t *text_known; /* by STRING id */
	uint32_t texts;
};

static inline bool nsys_is(struct view_import_value v, int64_t n)
{
	return v.type == VIEW_IMPORT_INT && v.num == n;
}

/* Runs @add for each row of a table, which need not be there. 0 or what @add or SQLite answered. */
int nsys_each_row(struct nsys *r, const char *table, const char *const columns[], size_t n,
		  int (*add)(struct nsys *r, sqlite3_stmt *s, int arg), int arg);

/* nsys_strings.c: StringIds. The text of a string id, as a number in texts; 0 if there is none. */
int nsys_strings_open(struct nsys *r);
void nsys_strings_close(struct nsys *r);
int nsys_string(struct nsys *r, struct view_import_value v, uint32_t *text);

/* nsys_machine.c: devices, host and driver. */
int nsys_machine(struct nsys *r);

#endif
