/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A piece of a stream's file becomes a segment: behind its bytes comes what it holds, so that a
 * reader need not read all of it (wire/contents.h). Any thread.
 */
#ifndef SEGMENTS_PIECE_H
#define SEGMENTS_PIECE_H

#include <stddef.h>
#include <stdint.h>
#include "wire/buf.h"
#include "wire/found.h"

#define SEGMENTS_BYTES (32u << 20) /* of a piece, and one frame more at most; chosen from ... */
#define SEGMENTS_BYTES_MIN (64u << 10)
#define SEGMENTS_BYTES_MAX (64u << 20)

/* What was found in the piece; the lists are the caller's. */
struct segments_piece {
	uint64_t at; /* what the offsets below count from is so far before the piece */
	const struct wire_entry *entry; /* its frames, in order */
	size_t entries;
	const struct wire_damage *damage; /* those in the piece alone count */
	size_t damages;
};

/* @bytes holds the piece, and nothing else; its contents go behind it. 0 or -ENOMEM. */
int segments_piece_end(struct wire_buf *bytes, const struct segments_piece *p);

#endif
