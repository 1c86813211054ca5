/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the sections of columns.
 */
#include "section.h"

#include <errno.h>

int wire_section_find(struct wire_section_at *at, uint8_t max, const uint8_t *p, size_t len)
{
	const uint8_t *end;
	uint8_t before = 0;

	if (!len) /* and perhaps no @p, to which nothing may be added */
		return 0;
	end = p + len;
	while (p < end) {
		uint8_t id = *p;
		size_t size;

		if (end - p < WIRE_SECTION_HEADER || id <= before)
			return -EBADMSG;
		size = wire_get32(p + 1);
		p += WIRE_SECTION_HEADER;
		if (size > (size_t)(end - p))
			return -EBADMSG;
		if (id >= max && id < WIRE_SECTION_OPTIONAL)
			return -EPROTO;
		if (id < max)
			at[id] = (struct wire_section_at){ p, size };
		before = id;
		p += size;
	}
	return 0;
}

struct wire_section_at wire_section_one(uint8_t id, const uint8_t *p, size_t len)
{
	const uint8_t *end = len ? p + len : p;

	while (p < end) {
		size_t size = wire_get32(p + 1);

		if (*p == id)
			return (struct wire_section_at){ p + WIRE_SECTION_HEADER, size };
		p += WIRE_SECTION_HEADER + size;
	}
	return (struct wire_section_at){ 0 };
}

const uint8_t *wire_section_count(const struct wire_section_at *s, uint32_t max, uint32_t *count)
{
	const uint8_t *p;
	uint64_t v;

	if (!s->data)
		return NULL;
	p = wire_varint_get(s->data, s->data + s->len, &v);
	if (!p || !v || v > max)
		return NULL;
	*count = (uint32_t)v;
	return p;
}
