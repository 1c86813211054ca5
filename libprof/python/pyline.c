/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The three kinds of line tables of CPython: Objects/lnotab_notes.txt (to 3.9, and pairs in 3.10),
 * Objects/locations.md (from 3.11 on).
 */
#include "pyline.h"

#include <stdbool.h>

#define NO_LINE (-128) /* 3.10: of a range of instructions */

static uint32_t as_line(int64_t line)
{
	return line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
}

/* Pairs: so many bytes of code, then so many lines. The line changes behind the bytes. */
static uint32_t by_lnotab(const uint8_t *t, size_t bytes, int64_t line, int64_t lasti)
{
	int64_t at = 0;
	size_t i;

	for (i = 0; i + 1 < bytes; i += 2) {
		at += t[i];
		if (at > lasti)
			break;
		line += (int8_t)t[i + 1];
	}
	return as_line(line);
}

/* Pairs: the lines to add, and the bytes of code for which the sum then holds, size first. */
static uint32_t by_pairs(const uint8_t *t, size_t bytes, int64_t line, int64_t lasti)
{
	int64_t end = 0;
	size_t i;

	for (i = 0; i + 1 < bytes; i += 2) {
		int8_t delta = (int8_t)t[i + 1];

		end += t[i];
		if (delta != NO_LINE)
			line += delta;
		if (end > lasti)
			return delta == NO_LINE ? 0 : as_line(line);
	}
	return 0;
}

struct reader {
	const uint8_t *at, *end;
};

/* Six bits a byte, lowest first; bit 6 says that another follows. Ends at the next entry. */
static int64_t signed_varint(struct reader *r)
{
	uint64_t value = 0;
	unsigned int shift = 0;

	while (r->at < r->end && !(*r->at & 0x80)) {
		uint8_t byte = *r->at++;

		if (shift < 36)
			value |= (uint64_t)(byte & 0x3f) << shift;
		shift += 6;
		if (!(byte & 0x40))
			break;
	}
	return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

enum { /* what an entry of locations says, besides columns */
	ENTRY_ONE_LINE0 = 10,
	ENTRY_ONE_LINE2 = 12,
	ENTRY_NO_COLUMNS = 13,
	ENTRY_LONG = 14,
	ENTRY_NONE = 15,
};

static int64_t line_delta(struct reader *r, unsigned int code)
{
	if (code >= ENTRY_ONE_LINE0 && code <= ENTRY_ONE_LINE2)
		return code - ENTRY_ONE_LINE0;
	return code == ENTRY_NO_COLUMNS || code == ENTRY_LONG ? signed_varint(r) : 0;
}

/* Entries begin with a byte that has bit 7; no other has it. */
static uint32_t by_locations(const uint8_t *t, size_t bytes, int64_t line, int64_t lasti)
{
	struct reader r = { t, t + bytes };
	int64_t end = 0;

	while (r.at < r.end) {
		uint8_t head = *r.at++;
		unsigned int code = head >> 3 & 15;

		if (!(head & 0x80))
			return 0;
		line += line_delta(&r, code);
		end += ((head & 7) + 1) * 2;
		if (end > lasti)
			return code == ENTRY_NONE ? 0 : as_line(line);
		while (r.at < r.end && !(*r.at & 0x80))
			r.at++;
	}
	return 0;
}

uint32_t prof_pyline(enum prof_pylines kind, const uint8_t *table, size_t bytes, uint32_t firstline,
		     int64_t lasti)
{
	if (lasti < 0)
		return firstline; /* about to begin */
	switch (kind) {
	case PROF_PYLINES_LNOTAB:
		return by_lnotab(table, bytes, firstline, lasti);
	case PROF_PYLINES_PAIRS:
		return by_pairs(table, bytes, firstline, lasti);
	case PROF_PYLINES_LOCATIONS:
		return by_locations(table, bytes, firstline, lasti);
	}
	return 0;
}
