/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segments: a piece of a stream's file as an object of its own, with a table of contents behind it,
 * so that who wants the frames need not read all of them to find them. What stands behind the piece
 * are frames, too, of types that a reader may skip (docs/FORMAT.md, "Segments"): Contents, and End,
 * which says where Contents begins and has always the same size.
 *
 * Any thread, one at a time for each builder.
 */
#ifndef WIRE_CONTENTS_H
#define WIRE_CONTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "buf.h"
#include "found.h"

#define WIRE_END_HEAD_BYTES 8
#define WIRE_END_BYTES (WIRE_FRAME_HEADER_BYTES + WIRE_END_HEAD_BYTES)

/* Zero-initialise it; wire_contents_fini. */
struct wire_contents {
	struct wire_buf raw; /* of Contents: frames */
	struct wire_buf damage;
	uint32_t frames, damages;
};

/*
 * Of these frames the contents hold the head alone, for they are nearly all of the bytes; of others
 * all, so that who opens a run reads no more than its tables of contents.
 */
static inline bool wire_contents_large(uint16_t type)
{
	return type >= WIRE_FRAME_BLOCK && type <= WIRE_FRAME_WORKERS;
}

/*
 * A frame of the piece: @offset from its beginning, @payload (head and body) as it stands there. 0
 * or -ENOMEM.
 */
int wire_contents_add(struct wire_contents *c, const struct wire_frame *f, const uint8_t *payload,
		      uint64_t offset);
int wire_contents_damage(struct wire_contents *c, uint64_t offset, uint64_t bytes);

/*
 * Appends Contents and End to @out, for a piece of @piece bytes; without what cannot be said in one
 * frame nothing is appended, and readers scan. 0 or -ENOMEM. @c is empty afterwards.
 */
int wire_contents_end(struct wire_contents *c, uint64_t piece, struct wire_buf *out);
void wire_contents_fini(struct wire_contents *c);

/* What a table of contents says, one frame after another; hostile. Private to wire. */
struct wire_listed {
	struct wire_buf raw;
	size_t at; /* of the next one */
	uint32_t left; /* frames */
	uint32_t damages; /* that come before them, in raw */
	uint64_t piece, behind; /* bytes of the piece; where the last frame ended */
};

/*
 * Where Contents begins, by the last WIRE_END_BYTES of a segment of @size bytes; 0: it has none, or
 * what stands there is no End.
 */
uint64_t wire_contents_begin(const uint8_t end[WIRE_END_BYTES], uint64_t size);

/* Takes the frame Contents, which begins at byte @piece: 0, -EBADMSG or -ENOMEM. */
int wire_listed_take(struct wire_listed *l, const uint8_t *frame, size_t len, uint64_t piece);

/* The next place that is damaged: 1; 0: there is no other. Before the first wire_listed_next. */
int wire_listed_damage(struct wire_listed *l, struct wire_damage *d);
/* The next frame: 1 with its head, 0 behind the last, -EBADMSG. */
int wire_listed_next(struct wire_listed *l, struct wire_entry *e, const uint8_t **head);

/* Frames that contents hold whole, kept while their file is open. */
struct wire_kept {
	struct wire_buf bytes;
	struct wire_kept_frame {
		uint64_t offset; /* in the piece; ascending */
		size_t at, len; /* in bytes: header and payload */
	} * frame;
	size_t frames, room;
};

/* Keeps what wire_listed_next gave last, if it is whole. 0 or -ENOMEM. */
int wire_kept_add(struct wire_kept *k, const struct wire_entry *e, const uint8_t *head);
/* The frame at @offset if all @len bytes of it are kept; NULL: it is not. */
const uint8_t *wire_kept_find(const struct wire_kept *k, uint64_t offset, size_t len);
void wire_kept_fini(struct wire_kept *k);

#endif
