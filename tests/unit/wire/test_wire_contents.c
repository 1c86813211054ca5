/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segments: the table of contents gives the same frames as a scan of all bytes, reads next to none
 * of them, and is not believed where it is damaged or lies.
 */
#include "harness.h"

#include <errno.h>
#include "segment.h"

static struct t_stream good;
static struct wire_buf whole;
static struct wire_scratch *scratch;

struct seen {
	struct wire_entry entry[64];
	struct wire_block_head head[64];
	unsigned int frames;
	int end;
	size_t places;
};

static void see(struct seen *s, struct wire_file *f)
{
	memset(s, 0, sizeof(*s));
	while (s->frames < 64 && (s->end = wire_file_next(f, &s->entry[s->frames])) == 1) {
		const struct wire_frame *frame = &s->entry[s->frames].frame;

		if (wire_contents_large(frame->type))
			EXPECT_INT(wire_block_head_get(&s->head[s->frames], wire_file_head(f),
						       frame->head_len),
				   0);
		s->frames += frame->seq != 0; /* what is behind the piece are frames, too */
	}
	wire_file_damage(f, &s->places);
}

static void see_bytes(struct seen *s, const uint8_t *data, size_t len, struct t_memory *m)
{
	struct wire_file *f;

	*m = (struct t_memory){ .data = data, .len = len };
	REQUIRE(!t_segment_open(&f, m));
	see(s, f);
	wire_file_close(f);
}

static void test_same_as_a_scan(void)
{
	static struct seen all, listed;
	struct t_memory m;

	see_bytes(&all, good.bytes.data, good.bytes.len, &m);
	EXPECT_UINT(m.asked >= good.bytes.len, 1);
	see_bytes(&listed, whole.data, whole.len, &m);
	EXPECT_UINT(listed.frames, good.frames);
	EXPECT_INT(listed.end, 0);
	EXPECT_MEM(listed.entry, all.entry, sizeof(all.entry));
	EXPECT_MEM(listed.head, all.head, sizeof(all.head));
	EXPECT_UINT(m.calls, 2);
	EXPECT(m.asked < whole.len - good.bytes.len + 1);
}

/* Frames that are small were read with the table; blocks are read where they lie. */
static void test_loads(void)
{
	struct t_memory m = { .data = whole.data, .len = whole.len };
	static struct seen s;
	struct wire_event *ev = NULL;
	struct wire_block_head head;
	struct wire_file *f;
	uint64_t before;
	size_t room = 0;
	Wire__Hello *hello;

	REQUIRE(!t_segment_open(&f, &m));
	see(&s, f);
	wire_file_scanned(f, false);
	before = m.asked;
	hello = (Wire__Hello *)wire_file_message(f, scratch, &s.entry[0], &wire__hello__descriptor);
	REQUIRE(hello);
	EXPECT_INT(hello->pid, 42);
	protobuf_c_message_free_unpacked(&hello->base, NULL);
	EXPECT_UINT(m.asked, before);
	EXPECT_INT(wire_file_block(f, scratch, &s.entry[2], &head, &ev, &room, NULL), 0);
	EXPECT_UINT(head.count, 400);
	EXPECT_UINT(m.asked, before + wire_frame_bytes(&s.entry[2].frame));
	free(ev);
	wire_file_close(f);
}

static void test_damage_is_told(void)
{
	struct wire_contents c = { .frames = 0 };
	struct wire_buf out = { .data = NULL };
	struct wire_damage d[] = { { 3, 5 }, { 100, 20 } };
	const struct wire_damage *got;
	struct t_memory m;
	struct wire_file *f;
	size_t n;

	REQUIRE(!wire_buf_append(&out, good.bytes.data, 300));
	EXPECT_INT(wire_contents_damage(&c, d[0].offset, d[0].bytes), 0);
	EXPECT_INT(wire_contents_damage(&c, d[1].offset, d[1].bytes), 0);
	EXPECT_INT(wire_contents_end(&c, 300, &out), 0);
	m = (struct t_memory){ .data = out.data, .len = out.len };
	REQUIRE(!t_segment_open(&f, &m));
	got = wire_file_damage(f, &n);
	EXPECT_UINT(n, 2);
	EXPECT_MEM(got, d, sizeof(d));
	wire_file_close(f);
	wire_contents_fini(&c);
	wire_buf_fini(&out);
}

