/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sections: the pieces that columns come in, u8 id and u32 length before each, ids ascending. A
 * reader that does not know a section may skip it from WIRE_SECTION_OPTIONAL on; below it must
 * refuse. Private to wire. Any thread.
 */
#ifndef WIRE_SECTION_H
#define WIRE_SECTION_H

#include <stddef.h>
#include <stdint.h>
#include "bytes.h"

#define WIRE_SECTION_HEADER 5 /* id, then u32 length */
#define WIRE_SECTION_OPTIONAL 128

struct wire_section_at {
	const uint8_t *data; /* NULL: absent */
	size_t len;
};

/*
 * Where the sections below @max lie, into at[id], which begins as zeros. 0, -EBADMSG, or -EPROTO:
 * one that must be known is not.
 */
int wire_section_find(struct wire_section_at *at, uint8_t max, const uint8_t *p, size_t len);

/*
 * How many entries a dictionary's section says that it has, 1 to @max: they begin where it returns.
 * NULL: it says something else, or is absent.
 */
const uint8_t *wire_section_count(const struct wire_section_at *s, uint32_t max, uint32_t *count);

/* Writes a section's id; the length is filled in by wire_section_end. Returns its first byte. */
static inline uint8_t *wire_section_begin(uint8_t *p, uint8_t id)
{
	*p = id;
	return p + WIRE_SECTION_HEADER;
}

static inline uint8_t *wire_section_end(uint8_t *begin, uint8_t *p)
{
	wire_put32(begin - 4, (uint32_t)(p - begin));
	return p;
}

/* The section @id of columns that wire_section_find has been through; without data: not there. */
struct wire_section_at wire_section_one(uint8_t id, const uint8_t *p, size_t len);

#endif
