/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames: the unit of a trace on the socket, in a spool file and in the store.
 *
 *   64-byte header | head (plain, typed) | body (protobuf, usually zstd-compressed)
 *
 * Header, little endian: see docs/FORMAT.md. The header has a CRC32C of its own; another one
 * covers head and body. A reader skips types it does not know by length, and after damage
 * looks for the next magic with a good header CRC.
 */
#ifndef WIRE_FRAME_H
#define WIRE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "buf.h"

#define WIRE_FRAME_MAGIC "GSTF"
#define WIRE_FRAME_VERSION 1
#define WIRE_FRAME_VERSION_SKIPPABLE 255 /* up to here the header's layout stays as it is */
#define WIRE_FRAME_HEADER_BYTES 64
#define WIRE_STREAM_ID_BYTES 16

#define WIRE_ACK_HEAD_BYTES 16 /* of an Ack over HTTP, if it was asked for: u64 before, u64 now */

/* Limits that a reader enforces before it believes a length. */
#define WIRE_FRAME_HEAD_MAX (64u << 10)
#define WIRE_FRAME_BODY_MAX (16u << 20)
#define WIRE_FRAME_RAW_MAX (64u << 20)

/* Numbers are part of the format: append only. */
enum wire_frame_type {
	WIRE_FRAME_HELLO = 1,
	WIRE_FRAME_STRINGS = 2,
	WIRE_FRAME_BLOCK = 3,
	WIRE_FRAME_RANGES = 4,
	WIRE_FRAME_SAMPLES = 5,
	WIRE_FRAME_WORKERS = 6,
	WIRE_FRAME_FACTS = 7,
	WIRE_FRAME_CLOCK = 8,
	WIRE_FRAME_LOSS = 9,
	WIRE_FRAME_PULSE = 10,
	WIRE_FRAME_BYE = 11,
	WIRE_FRAME_ACK = 12, /* collector to client, no head, no body: seq is durable */
	WIRE_FRAME_CONTENTS = 13, /* behind a segment's frames: where they lie; seq 0 */
	WIRE_FRAME_END = 14, /* the last of a segment: u64 where Contents begins; seq 0 */
};

enum wire_frame_flag {
	WIRE_FRAME_FL_ZSTD = 1 << 0, /* the body is one zstd frame of raw_len bytes */
};

struct wire_frame {
	uint16_t version;
	uint16_t type;
	uint32_t flags;
	uint8_t stream[WIRE_STREAM_ID_BYTES];
	uint64_t seq; /* from 1, contiguous within a stream */
	int64_t time_ns; /* when it was made, realtime */
	uint32_t head_len;
	uint32_t body_len; /* as stored */
	uint32_t raw_len; /* after decompression */
	uint32_t crc; /* CRC32C over head and body */
};

/* Bytes of the whole frame. */
static inline uint64_t wire_frame_bytes(const struct wire_frame *f)
{
	return WIRE_FRAME_HEADER_BYTES + (uint64_t)f->head_len + f->body_len;
}

/* Writes the header, its own CRC included, into @out[64]. f->crc must be set. */
void wire_frame_header_put(const struct wire_frame *f, uint8_t *out);

/*
 * Reads a header. 0; -EBADMSG: no magic or a bad CRC; -EPROTO: good CRC but lengths beyond the
 * limits or a version this reader cannot skip.
 */
int wire_frame_header_get(struct wire_frame *f, const uint8_t *in);

/*
 * Appends a whole frame to @out: fills crc, head_len and body_len of @f (raw_len is the caller's),
 * then header, head, body. 0, -EMSGSIZE (over a limit) or the error of wire_buf_reserve.
 */
int wire_frame_append(struct wire_buf *out, struct wire_frame *f, const void *head, size_t head_len,
		      const void *body, size_t body_len);

/* True if head and body (contiguous, as in the file) match f->crc. */
bool wire_frame_payload_ok(const struct wire_frame *f, const uint8_t *payload);

/*
 * Incremental scan over bytes that may be cut or hostile.
 * Looks at data[0..len). Returns
 *   WIRE_SCAN_FRAME  a whole valid frame starts at *skip; *f is filled
 *   WIRE_SCAN_MORE   nothing whole yet: keep what follows *skip and add bytes
 * In both cases the *skip bytes before it are damage (0 when clean). With @final no more bytes
 * will come: a cut frame is damage, and *skip is len when nothing whole follows.
 */
enum wire_scan {
	WIRE_SCAN_FRAME,
	WIRE_SCAN_MORE
};
enum wire_scan wire_frame_scan(const uint8_t *data, size_t len, bool final, struct wire_frame *f,
			       size_t *skip);

#endif
