/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A segment with its table of contents from any bytes. With the first byte's lowest bit set the
 * checksums are made good, those of the headers within the table, too (twice: they lie in what the
 * table's own covers).
 */
#include "fuzz.h"
#include "harness.h"
#include "unit/wire/segment.h"

static void load(struct wire_file *f, struct wire_scratch *s, const struct wire_entry *e)
{
	const uint8_t *head, *raw;
	struct wire_block_head h;
	size_t len;

	if (wire_file_head(f))
		wire_block_head_get(&h, wire_file_head(f), e->frame.head_len);
	wire_file_load(f, s, e, &head, &raw, &len);
}

static void read_all(const uint8_t *data, size_t len)
{
	struct t_memory m = { .data = data, .len = len };
	struct wire_scratch *s = wire_scratch_new();
	struct wire_entry e;
	struct wire_file *f;
	uint64_t end = 0;
	unsigned int n;

	REQUIRE(s);
	if (!t_segment_open(&f, &m)) {
		for (n = 0; n < 64 && wire_file_next(f, &e) == 1; n++) {
			if (e.offset < end || wire_frame_bytes(&e.frame) > len - e.offset)
				abort(); /* frames lie in the segment, one after another */
			end = e.offset + wire_frame_bytes(&e.frame);
			load(f, s, &e);
		}
		wire_file_close(f);
	}
	wire_scratch_free(s);
}

size_t fuzz_file(const uint8_t *data, size_t len, uint8_t **file)
{
	return fuzz_take(data, len, file, 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t *copy;

	if (!len)
		return 0;
	len = fuzz_file(data, len, &copy);
	read_all(copy, len);
	free(copy);
	return 0;
}

/* Its table as it is, for the mutator cannot get at what is compressed. */
static void add_plain_table(struct wire_buf *b, const struct t_stream *s)
{
	struct wire_frame end = { .version = 1, .type = WIRE_FRAME_END }, table = end;
	struct wire_buf body = { .data = NULL };
	uint8_t numbers[8] = { 0 };
	uint64_t piece = s->bytes.len;

	fuzz_put32(numbers + 4, s->frames);
	REQUIRE(!wire_buf_append(&body, numbers, 8));
	for (unsigned int i = 0; i < s->frames; i++) {
		const uint8_t *p = s->bytes.data + s->at[i];
		uint64_t at = s->at[i];
		struct wire_frame f;

		REQUIRE(!wire_frame_header_get(&f, p) && !wire_buf_append(&body, &at, 8));
		REQUIRE(!wire_buf_append(&body, p,
					 WIRE_FRAME_HEADER_BYTES + f.head_len +
						 (wire_contents_large(f.type) ? 0 : f.body_len)));
	}
	table.type = WIRE_FRAME_CONTENTS;
	table.raw_len = (uint32_t)body.len;
	REQUIRE(!wire_buf_append(b, s->bytes.data, s->bytes.len));
	REQUIRE(!wire_frame_append(b, &table, NULL, 0, body.data, body.len));
	REQUIRE(!wire_frame_append(b, &end, &piece, sizeof(piece), NULL, 0));
	wire_buf_fini(&body);
}

size_t fuzz_seed(unsigned int number, uint8_t **data)
{
	uint8_t how = (uint8_t)(number & 1);
	struct wire_buf b = { 0 };
	struct t_stream s;

	if (number >= 6)
		return 0;
	REQUIRE(!wire_buf_append(&b, &how, 1));
	t_stream_make(&s, "stream to fuzz..", number < 3 ? 3 : 100, number);
	if (number % 3 == 2)
		t_segment_make(&s, &b);
	else
		add_plain_table(&b, &s);
	wire_buf_fini(&s.bytes);
	*data = b.data;
	return b.len;
}
