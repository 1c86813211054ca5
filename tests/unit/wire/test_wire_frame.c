/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames: header there and back, and the scan over cut, damaged and hostile bytes.
 */
#include "harness.h"

#include <errno.h>
#include "stream.h"
#include "wire/crc32c.h"
#include "wire/frame.h"

static struct t_stream good;

static void test_header(void)
{
	struct wire_frame f = { .version = 1,
				.type = 3,
				.flags = 1,
				.seq = 1ull << 40,
				.time_ns = -5,
				.head_len = 64,
				.body_len = 100,
				.raw_len = 200,
				.crc = 0xdeadbeef };
	struct wire_frame got;
	uint8_t bytes[WIRE_FRAME_HEADER_BYTES];
	size_t bit;

	memcpy(f.stream, "0123456789abcdef", 16);
	wire_frame_header_put(&f, bytes);
	EXPECT_INT(wire_frame_header_get(&got, bytes), 0);
	EXPECT_MEM(&got, &f, sizeof(f));
	EXPECT_UINT(wire_frame_bytes(&got), 228);
	for (bit = 0; bit < sizeof(bytes) * 8; bit++) {
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		EXPECT_INT(wire_frame_header_get(&got, bytes), -EBADMSG);
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

static void expect_protocol_error(struct wire_frame f)
{
	uint8_t bytes[WIRE_FRAME_HEADER_BYTES];
	struct wire_frame got;

	wire_frame_header_put(&f, bytes);
	EXPECT_INT(wire_frame_header_get(&got, bytes), -EPROTO);
}

static void test_limits(void)
{
	struct wire_frame f = { .version = 1, .type = 3 };
	struct wire_buf out = { 0 };
	struct wire_frame bad;

	bad = f;
	bad.head_len = WIRE_FRAME_HEAD_MAX + 1;
	expect_protocol_error(bad);
	bad = f;
	bad.body_len = UINT32_MAX;
	expect_protocol_error(bad);
	bad = f;
	bad.raw_len = WIRE_FRAME_RAW_MAX + 1;
	expect_protocol_error(bad);
	bad = f;
	bad.version = 0;
	expect_protocol_error(bad);
	bad.version = 256;
	expect_protocol_error(bad);
	EXPECT_INT(wire_frame_append(&out, &f, NULL, WIRE_FRAME_HEAD_MAX + 1, NULL, 0), -EMSGSIZE);
	EXPECT_INT(wire_frame_append(&out, &f, NULL, 0, NULL, WIRE_FRAME_BODY_MAX + 1), -EMSGSIZE);
	out.cap = 70;
	EXPECT_INT(wire_frame_append(&out, &f, "1234567", 7, "", 0), -ENOSPC);
	EXPECT_UINT(out.len, 0);
	EXPECT_INT(wire_frame_append(&out, &f, "123", 3, "456", 3), 0);
	EXPECT_UINT(out.len, 70);
	EXPECT(wire_frame_payload_ok(&f, out.data + 64));
	wire_buf_fini(&out);
}

/* Frames that the scan finds in [0, len), by their offset; damage in *bad. */
static unsigned int scan(const uint8_t *data, size_t len, size_t *found, size_t *bad)
{
	struct wire_frame f;
	unsigned int n = 0;
	size_t at = 0, skip;

	*bad = 0;
	while (wire_frame_scan(data + at, len - at, true, &f, &skip) == WIRE_SCAN_FRAME) {
		at += skip;
		*bad += skip;
		if (n < 64)
			found[n] = at;
		n++;
		at += wire_frame_bytes(&f);
	}
	EXPECT_UINT(at + skip, len);
	*bad += skip;
	return n;
}

static void test_whole(void)
{
	size_t found[64], bad;

	EXPECT_UINT(scan(good.bytes.data, good.bytes.len, found, &bad), good.frames);
	EXPECT_UINT(bad, 0);
	EXPECT_MEM(found, good.at, good.frames * sizeof(*found));
}

/* A stream cut anywhere gives every frame that is whole; the rest is damage. */
static void test_cut(void)
{
	size_t found[64], bad, len;
	unsigned int whole = 0;

	for (len = 0; len <= good.bytes.len; len++) {
		uint8_t *exact = malloc(len + 1);

		if (whole < good.frames && good.at[whole + 1] <= len)
			whole++;
		memcpy(exact + 1, good.bytes.data, len);
		EXPECT_UINT(scan(exact + 1, len, found, &bad), whole);
		EXPECT_UINT(bad, len - good.at[whole]);
		free(exact);
	}
}

/* Bytes that arrive one by one: each frame is given as soon as it is whole, and not before. */
static void test_drip(void)
{
	size_t at = 0, len, skip;
	struct wire_frame f;
	unsigned int n = 0;

	for (len = 0; len <= good.bytes.len; len++) {
		enum wire_scan got =
			wire_frame_scan(good.bytes.data + at, len - at, false, &f, &skip);

		EXPECT_UINT(skip, 0);
		EXPECT_INT(got == WIRE_SCAN_FRAME, len == good.at[n + 1]);
		if (got != WIRE_SCAN_FRAME)
			continue;
		at += wire_frame_bytes(&f);
		n++;
	}
	EXPECT_UINT(n, good.frames);
}

/* One flipped bit costs the frame it is in, and no other. */
static void test_flip(void)
{
	size_t found[64], bad, i;
	unsigned int frame, n;
	uint64_t rnd = t_seed(11);

	for (frame = 0; frame < good.frames; frame++) {
		size_t from = good.at[frame], bytes = good.at[frame + 1] - from;

		for (i = 0; i < 200; i++) {
			size_t bit = i < 64 ? i * 8 : t_random(&rnd) % (bytes * 8);

			good.bytes.data[from + bit / 8] ^= (uint8_t)(1 << bit % 8);
			n = scan(good.bytes.data, good.bytes.len, found, &bad);
			EXPECT_UINT(n, good.frames - 1);
			EXPECT_UINT(bad, bytes);
			EXPECT_MEM(found, good.at, frame * sizeof(*found));
			EXPECT_MEM(found + frame, good.at + frame + 1,
				   (good.frames - frame - 1) * sizeof(*found));
			good.bytes.data[from + bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
	}
}

/* Bytes lost or put in between frames and within them: all frames that are whole are found. */
static void test_holes(void)
{
	uint64_t rnd = t_seed(12);
	size_t found[64], bad;
	int round;

	for (round = 0; round < 500; round++) {
		uint8_t *copy = malloc(good.bytes.len);
		size_t from = t_random(&rnd) % good.bytes.len;
		size_t len = 1 + t_random(&rnd) % (good.bytes.len - from);
		unsigned int whole = 0, i;

		memcpy(copy, good.bytes.data, from);
		memcpy(copy + from, good.bytes.data + from + len, good.bytes.len - from - len);
		for (i = 0; i < good.frames; i++)
			whole += good.at[i + 1] <= from || good.at[i] >= from + len;
		EXPECT_UINT(scan(copy, good.bytes.len - len, found, &bad), whole);
		free(copy);
	}
}

/* A header with a good CRC that claims 16 MB does not hide the frames that follow it. */
static void test_claims(void)
{
	struct wire_frame f = { .version = 1, .type = 3, .body_len = WIRE_FRAME_BODY_MAX };
	uint8_t header[WIRE_FRAME_HEADER_BYTES];
	struct wire_buf b = { 0 };
	size_t found[64], bad;

	wire_frame_header_put(&f, header);
	wire_buf_append(&b, header, sizeof(header));
	wire_buf_append(&b, good.bytes.data, good.bytes.len);
	EXPECT_UINT(scan(b.data, b.len, found, &bad), good.frames);
	EXPECT_UINT(bad, sizeof(header));
	wire_buf_fini(&b);
}

/*
 * Twenty megabytes of nested claims, each a good header: checking every one would take hours. The
 * frames behind them are lost with the last claim, or found; the scan ends soon either way.
 */
static void test_nested_claims(void)
{
	struct wire_frame f = { .version = 1, .type = 3, .body_len = WIRE_FRAME_BODY_MAX };
	size_t n = (20u << 20) / WIRE_FRAME_HEADER_BYTES, i, found[64], bad;
	uint8_t *data = malloc(n * WIRE_FRAME_HEADER_BYTES);

	for (i = 0; i < n; i++)
		wire_frame_header_put(&f, data + i * WIRE_FRAME_HEADER_BYTES);
	EXPECT_UINT(scan(data, n * WIRE_FRAME_HEADER_BYTES, found, &bad), 0);
	free(data);
}

int main(void)
{
	int status;

	t_stream_make(&good, "stream of test 1", 40, 1);
	status = RUN(test_header, test_limits, test_whole, test_cut, test_drip, test_flip,
		     test_holes, test_claims, test_nested_claims);
	wire_buf_fini(&good.bytes);
	return status;
}
