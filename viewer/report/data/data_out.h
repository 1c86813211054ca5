/* SPDX-License-Identifier: Apache-2.0 */
/* Compact JSON for the data block: no white space, nothing that could end an HTML element. */
#ifndef VIEW_DATA_OUT_H
#define VIEW_DATA_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define VIEW_DATA_TEXT_MAX 160u /* bytes of a text */

struct data_out {
	FILE *f;
	bool comma; /* the next member or value needs one before it */
};

/* @key is NULL inside arrays and at the top. Keys are ours: they are not escaped. */
void data_open(struct data_out *o, const char *key, char bracket); /* '{' or '[' */
void data_close(struct data_out *o, char bracket); /* '}' or ']' */
void data_int(struct data_out *o, const char *key, int64_t v);
void data_uint(struct data_out *o, const char *key, uint64_t v);
void data_bool(struct data_out *o, const char *key, bool v);
void data_null(struct data_out *o, const char *key);
/*
 * Untrusted text, cut to VIEW_DATA_TEXT_MAX bytes as written; NULL: null. @tail: what is too long
 * loses its beginning, not its end.
 */
void data_text(struct data_out *o, const char *key, const char *text, bool tail);

#endif
