/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One column: unsigned integers as byte planes. Plane k holds byte k of every value, so that bytes
 * of one nature stand together and compress well; values that do not fit the planes are listed
 * behind them as exceptions. Writing and reading are loops without branches per value.
 * Private to wire. Any thread.
 */
#ifndef WIRE_COLUMN_H
#define WIRE_COLUMN_H

#include <stddef.h>
#include <stdint.h>
#include "block.h"
#include "buf.h"

#define WIRE_COLUMN_CHUNK 256 /* values read or written at once */
#define WIRE_COLUMN_CHUNKS (WIRE_BLOCK_EVENTS_MAX / WIRE_COLUMN_CHUNK)
#define WIRE_COLUMN_WIDTH 8 /* planes at most */

/* Places where bytes of one nature end: bytes on two sides of a cut are unlike. */
struct wire_cuts {
	const uint8_t *at[128];
	unsigned int used;
};

/* Notes one; @cut may be NULL, and a full one takes no more. */
void wire_cut(struct wire_cuts *cut, const uint8_t *p);

/*
 * A column in the making. It takes values in chunks and keeps their bytes as planes at once, so
 * that no value is touched twice; how many planes are written is known at the end.
 */
struct wire_column_writer {
	uint8_t *plane; /* the first; the others follow at @room bytes' distance */
	size_t room;
	size_t n;
	uint64_t first;
	uint64_t any; /* all bits that occur */
	uint64_t diff; /* all bits that differ from the first value's */
	uint32_t sample[9]; /* of every eighth value: how many take so many bytes, from 2 on */
	uint8_t bytes[WIRE_COLUMN_CHUNKS]; /* planes that are filled, by chunk */
};

/* Begins one, in @room * WIRE_COLUMN_WIDTH bytes at @plane. */
void wire_column_begin(struct wire_column_writer *w, uint8_t *plane, size_t room);

/* Adds @n values, WIRE_COLUMN_CHUNK at each call but the last one. */
void wire_column_add(struct wire_column_writer *w, const uint64_t *v, size_t n);

/* Most bytes that wire_column_end writes for @n values. */
size_t wire_column_bound(size_t n);

/*
 * Writes the column at @p, which has room for the bound. Returns the byte behind it. The ends of
 * planes are added to @cut, which may be NULL.
 */
uint8_t *wire_column_end(const struct wire_column_writer *w, uint8_t *p, struct wire_cuts *cut);

/* Reads a column in pieces, in order. */
struct wire_column {
	const uint8_t *plane; /* the first; the others follow at @n bytes' distance */
	size_t n; /* values in all */
	size_t at; /* values read */
	unsigned int width; /* planes; 0: all values are @same */
	uint64_t same;
	uint64_t max; /* greatest value allowed */
	const uint8_t *more; /* next exception */
	const uint8_t *end;
	uint64_t exceptions; /* left */
	size_t exception_at; /* index of the next one */
};

/* Begins with @n values, none above @max. 0 or -EBADMSG. */
int wire_column_open(struct wire_column *c, const uint8_t *p, size_t len, size_t n, uint64_t max);

/* A column of zeros. */
void wire_column_zero(struct wire_column *c, size_t n);

/*
 * The next @n values (at most WIRE_COLUMN_CHUNK; -EBADMSG if fewer are left) into @v, which has
 * WIRE_COLUMN_CHUNK places and is the same array at each call: a column of one value fills it once.
 * 0 or -EBADMSG.
 */
int wire_column_read(struct wire_column *c, uint64_t *v, size_t n);

/* 0 if every value and every byte was used. */
int wire_column_close(const struct wire_column *c);

#endif
