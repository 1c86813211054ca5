/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The body of Contents: u32 places that are damaged, u32 frames; u64 offset and u64 bytes of each
 * place; for each frame u64 offset, its header and its head, as they stand in the piece, and unless
 * it is a large one its body.
 */
#include "contents.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "bytes.h"
#include "codec.h"

#define LEVEL 3 /* headers and heads repeat themselves; more brings little */
#define DAMAGE_BYTES 16u

static void put_numbers(uint8_t to[DAMAGE_BYTES], uint64_t a, uint64_t b)
{
	wire_put64(to, a);
	wire_put64(to + 8, b);
}

int wire_contents_damage(struct wire_contents *c, uint64_t offset, uint64_t bytes)
{
	uint8_t numbers[DAMAGE_BYTES];
	int err;

	put_numbers(numbers, offset, bytes);
	err = wire_buf_append(&c->damage, numbers, sizeof(numbers));
	if (!err)
		c->damages++;
	return err;
}

/* How much of a frame's payload the contents have. */
static size_t listed_bytes(const struct wire_frame *f)
{
	return f->head_len + (wire_contents_large(f->type) ? 0u : (size_t)f->body_len);
}

int wire_contents_add(struct wire_contents *c, const struct wire_frame *f, const uint8_t *payload,
		      uint64_t offset)
{
	size_t len = listed_bytes(f);
	int err = wire_buf_reserve(&c->raw, 8 + WIRE_FRAME_HEADER_BYTES + len);

	if (err)
		return err;
	wire_put64(c->raw.data + c->raw.len, offset);
	wire_frame_header_put(f, c->raw.data + c->raw.len + 8);
	c->raw.len += 8 + WIRE_FRAME_HEADER_BYTES;
	c->frames++;
	return len ? wire_buf_append(&c->raw, payload, len) : 0;
}

/* All of the body, uncompressed. */
static int put_body(const struct wire_contents *c, struct wire_buf *body)
{
	uint8_t count[8];
	int err;

	wire_put32(count, c->damages);
	wire_put32(count + 4, c->frames);
	err = wire_buf_append(body, count, sizeof(count));
	if (!err && c->damage.len)
		err = wire_buf_append(body, c->damage.data, c->damage.len);
	if (!err && c->raw.len)
		err = wire_buf_append(body, c->raw.data, c->raw.len);
	return err;
}

/* @body: the @raw_len bytes as they are, or packed. */
static int put_frames(struct wire_buf *out, size_t raw_len, bool packed,
		      const struct wire_buf *body, uint64_t piece)
{
	struct wire_frame f = { .version = WIRE_FRAME_VERSION,
				.type = WIRE_FRAME_CONTENTS,
				.flags = packed ? WIRE_FRAME_FL_ZSTD : 0,
				.raw_len = (uint32_t)raw_len };
	struct wire_frame end = { .version = WIRE_FRAME_VERSION, .type = WIRE_FRAME_END };
	uint8_t head[WIRE_END_HEAD_BYTES];
	int err;

	wire_put64(head, piece);
	err = wire_frame_append(out, &f, NULL, 0, body->data, body->len);
	return err ? err : wire_frame_append(out, &end, head, sizeof(head), NULL, 0);
}

int wire_contents_end(struct wire_contents *c, uint64_t piece, struct wire_buf *out)
{
	struct wire_buf raw = { .cap = WIRE_FRAME_RAW_MAX }, body = { .data = NULL };
	struct wire_codec codec = { .zstd = NULL };
	bool packed = false;
	int err = put_body(c, &raw);

	if (!err)
		err = wire_codec_init(&codec, LEVEL);
	if (!err)
		err = wire_codec_pack(&codec, &raw, NULL, &body, &packed);
	if (!err && (packed ? body.len : raw.len) <= WIRE_FRAME_BODY_MAX)
		err = put_frames(out, raw.len, packed, packed ? &body : &raw, piece);
	wire_codec_fini(&codec);
	wire_buf_fini(&body);
	wire_buf_fini(&raw);
	c->raw.len = c->damage.len = 0;
	c->frames = c->damages = 0;
	return err == -ENOSPC ? 0 : err;
}

void wire_contents_fini(struct wire_contents *c)
{
	wire_buf_fini(&c->raw);
	wire_buf_fini(&c->damage);
}

uint64_t wire_contents_begin(const uint8_t end[WIRE_END_BYTES], uint64_t size)
{
	struct wire_frame f;
	uint64_t at;

	if (size < WIRE_END_BYTES || wire_frame_header_get(&f, end) || f.type != WIRE_FRAME_END ||
	    f.head_len != WIRE_END_HEAD_BYTES || f.body_len ||
	    !wire_frame_payload_ok(&f, end + WIRE_FRAME_HEADER_BYTES))
		return 0;
	at = wire_get64(end + WIRE_FRAME_HEADER_BYTES);
	return at < size - WIRE_END_BYTES ? at : 0;
}

