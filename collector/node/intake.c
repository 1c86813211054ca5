/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes to frames to streams. A run of frames of one stream is appended with one write.
 */
#include "intake.h"

#include <errno.h>
#include <string.h>
#include "base/log.h"

#define CARRY_STEP (256u << 10) /* memory for a half frame at first; doubled as it fills */
#define DIRECT_MIN (64u << 10) /* below, a read of its own costs more than a copy */
#define CARRY_KEEP (256u << 10) /* room kept between frames, ... */
#define CARRY_KEEP_ALL (16u << 20) /* ... while all clients together keep less than this */

/* A run of neighbouring frames in the received bytes, to be appended together. */
struct batch {
	struct coll_stream *stream;
	const uint8_t *at;
	size_t len;
	uint64_t frames;
	struct coll_seqs before; /* the stream's, should the append fail */
	size_t index_before;
};

static int batch_store(struct coll_client *c, struct batch *b)
{
	struct coll_counters *count = &c->server->count;
	struct coll_stream *s = b->stream;
	int err;

	if (!b->len)
		return 0;
	err = coll_stream_append(s, b->at, b->len);
	if (err) {
		s->seqs = b->before;
		s->cut = true;
		coll_index_forget(&s->index, b->index_before);
		coll_server_trouble(c->server, s->path, err);
	} else {
		count->frames += b->frames;
		count->bytes += b->len;
		s->urgent |= s->size - s->synced >= COLL_UNSYNCED_MAX;
	}
	b->len = 0;
	return err;
}

static int batch_add(struct coll_client *c, struct batch *b, struct coll_stream *s,
		     const struct wire_frame *f, const uint8_t *at)
{
	size_t bytes = (size_t)wire_frame_bytes(f);
	int err = 0;

	if (b->len && (b->stream != s || b->at + b->len != at))
		err = batch_store(c, b);
	if (err)
		return err;
	if (!b->len) {
		*b = (struct batch){ .stream = s, .at = at, .before = s->seqs };
		b->index_before = s->index.waiting.len;
	}
	coll_index_add(&s->index, f, at + WIRE_FRAME_HEADER_BYTES, s->size + b->len);
	coll_seqs_add(&s->seqs, f->seq);
	b->len += bytes;
	b->frames++;
	return 0;
}

/* From now on this client feeds the stream and gets its acknowledgements, the last one first. */
static void adopt(struct coll_client *c, struct coll_stream *s)
{
	struct coll_stream **p;

	if (s->owner == c)
		return;
	if (s->owner) {
		for (p = &s->owner->streams; *p != s; p = &(*p)->next_owned)
			;
		*p = s->next_owned;
		if (s->owner->last == s)
			s->owner->last = NULL;
	}
	s->owner = c;
	s->next_owned = c->streams;
	c->streams = s;
	s->high = 0;
	s->ack_due = true;
}

static int open_stream(struct coll_client *c, const struct wire_frame *f, const uint8_t *payload,
		       struct coll_stream **out)
{
	struct coll_store *st = &c->server->store;
	struct coll_hello hello;
	int err;

	if (f->type != WIRE_FRAME_HELLO)
		err = coll_store_find(st, f->stream, out);
	else if (!(err = coll_hello_read(&hello, f, payload)))
		err = coll_store_open(st, f->stream, &hello, out);
	if (!err) {
		coll_note("stream %s: %s, %llu bytes", (*out)->hex, (*out)->dir,
			  (unsigned long long)(*out)->size);
		return 0;
	}
	if (err == -ENOENT || err == -EBADMSG) {
		c->server->count.bad_streams++;
		coll_note("pid %d: a stream that did not begin with a good Hello", c->peer.pid);
		return -EPROTO;
	}
	coll_server_trouble(c->server, c->server->store.base, err);
	return err;
}

/* The stream that the frame belongs to, opened if need be and fed by this client. */
static int stream_of(struct coll_client *c, const struct wire_frame *f, const uint8_t *payload,
		     struct coll_stream **out)
{
	struct coll_stream *s = c->last;
	int err;

	if (!s || memcmp(s->id, f->stream, sizeof(s->id))) {
		s = coll_store_get(&c->server->store, f->stream);
		err = s ? 0 : open_stream(c, f, payload, &s);
		if (err)
			return err;
		adopt(c, s);
		c->last = s;
	}
	*out = s;
	return 0;
}

static void note_kind(struct coll_stream *s, const struct wire_frame *f, const uint8_t *payload)
{
	if (f->type == WIRE_FRAME_HELLO)
		s->who_known = !coll_hello_read(&s->who, f, payload);
	if (f->type == WIRE_FRAME_BYE)
		s->bye = s->urgent = true;
}

/* One whole frame with good sums. */
static int admit(struct coll_client *c, struct batch *b, const struct wire_frame *f,
		 const uint8_t *at)
{
	const uint8_t *payload = at + WIRE_FRAME_HEADER_BYTES;
	struct coll_stream *s;
	int err;

	if (!f->seq || f->type == WIRE_FRAME_ACK) {
		c->server->count.bad_frames++;
		return -EPROTO;
	}
	err = stream_of(c, f, payload, &s);
	if (err)
		return err;
	c->greeted = true;
	note_kind(s, f, payload);
	if (f->seq > s->high)
		s->high = f->seq;
	if (coll_seqs_has(&s->seqs, f->seq)) {
		c->server->count.duplicates++;
		s->ack_due = true;
		return 0;
	}
	return batch_add(c, b, s, f, at);
}

