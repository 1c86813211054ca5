/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the text of a Kineto or Chrome trace, in any pieces, and adds its rows to a trace. The
 * parser is yajl, which hands over numbers as they are written. One thread at a time.
 */
#ifndef VIEW_IMPORT_KINETO_JSON_H
#define VIEW_IMPORT_KINETO_JSON_H

#include "records.h"

#define VIEW_IMPORT_DEPTH_MAX 512u /* deeper is no trace */

struct view_import_json;

/* @in_list: the text begins within the event list and ends there. NULL: no memory. */
struct view_import_json *view_import_json_new(struct view_import_trace *t, bool in_list);
void view_import_json_free(struct view_import_json *j);

/* 0; -EBADMSG: no JSON; -ELOOP: nested too deep; -ENOMEM, -E2BIG: the trace is full. */
int view_import_json_feed(struct view_import_json *j, const uint8_t *text, size_t len);

/* How much of the text fed last was read when the error came. */
size_t view_import_json_consumed(const struct view_import_json *j);

/* The text was all: 0, or -EBADMSG if it ends early. */
int view_import_json_end(struct view_import_json *j);

/* It stands in the event list and outside a row. */
bool view_import_json_between_rows(const struct view_import_json *j);

#endif
