/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The encoder of columns with its scratch memory kept from block to block, and what encoder and
 * decoder agree on. Private to wire. One thread at a time.
 */
#ifndef WIRE_COLUMNS_H
#define WIRE_COLUMNS_H

#include "block.h"
#include "column.h"
#include "head.h"
#include "section.h"

/* Sections of a block's columns, in this order. Numbers are part of the format. */
enum wire_section {
	WIRE_SECTION_PLACES = 1, /* dictionary: device, context, stream, tid */
	WIRE_SECTION_PLACE = 2, /* column: which one */
	WIRE_SECTION_SHAPES = 3, /* dictionary: the small fields */
	WIRE_SECTION_SHAPE = 4, /* column: which one */
	WIRE_SECTION_NAME = 5,
	WIRE_SECTION_BYTES =
		6, /* only of events whose shape has WIRE_SHAPE_BYTES: their number, ... */
	WIRE_SECTION_GRAPH = 7, /* ... or WIRE_SHAPE_GRAPH, then a column of so many */
	WIRE_SECTION_CORR = 8,
	WIRE_SECTION_TIME = 9, /* models and base of the two that follow */
	WIRE_SECTION_START = 10,
	WIRE_SECTION_DURATION = 11,
	WIRE_SECTION_MAX,
};

#define WIRE_TIME_BYTES 10 /* start model, context bits, base */

/*
 * A shape is the eight bytes of struct wire_event from kind on, with what the event has in place of
 * its kind; this is where they lie in the number they make.
 */
enum wire_shape {
	WIRE_SHAPE_AT_HAS = 0, /* WIRE_SHAPE_BYTES, _GRAPH */
	WIRE_SHAPE_AT_OP = 8,
	WIRE_SHAPE_AT_COPY = 16,
	WIRE_SHAPE_AT_SRC = 24,
	WIRE_SHAPE_AT_DST = 32,
	WIRE_SHAPE_AT_FLAGS = 40,
	WIRE_SHAPE_AT_PEER = 48,
};
#define WIRE_SHAPE_BYTES 1u
#define WIRE_SHAPE_GRAPH 2u

struct wire_columns;

struct wire_columns *wire_columns_new(void);
void wire_columns_free(struct wire_columns *c);
size_t wire_columns_bytes(const struct wire_columns *c);

/*
 * wire_block_encode with kept scratch, and with the head of the events made on the way (errors
 * as of wire_block_head_of). @cut gets the places where the nature of the bytes changes,
 * as pointers into @out's memory.
 */
int wire_columns_encode(struct wire_columns *c, uint8_t kind, const struct wire_event *ev, size_t n,
			struct wire_head_builder *head, struct wire_buf *out,
			struct wire_cuts *cut);

#endif
