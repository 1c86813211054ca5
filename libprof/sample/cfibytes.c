/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers and pointers of .eh_frame: LSB Core 5.0, "DWARF Extensions".
 */
#include "cfibytes.h"

#include <string.h>

#define LEB_BYTES 10u

enum { /* of an encoding */
	FORMAT = 0x0f,
	RELATIVE = 0x70,
	TO_ITSELF = 0x10,
	INDIRECT = 0x80,
};

void prof_cfi_bytes(struct prof_cfi_bytes *b, const struct prof_cfi_memory *mem, uint64_t at,
		    uint64_t end)
{
	b->mem = mem;
	b->at = at;
	b->end = end;
	b->count = 0;
	b->bad = end < at;
}

/* At least one byte at b->at. */
static bool fetch(struct prof_cfi_bytes *b)
{
	size_t want = sizeof(b->some);

	if (b->at - b->have < b->count)
		return true;
	if (b->bad || b->at >= b->end)
		return false;
	if (b->end - b->at < want)
		want = (size_t)(b->end - b->at);
	if (!b->mem->read(b->mem->arg, b->at, b->some, want))
		return false;
	b->have = b->at;
	b->count = want;
	return true;
}

static uint8_t take(struct prof_cfi_bytes *b)
{
	if (!fetch(b)) {
		b->bad = true;
		b->count = 0;
		return 0;
	}
	return b->some[b->at++ - b->have];
}

uint64_t prof_cfi_unsigned(struct prof_cfi_bytes *b, unsigned int bytes)
{
	uint64_t value = 0;
	unsigned int i;

	for (i = 0; i < bytes; i++)
		value |= (uint64_t)take(b) << (8 * i);
	return value;
}

int64_t prof_cfi_signed(struct prof_cfi_bytes *b, unsigned int bytes)
{
	unsigned int shift = 64 - 8 * bytes;

	return (int64_t)(prof_cfi_unsigned(b, bytes) << shift) >> shift;
}

/* Its value without a sign; *bits: how many it has. */
static uint64_t leb(struct prof_cfi_bytes *b, unsigned int *bits, bool *negative)
{
	uint64_t value = 0;
	unsigned int i;
	uint8_t byte;

	*bits = 0;
	for (i = 0; i < LEB_BYTES; i++) {
		byte = take(b);
		if (*bits < 64)
			value |= (uint64_t)(byte & 0x7f) << *bits;
		*bits += 7;
		*negative = byte & 0x40;
		if (!(byte & 0x80))
			return value;
	}
	b->bad = true;
	return 0;
}

uint64_t prof_cfi_uleb(struct prof_cfi_bytes *b)
{
	unsigned int bits;
	bool negative;

	return leb(b, &bits, &negative);
}

int64_t prof_cfi_sleb(struct prof_cfi_bytes *b)
{
	unsigned int bits;
	bool negative;
	uint64_t value = leb(b, &bits, &negative);

	if (negative && bits < 64)
		value |= ~UINT64_C(0) << bits;
	return (int64_t)value;
}

static uint64_t number(struct prof_cfi_bytes *b, uint8_t format)
{
	switch (format) {
	case 0x00:
	case 0x04:
	case 0x0c:
		return prof_cfi_unsigned(b, 8);
	case 0x01:
		return prof_cfi_uleb(b);
	case 0x02:
		return prof_cfi_unsigned(b, 2);
	case 0x03:
		return prof_cfi_unsigned(b, 4);
	case 0x09:
		return (uint64_t)prof_cfi_sleb(b);
	case 0x0a:
		return (uint64_t)prof_cfi_signed(b, 2);
	case 0x0b:
		return (uint64_t)prof_cfi_signed(b, 4);
	default:
		b->bad = true;
		return 0;
	}
}

uint64_t prof_cfi_pointer(struct prof_cfi_bytes *b, uint8_t encoding)
{
	uint64_t from = b->at, value = number(b, encoding & FORMAT), target;

	if ((encoding & RELATIVE) == TO_ITSELF)
		value += from;
	else if (encoding & RELATIVE)
		b->bad = true;
	if (b->bad || !(encoding & INDIRECT))
		return b->bad ? 0 : value;
	if (!b->mem->read(b->mem->arg, value, &target, sizeof(target))) {
		b->bad = true;
		return 0;
	}
	return target;
}
