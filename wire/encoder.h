/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the frames of one stream, in order: numbers them, compresses, checksums. Writes into a
 * caller's wire_buf, so that whoever sends them decides where they go.
 * One thread at a time. Holds one zstd context and two scratch buffers, made once.
 */
#ifndef WIRE_ENCODER_H
#define WIRE_ENCODER_H

#include <stdint.h>
#include <protobuf-c/protobuf-c.h>
#include "block.h"
#include "evidence.h"
#include "frame.h"
#include "strtab.h"

struct wire_encoder;

/*
 * @level: zstd level of messages and names. Blocks are compressed with settings measured on them
 * while it is 3 or less (what libprof uses), at the level above. NULL: no memory. Sequence
 * numbers begin with 1.
 */
struct wire_encoder *wire_encoder_new(const uint8_t stream[WIRE_STREAM_ID_BYTES], int level);
void wire_encoder_free(struct wire_encoder *e);

uint64_t wire_encoder_seq(const struct wire_encoder *e); /* of the last frame made, 0: none */
size_t wire_encoder_bytes(const struct wire_encoder *e); /* memory held */

/* One message frame (no head). 0 or negative errno; on error no number is used up. */
int wire_encoder_message(struct wire_encoder *e, enum wire_frame_type type,
			 const ProtobufCMessage *msg, int64_t now_ns, struct wire_buf *out);

/*
 * One block of @n (1 to WIRE_BLOCK_EVENTS_MAX) events of one kind: a Block frame, or Ranges for
 * WIRE_KIND_RANGE. @lost[WIRE_BLOCK_DEVICES_MAX]: records lost per device ordinal since the block
 * before, may be NULL. 0, or the errors of wire_block_head_of and of wire_buf_reserve; on error
 * nothing was written and no number is used up.
 */
int wire_encoder_block(struct wire_encoder *e, const struct wire_event *ev, size_t n,
		       const uint32_t *lost, int64_t now_ns, struct wire_buf *out);

/*
 * One Samples frame, or one Workers frame, of @n rows (1 to WIRE_BLOCK_EVENTS_MAX). The names that
 * they use must be in Strings frames before. Errors as of wire_samples_encode; on error nothing was
 * written and no number is used up.
 */
int wire_encoder_samples(struct wire_encoder *e, const struct wire_sample *s, size_t n,
			 int64_t now_ns, struct wire_buf *out);
int wire_encoder_batches(struct wire_encoder *e, const struct wire_batch *b, size_t n,
			 int64_t now_ns, struct wire_buf *out);

/*
 * The head of the block or rows that were made last, as it stands in their frame, so that nobody
 * parses what was just made. It changes with the next one, made or failed.
 */
const struct wire_block_head *wire_encoder_head(const struct wire_encoder *e);

/*
 * A Strings frame with the names of @t from id @first on (none: no frame, returns 0). *next gets
 * the first id that is not yet sent; call again until it is past the count (large tables take
 * several frames).
 */
int wire_encoder_strings(struct wire_encoder *e, const struct wire_strtab *t, uint32_t first,
			 uint32_t *next, int64_t now_ns, struct wire_buf *out);

#endif