/* Wherever one byte is another, frames are found as a scan finds them, or one is not believed. */
static void test_any_byte(void)
{
	uint8_t *bytes = malloc(whole.len);
	static struct seen s;
	struct t_memory m;
	size_t at;

	REQUIRE(bytes);
	for (at = good.bytes.len; at < whole.len; at++) {
		memcpy(bytes, whole.data, whole.len);
		bytes[at] ^= 0x40;
		see_bytes(&s, bytes, whole.len, &m);
		if (s.frames != good.frames || s.entry[2].offset != good.at[2])
			T_FAIL("byte %zu: %u frames", at, s.frames);
	}
	for (at = good.bytes.len; at < whole.len; at++) { /* cut off */
		see_bytes(&s, whole.data, at, &m);
		if (s.frames != good.frames)
			T_FAIL("cut at %zu: %u frames", at, s.frames);
	}
	free(bytes);
}

/* What cannot be in a piece of this size is no frame. */
static void test_lies(void)
{
	static const struct {
		uint64_t offset[2];
		int end;
	} lie[] = { { { 0, 0 }, -EBADMSG },
		    { { UINT64_MAX, 0 }, -EBADMSG },
		    { { 5000, 0 }, -EBADMSG } };
	struct wire_frame f;
	size_t i, k;

	REQUIRE(!wire_frame_header_get(&f, good.bytes.data));
	for (i = 0; i < sizeof(lie) / sizeof(lie[0]); i++) {
		struct wire_contents c = { .frames = 0 };
		struct wire_buf out = { .data = NULL };
		static struct seen s;
		struct t_memory m;

		REQUIRE(!wire_buf_append(&out, good.bytes.data, 3000));
		for (k = 0; k < 2; k++)
			REQUIRE(!wire_contents_add(&c, &f,
						   good.bytes.data + WIRE_FRAME_HEADER_BYTES,
						   lie[i].offset[k]));
		REQUIRE(!wire_contents_end(&c, 3000, &out));
		see_bytes(&s, out.data, out.len, &m);
		EXPECT_INT(s.end, lie[i].end);
		EXPECT(s.frames < 2);
		wire_contents_fini(&c);
		wire_buf_fini(&out);
	}
}

/* An older reader, and a scan, find the same frames and nothing damaged. */
static void test_a_segment_is_a_stream(void)
{
	struct wire_frame f;
	size_t at = 0, skip, frames = 0, others = 0;

	while (wire_frame_scan(whole.data + at, whole.len - at, true, &f, &skip) ==
	       WIRE_SCAN_FRAME) {
		EXPECT_UINT(skip, 0);
		at += (size_t)wire_frame_bytes(&f);
		frames += f.seq != 0;
		others += f.seq == 0;
	}
	EXPECT_UINT(at, whole.len);
	EXPECT_UINT(frames, good.frames);
	EXPECT_UINT(others, 2);
}

int main(void)
{
	int status;

	scratch = wire_scratch_new();
	t_stream_make(&good, "stream of pieces", 400, 7);
	REQUIRE(scratch && good.bytes.len > 3000);
	t_segment_make(&good, &whole);
	status = RUN(test_same_as_a_scan, test_loads, test_damage_is_told, test_any_byte, test_lies,
		     test_a_segment_is_a_stream);
	wire_buf_fini(&whole);
	wire_buf_fini(&good.bytes);
	wire_scratch_free(scratch);
	return status;
}