/* The counts that the body begins with; what they announce is there at least. */
static int take_counts(struct wire_listed *l)
{
	if (l->raw.len < 8)
		return -EBADMSG;
	l->damages = wire_get32(l->raw.data);
	l->left = wire_get32(l->raw.data + 4);
	l->at = 8;
	if (l->damages > WIRE_DAMAGE_MAX || l->damages > (l->raw.len - 8) / DAMAGE_BYTES ||
	    l->left > l->raw.len / WIRE_FRAME_HEADER_BYTES)
		return -EBADMSG;
	return 0;
}

static int take_body(struct wire_listed *l, const struct wire_frame *f, const uint8_t *body)
{
	ZSTD_DCtx *zstd;
	int err;

	if (!(f->flags & WIRE_FRAME_FL_ZSTD))
		return wire_buf_append(&l->raw, body, f->body_len);
	zstd = ZSTD_createDCtx();
	if (!zstd)
		return -ENOMEM;
	err = wire_codec_unpack(zstd, body, f->body_len, f->raw_len, &l->raw);
	ZSTD_freeDCtx(zstd);
	return err;
}

int wire_listed_take(struct wire_listed *l, const uint8_t *frame, size_t len, uint64_t piece)
{
	struct wire_frame f;
	int err;

	if (len < WIRE_FRAME_HEADER_BYTES || wire_frame_header_get(&f, frame) ||
	    f.type != WIRE_FRAME_CONTENTS || f.version > WIRE_FRAME_VERSION ||
	    f.flags & ~WIRE_FRAME_FL_ZSTD || f.head_len || wire_frame_bytes(&f) != len ||
	    !wire_frame_payload_ok(&f, frame + WIRE_FRAME_HEADER_BYTES))
		return -EBADMSG;
	err = take_body(l, &f, frame + WIRE_FRAME_HEADER_BYTES);
	l->piece = piece;
	l->behind = 0;
	return err ? err : take_counts(l);
}

int wire_listed_damage(struct wire_listed *l, struct wire_damage *d)
{
	if (!l->damages)
		return 0;
	d->offset = wire_get64(l->raw.data + l->at);
	d->bytes = wire_get64(l->raw.data + l->at + 8);
	l->at += DAMAGE_BYTES;
	l->damages--;
	return 1;
}

int wire_listed_next(struct wire_listed *l, struct wire_entry *e, const uint8_t **head)
{
	const uint8_t *p = l->raw.data + l->at;
	size_t room = l->raw.len - l->at;

	if (!l->left)
		return 0;
	if (room < 8 + WIRE_FRAME_HEADER_BYTES || wire_frame_header_get(&e->frame, p + 8))
		return -EBADMSG;
	e->offset = wire_get64(p);
	room -= 8 + WIRE_FRAME_HEADER_BYTES;
	if (listed_bytes(&e->frame) > room || e->offset < l->behind || e->offset > l->piece ||
	    wire_frame_bytes(&e->frame) > l->piece - e->offset)
		return -EBADMSG;
	*head = p + 8 + WIRE_FRAME_HEADER_BYTES;
	l->behind = e->offset + wire_frame_bytes(&e->frame);
	l->at += 8 + WIRE_FRAME_HEADER_BYTES + listed_bytes(&e->frame);
	l->left--;
	return 1;
}

int wire_kept_add(struct wire_kept *k, const struct wire_entry *e, const uint8_t *head)
{
	size_t len = (size_t)wire_frame_bytes(&e->frame);
	int err;

	if (wire_contents_large(e->frame.type))
		return 0;
	if (k->frames == k->room) {
		size_t room = k->room ? k->room * 2 : 16;
		struct wire_kept_frame *more = reallocarray(k->frame, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		k->frame = more;
		k->room = room;
	}
	err = wire_buf_append(&k->bytes, head - WIRE_FRAME_HEADER_BYTES, len);
	if (err)
		return err;
	k->frame[k->frames++] = (struct wire_kept_frame){ e->offset, k->bytes.len - len, len };
	return 0;
}

const uint8_t *wire_kept_find(const struct wire_kept *k, uint64_t offset, size_t len)
{
	size_t low = 0, high = k->frames;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (k->frame[mid].offset < offset)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == k->frames || k->frame[low].offset != offset || k->frame[low].len != len)
		return NULL;
	return k->bytes.data + k->frame[low].at;
}

void wire_kept_fini(struct wire_kept *k)
{
	wire_buf_fini(&k->bytes);
	free(k->frame);
	*k = (struct wire_kept){ .frames = 0 };
}
