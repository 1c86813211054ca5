/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frame headers to and from bytes, and the search for whole frames in bytes that may be cut,
 * damaged or hostile.
 */
#include "frame.h"

#include <errno.h>
#include <string.h>
#include "bytes.h"
#include "crc32c.h"
#include "scan.h"

#define MAGIC_BYTES 4

/* Where each field of the header lies; docs/FORMAT.md has the table. */
enum {
	AT_MAGIC = 0,
	AT_VERSION = 4,
	AT_TYPE = 6,
	AT_FLAGS = 8,
	AT_HEAD_LEN = 12,
	AT_STREAM = 16,
	AT_SEQ = 32,
	AT_TIME = 40,
	AT_BODY_LEN = 48,
	AT_RAW_LEN = 52,
	AT_CRC = 56,
	AT_HEADER_CRC = 60,
};
_Static_assert(AT_HEADER_CRC + 4 == WIRE_FRAME_HEADER_BYTES, "the header's fields fill it");

void wire_frame_header_put(const struct wire_frame *f, uint8_t *out)
{
	memcpy(out + AT_MAGIC, WIRE_FRAME_MAGIC, MAGIC_BYTES);
	wire_put16(out + AT_VERSION, f->version);
	wire_put16(out + AT_TYPE, f->type);
	wire_put32(out + AT_FLAGS, f->flags);
	wire_put32(out + AT_HEAD_LEN, f->head_len);
	memcpy(out + AT_STREAM, f->stream, WIRE_STREAM_ID_BYTES);
	wire_put64(out + AT_SEQ, f->seq);
	wire_put64(out + AT_TIME, (uint64_t)f->time_ns);
	wire_put32(out + AT_BODY_LEN, f->body_len);
	wire_put32(out + AT_RAW_LEN, f->raw_len);
	wire_put32(out + AT_CRC, f->crc);
	wire_put32(out + AT_HEADER_CRC, wire_crc32c(0, out, AT_HEADER_CRC));
}

static bool lengths_ok(const struct wire_frame *f)
{
	return f->head_len <= WIRE_FRAME_HEAD_MAX && f->body_len <= WIRE_FRAME_BODY_MAX &&
	       f->raw_len <= WIRE_FRAME_RAW_MAX;
}

int wire_frame_header_get(struct wire_frame *f, const uint8_t *in)
{
	if (memcmp(in + AT_MAGIC, WIRE_FRAME_MAGIC, MAGIC_BYTES) ||
	    wire_get32(in + AT_HEADER_CRC) != wire_crc32c(0, in, AT_HEADER_CRC))
		return -EBADMSG;
	f->version = wire_get16(in + AT_VERSION);
	f->type = wire_get16(in + AT_TYPE);
	f->flags = wire_get32(in + AT_FLAGS);
	f->head_len = wire_get32(in + AT_HEAD_LEN);
	memcpy(f->stream, in + AT_STREAM, WIRE_STREAM_ID_BYTES);
	f->seq = wire_get64(in + AT_SEQ);
	f->time_ns = (int64_t)wire_get64(in + AT_TIME);
	f->body_len = wire_get32(in + AT_BODY_LEN);
	f->raw_len = wire_get32(in + AT_RAW_LEN);
	f->crc = wire_get32(in + AT_CRC);
	if (!f->version || f->version > WIRE_FRAME_VERSION_SKIPPABLE || !lengths_ok(f))
		return -EPROTO;
	return 0;
}

int wire_frame_append(struct wire_buf *out, struct wire_frame *f, const void *head, size_t head_len,
		      const void *body, size_t body_len)
{
	int err;

	if (head_len > WIRE_FRAME_HEAD_MAX || body_len > WIRE_FRAME_BODY_MAX)
		return -EMSGSIZE;
	err = wire_buf_reserve(out, WIRE_FRAME_HEADER_BYTES + head_len + body_len);
	if (err)
		return err;
	f->head_len = (uint32_t)head_len;
	f->body_len = (uint32_t)body_len;
	f->crc = wire_crc32c(wire_crc32c(0, head, head_len), body, body_len);
	wire_frame_header_put(f, out->data + out->len);
	out->len += WIRE_FRAME_HEADER_BYTES;
	wire_buf_append(out, head, head_len);
	wire_buf_append(out, body, body_len);
	return 0;
}

bool wire_frame_payload_ok(const struct wire_frame *f, const uint8_t *payload)
{
	return wire_crc32c(0, payload, (size_t)f->head_len + f->body_len) == f->crc;
}

/* The next place in data[at..len) that may be a magic, also one cut by the end; len if none. */
static size_t next_magic(const uint8_t *data, size_t at, size_t len)
{
	while (at < len) {
		const uint8_t *hit = memchr(data + at, WIRE_FRAME_MAGIC[0], len - at);
		size_t left;

		if (!hit)
			return len;
		at = (size_t)(hit - data);
		left = len - at < MAGIC_BYTES ? len - at : MAGIC_BYTES;
		if (!memcmp(hit, WIRE_FRAME_MAGIC, left))
			return at;
		at++;
	}
	return len;
}

enum candidate {
	GOOD,
	BAD,
	CUT
};

/* What stands at @data: a whole frame, damage, or the beginning of what may become a frame. */
static enum candidate look_at(const uint8_t *data, uint64_t len, struct wire_frame *f)
{
	if (len < WIRE_FRAME_HEADER_BYTES)
		return CUT;
	if (wire_frame_header_get(f, data))
		return BAD;
	if (wire_frame_bytes(f) > len)
		return CUT;
	return wire_frame_payload_ok(f, data + WIRE_FRAME_HEADER_BYTES) ? GOOD : BAD;
}

/*
 * How far to go on from a bad candidate: one byte, because frames may begin inside of what its
 * lengths claim. Hostile bytes could nest so many large claims that checking them all takes hours:
 * when the budget for checks in vain is used up, a claim is skipped whole.
 */
static size_t step_over(const struct wire_frame *f, const uint8_t *data, size_t len,
			uint64_t *budget)
{
	uint64_t bytes;

	if (wire_frame_header_get((struct wire_frame *)f, data))
		return 1;
	bytes = wire_frame_bytes(f);
	if (*budget >= bytes) {
		*budget -= bytes;
		return 1;
	}
	return bytes < len ? (size_t)bytes : len;
}

enum wire_scan wire_scan_step(const uint8_t *data, size_t len, bool final, uint64_t *budget,
			      struct wire_frame *f, size_t *skip)
{
	size_t at = 0;

	for (;;) {
		at = next_magic(data, at, len);
		*skip = at;
		if (at == len)
			return WIRE_SCAN_MORE;
		switch (look_at(data + at, len - at, f)) {
		case GOOD:
			return WIRE_SCAN_FRAME;
		case CUT:
			if (!final)
				return WIRE_SCAN_MORE;
			at++;
			break;
		case BAD:
			at += len - at < WIRE_FRAME_HEADER_BYTES
				      ? 1
				      : step_over(f, data + at, len - at, budget);
			break;
		}
	}
}

enum wire_scan wire_frame_scan(const uint8_t *data, size_t len, bool final, struct wire_frame *f,
			       size_t *skip)
{
	uint64_t budget = WIRE_SCAN_BUDGET;

	return wire_scan_step(data, len, final, &budget, f, skip);
}
