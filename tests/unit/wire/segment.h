/* SPDX-License-Identifier: Apache-2.0 */
/* A segment of a small stream, and one that is read from memory, for tests that hurt it. */
#ifndef TESTS_SEGMENT_H
#define TESTS_SEGMENT_H

#include "stream.h"
#include "wire/contents.h"
#include "wire/reader.h"

struct t_memory {
	const uint8_t *data;
	size_t len;
	uint64_t asked; /* bytes that were read of it */
	unsigned int calls;
};

static inline ssize_t t_memory_read(void *own, void *to, size_t len, uint64_t at)
{
	struct t_memory *m = own;

	m->calls++;
	if (at >= m->len)
		return 0;
	if (len > m->len - at)
		len = m->len - (size_t)at;
	memcpy(to, m->data + at, len);
	m->asked += len;
	return (ssize_t)len;
}

static inline int t_segment_open(struct wire_file **f, struct t_memory *m)
{
	struct wire_bytes bytes = { .size = m->len, .read = t_memory_read, .own = m };

	return wire_file_open_segment(f, &bytes);
}

/* The stream's frames with Contents and End behind them, into @out. */
static inline void t_segment_make(const struct t_stream *s, struct wire_buf *out)
{
	struct wire_contents c = { .frames = 0 };
	unsigned int i;

	REQUIRE(!wire_buf_append(out, s->bytes.data, s->bytes.len));
	for (i = 0; i < s->frames; i++) {
		const uint8_t *p = s->bytes.data + s->at[i];
		struct wire_frame f;

		REQUIRE(!wire_frame_header_get(&f, p));
		REQUIRE(!wire_contents_add(&c, &f, p + WIRE_FRAME_HEADER_BYTES, s->at[i]));
	}
	REQUIRE(!wire_contents_end(&c, s->bytes.len, out));
	wire_contents_fini(&c);
}

#endif
