/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scan: all at once and in pieces (the first byte says how large) it must find the same frames
 * at the same places.
 */
#include "fuzz.h"

#include "unit/wire/stream.h"
#include "wire/crc32c.h"
#include "wire/frame.h"

#define FRAMES_MAX 256u

struct found {
	size_t at[FRAMES_MAX];
	unsigned int n;
};

static void at_once(const uint8_t *data, size_t len, struct found *out)
{
	struct wire_frame f;
	size_t at = 0, skip;

	out->n = 0;
	while (wire_frame_scan(data + at, len - at, true, &f, &skip) == WIRE_SCAN_FRAME) {
		at += skip;
		if (at + wire_frame_bytes(&f) > len)
			abort();
		if (out->n < FRAMES_MAX)
			out->at[out->n++] = at;
		at += wire_frame_bytes(&f);
	}
	if (at + skip != len)
		abort();
}

static void in_pieces(const uint8_t *data, size_t len, size_t step, struct found *out)
{
	size_t at = 0, have = 0, skip;
	struct wire_frame f;

	out->n = 0;
	while (have < len || at < len) {
		bool final;
		enum wire_scan got;

		have = len - have < step ? len : have + step;
		final = have == len;
		while ((got = wire_frame_scan(data + at, have - at, final, &f, &skip)) ==
		       WIRE_SCAN_FRAME) {
			if (out->n < FRAMES_MAX)
				out->at[out->n++] = at + skip;
			at += skip + wire_frame_bytes(&f);
		}
		at += skip;
		if (final)
			break;
	}
}

size_t fuzz_file(const uint8_t *data, size_t len, uint8_t **file)
{
	return fuzz_take(data, len, file, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct found whole, pieces;

	if (!len || len > 8192)
		return 0;
	at_once(data + 1, len - 1, &whole);
	in_pieces(data + 1, len - 1, 1u + data[0] * 4u, &pieces);
	if (whole.n != pieces.n || memcmp(whole.at, pieces.at, whole.n * sizeof(whole.at[0])))
		abort();
	return 0;
}

size_t fuzz_seed(unsigned int number, uint8_t **data)
{
	struct wire_buf b = { 0 };
	struct t_stream s;
	uint8_t step = (uint8_t)(number * 50);

	if (number >= 4)
		return 0;
	REQUIRE(!wire_buf_append(&b, &step, 1));
	t_stream_make(&s, "stream to fuzz..", 1 + number * 2, number);
	REQUIRE(!wire_buf_append(&b, s.bytes.data, s.bytes.len));
	wire_buf_fini(&s.bytes);
	*data = b.data;
	return b.len;
}