/* Whether a whole frame stands at @at: 1 (then *f is filled), 0 (not all of it), -EBADMSG. */
static int frame_at(const uint8_t *at, size_t len, struct wire_frame *f)
{
	if (len < WIRE_FRAME_HEADER_BYTES)
		return 0;
	if (wire_frame_header_get(f, at))
		return -EBADMSG;
	if (wire_frame_bytes(f) > len)
		return 0;
	return wire_frame_payload_ok(f, at + WIRE_FRAME_HEADER_BYTES) ? 1 : -EBADMSG;
}

/* All whole frames at the beginning of the bytes; *used gets their length. */
static int take_frames(struct coll_client *c, const uint8_t *bytes, size_t len, size_t *used)
{
	struct batch b = { .len = 0 };
	struct wire_frame f;
	int got, err = 0, err_store;

	*used = 0;
	while (!err && (got = frame_at(bytes + *used, len - *used, &f))) {
		if (got < 0) {
			c->server->count.bad_frames++;
			err = got;
			break;
		}
		err = admit(c, &b, &f, bytes + *used);
		*used += (size_t)wire_frame_bytes(&f);
	}
	err_store = batch_store(c, &b);
	return err ? err : err_store;
}

static void carry_free(struct coll_client *c)
{
	c->server->held -= c->carry.room;
	wire_buf_fini(&c->carry);
}

/* The frame in it was taken. */
static void carry_reset(struct coll_client *c)
{
	c->carry.len = c->want = 0;
	if (c->carry.room > CARRY_KEEP || c->server->held > CARRY_KEEP_ALL)
		carry_free(c);
}

/* Room for some more of the frame that is wanted. */
static int carry_grow(struct coll_client *c)
{
	size_t had = c->carry.room, step = had > CARRY_STEP ? had : CARRY_STEP;
	int err;

	if (c->carry.len < had)
		return 0;
	if (step > c->want - c->carry.len)
		step = c->want - c->carry.len;
	if (c->server->held + step > COLL_HELD_MAX)
		return -ENOBUFS;
	err = wire_buf_reserve(&c->carry, step);
	c->server->held += c->carry.room - had;
	return err;
}

/* The header is in: how long will it be? */
static int carry_header(struct coll_client *c)
{
	struct wire_frame f;

	if (c->want > WIRE_FRAME_HEADER_BYTES || c->carry.len < WIRE_FRAME_HEADER_BYTES)
		return 0;
	if (wire_frame_header_get(&f, c->carry.data)) {
		c->server->count.bad_frames++;
		return -EBADMSG;
	}
	c->want = (size_t)wire_frame_bytes(&f);
	return 0;
}

/* The carried frame, if it is whole now. */
static int carry_take(struct coll_client *c)
{
	size_t used;
	int err = carry_header(c);

	if (err || c->carry.len < c->want)
		return err;
	err = take_frames(c, c->carry.data, c->carry.len, &used);
	carry_reset(c);
	return err;
}

/* Moves bytes into the carried frame, as many as it wants and its room holds. */
static int carry_fill(struct coll_client *c, const uint8_t *bytes, size_t len, size_t *used)
{
	size_t n;
	int err;

	if (!c->want)
		c->want = WIRE_FRAME_HEADER_BYTES;
	err = carry_grow(c);
	if (err) {
		c->server->count.memory_refused++;
		return err;
	}
	n = c->want - c->carry.len;
	if (n > c->carry.room - c->carry.len)
		n = c->carry.room - c->carry.len;
	if (n > len)
		n = len;
	memcpy(c->carry.data + c->carry.len, bytes, n);
	c->carry.len += n;
	*used = n;
	return carry_take(c);
}

int coll_intake(struct coll_client *c, const uint8_t *bytes, size_t len)
{
	size_t used;
	int err = 0;

	while (len && !err) {
		used = 0;
		if (!c->carry.len)
			err = take_frames(c, bytes, len, &used);
		if (!err && !used)
			err = carry_fill(c, bytes, len, &used);
		bytes += used;
		len -= used;
	}
	return err;
}

size_t coll_intake_room(const struct coll_client *c, uint8_t **at)
{
	size_t room = c->carry.room - c->carry.len;

	if (room > c->want - c->carry.len)
		room = c->want - c->carry.len;
	if (c->want <= WIRE_FRAME_HEADER_BYTES || room < DIRECT_MIN)
		return 0;
	*at = c->carry.data + c->carry.len;
	return room;
}

int coll_intake_direct(struct coll_client *c, size_t len)
{
	c->carry.len += len;
	return carry_take(c);
}

void coll_intake_fini(struct coll_client *c)
{
	c->server->count.cut_bytes += c->carry.len;
	carry_free(c);
}
