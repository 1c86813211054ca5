/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a plain struct as columns, by a table of its fields: for rows that are few and whose
 * neighbours of one thread are alike. Private to wire. Any thread; both ways take scratch memory
 * of a few bytes a row while they run.
 */
#ifndef WIRE_ROWS_H
#define WIRE_ROWS_H

#include <stddef.h>
#include <stdint.h>
#include "block.h"
#include "buf.h"
#include "section.h"

/* Sections, in this order. Numbers are part of the format. */
enum wire_rows_section {
	WIRE_ROWS_THREADS = 1, /* dictionary: pid, tid */
	WIRE_ROWS_THREAD = 2, /* column: which one */
	WIRE_ROWS_SHAPES = 3, /* dictionary: the small fields, as they lie in the struct */
	WIRE_ROWS_SHAPE = 4, /* column: which one */
	WIRE_ROWS_FIELDS = 5, /* then the fields, in the table's order ... */
	WIRE_ROWS_ADDED = WIRE_SECTION_OPTIONAL, /* ... and those that were added later */
};
#define WIRE_ROWS_FIELDS_MAX 16

enum wire_rows_coding {
	WIRE_ROWS_PLAIN, /* the value */
	WIRE_ROWS_AFTER, /* zigzag: what it is more than in the row before, of the same thread */
	WIRE_ROWS_LENGTH, /* zigzag: what it is more than the field before it in the table */
};

struct wire_rows_field {
	uint8_t at; /* offset in the struct */
	uint8_t bytes; /* 4 or 8 */
	uint8_t coding; /* enum wire_rows_coding */
	uint8_t string; /* it is a string id */
};

struct wire_rows { /* fields[0] is the start as i64, fields[end] the end */
	size_t row_bytes;
	uint8_t thread; /* offset of u32 pid, u32 tid */
	uint8_t shape, shape_bytes; /* offset and size of the small fields, at most 8 bytes */
	uint8_t end, fields;
	uint8_t added; /* the last so many fields came later, in sections that old readers skip */
	struct wire_rows_field field[WIRE_ROWS_FIELDS_MAX];
};

/* The head of @rows[0..n), n > 0. */
void wire_rows_head(const struct wire_rows *r, uint8_t kind, const void *rows, size_t n,
		    struct wire_block_head *head);

/* Appends the columns. 0, -EINVAL (n), -ENOMEM or a buffer error; then nothing was appended. */
int wire_rows_encode(const struct wire_rows *r, const void *rows, size_t n, struct wire_buf *out);

/* 0, -EBADMSG, -EPROTO (a section of a later version that must be known) or -ENOMEM. */
int wire_rows_decode(const struct wire_rows *r, uint32_t count, const uint8_t *columns, size_t len,
		     void *rows);

#endif
