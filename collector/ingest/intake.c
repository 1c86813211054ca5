/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes to frames to streams. A run of frames of one stream is appended with one write.
 */
#include "intake.h"

#include <errno.h>
#include <string.h>
#include "alert/runs.h"
#include "core/clock.h"
#include "core/context.h"
#include "core/log.h"
#include "relay/upstream.h"
#include "retain/admit.h"

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
	uint64_t from; /* where it begins, in all bytes of the feed */
	struct coll_seq_set before; /* the stream's, should the append fail */
	size_t index_before;
	struct coll_marks marks_before;
};

/* Names the frame that stands where all taken ones end. @f: its header, if that is good. */
static int refuse(struct coll_feed *in, const struct wire_frame *f, const char *why, int err)
{
	struct coll_refused *r = &in->refused;

	*r = (struct coll_refused){ .why = why, .offset = in->taken };
	if (!f)
		return err;
	r->named = true;
	r->seq = f->seq;
	coll_hex_of(r->stream, f->stream);
	return err;
}

static int batch_store(struct coll_feed *in, struct batch *b)
{
	struct coll_counters *count = &in->intake->context->count;
	struct coll_stream *s = b->stream;
	int err;

	if (!b->len)
		return 0;
	err = coll_stream_append(s, b->at, b->len);
	if (err) {
		coll_seq_set_copy(&s->seqs, &b->before);
		s->marks = b->marks_before;
		s->cut = true;
		in->taken = b->from;
		coll_index_forget(&s->index, b->index_before);
		coll_context_trouble(in->intake->context, s->path, err);
	} else {
		count->frames += b->frames;
		count->bytes += b->len;
		s->fed->urgent |= s->size - s->synced >= COLL_UNSYNCED_MAX;
	}
	b->len = 0;
	return err;
}

static int batch_add(struct coll_feed *in, struct batch *b, struct coll_stream *s,
		     const struct wire_frame *f, const uint8_t *at)
{
	size_t bytes = (size_t)wire_frame_bytes(f);
	int err = 0;

	if (b->len && (b->stream != s || b->at + b->len != at))
		err = batch_store(in, b);
	if (err)
		return err;
	err = coll_admit_size(in->intake->retention, s->size + b->len, bytes);
	if (err) {
		coll_context_trouble(in->intake->context, s->path, err);
		return refuse(in, f, "its stream has reached the greatest length allowed here",
			      err);
	}
	if (!b->len) {
		b->stream = s;
		b->at = at;
		b->from = in->taken;
		b->frames = 0;
		coll_seq_set_copy(&b->before, &s->seqs);
		b->index_before = s->index.waiting.len;
		b->marks_before = s->marks;
	}
	coll_index_add(&s->index, f, at + WIRE_FRAME_HEADER_BYTES, s->size + b->len);
	coll_seq_set_add(&s->seqs, f->seq);
	coll_marks_add(&s->marks, f, s->size + b->len);
	b->len += bytes;
	b->frames++;
	return 0;
}

static int open_stream(struct coll_feed *in, const struct wire_frame *f, const uint8_t *payload,
		       struct coll_stream **out)
{
	struct coll_store *st = in->feeder->store;
	struct coll_hello hello;
	int err;

	err = coll_admit_feed(in->intake->retention, in->feeder->stream_count, in->feeder->is_team);
	if (err)
		return err;
	if (f->type != WIRE_FRAME_HELLO)
		err = coll_store_find(st, f->stream, out);
	else if (!(err = coll_hello_read(&hello, f, payload)))
		err = coll_store_open(st, f->stream, &hello, out);
	if (!err) {
		coll_note("stream %s: %s, %llu bytes", (*out)->hex, (*out)->dir,
			  (unsigned long long)(*out)->size);
		if (st == in->intake->own)
			coll_upstream_follow(in->intake->upstream, *out);
		return 0;
	}
	if (err == -ENOENT || err == -EBADMSG) {
		in->intake->context->count.bad_streams++;
		coll_note("%s: a stream that did not begin with a good Hello", in->who);
		refuse(in, f, "its stream did not begin with a good Hello", -EPROTO);
		in->refused.unknown = err == -ENOENT;
		return -EPROTO;
	}
	if (err != -EAGAIN)
		coll_context_trouble(in->intake->context, st->base, err);
	return err;
}

/* A stream that nobody feeds is not to stay open. */
static int adopt(struct coll_feeder *f, struct coll_stream *s)
{
	int err = coll_feeder_adopt(f, s);

	if (err)
		coll_store_close(f->store, s);
	return err;
}

/* The stream that the frame belongs to, opened if need be and fed by this client. */
static int stream_of(struct coll_feed *in, const struct wire_frame *f, const uint8_t *payload,
		     struct coll_stream **out)
{
	struct coll_stream *s = in->last;
	int err;

	if (!s || memcmp(s->id, f->stream, sizeof(s->id))) {
		s = coll_store_get(in->feeder->store, f->stream);
		err = s ? 0 : open_stream(in, f, payload, &s);
		if (!err)
			err = adopt(in->feeder, s);
		if (err)
			return err;
		in->last = s;
		if (in->touched)
			in->touched(in, s);
	}
	*out = s;
	return 0;
}

/* It is there, or was dropped on purpose, or is about to be stored. */
static void raise_high(struct coll_stream *s, const struct wire_frame *f)
{
	if (f->seq > s->high)
		s->high = f->seq;
}

static void note_hello_and_bye(struct coll_stream *s, const struct wire_frame *f,
			       const uint8_t *payload)
{
	if (f->type == WIRE_FRAME_HELLO)
		s->who_known = !coll_hello_read(&s->who, f, payload);
	if (f->type == WIRE_FRAME_BYE)
		s->bye = s->fed->urgent = true;
}

/* One whole frame with good sums. */
static int admit(struct coll_feed *in, struct batch *b, const struct wire_frame *f,
		 const uint8_t *at)
{
	const uint8_t *payload = at + WIRE_FRAME_HEADER_BYTES;
	struct coll_stream *s;
	int err;

	if (!f->seq || f->type == WIRE_FRAME_ACK) {
		in->intake->context->count.bad_frames++;
		return refuse(in, f, "it is not a client's to send", -EPROTO);
	}
	err = stream_of(in, f, payload, &s);
	if (err)
		return err;
	in->any_frame = true;
	s->fed->heard_ns = coll_now_ns();
	note_hello_and_bye(s, f, payload);
	if (coll_seq_set_has(&s->seqs, f->seq)) {
		in->intake->context->count.duplicates++;
		raise_high(s, f);
		s->fed->ack_due = true;
		return 0;
	}
	if (in->feeder->store == in->intake->own && coll_upstream_drops(in->intake->upstream, f)) {
		coll_seq_set_add(&s->seqs, f->seq);
		raise_high(s, f);
		s->fed->ack_due = true;
		return 0;
	}
	if (in->intake->runs)
		coll_runs_frame(in->intake->runs, s, f, payload);
	err = batch_add(in, b, s, f, at);
	if (!err)
		raise_high(s, f);
	return err;
}

static int damaged(struct coll_feed *in, const struct wire_frame *f)
{
	in->intake->context->count.bad_frames++;
	refuse(in, f, f ? "its CRC is wrong" : "no frame is there, or its header is damaged",
	       -EBADMSG);
	in->refused.damaged = true;
	return -EBADMSG;
}

/* Whether a whole frame stands at @at: 1 (then *f is filled), 0 (not all of it), -EBADMSG. */
static int frame_at(struct coll_feed *in, const uint8_t *at, size_t len, struct wire_frame *f)
{
	if (len < WIRE_FRAME_HEADER_BYTES)
		return 0;
	if (wire_frame_header_get(f, at))
		return damaged(in, NULL);
	if (wire_frame_bytes(f) > len)
		return 0;
	return wire_frame_payload_ok(f, at + WIRE_FRAME_HEADER_BYTES) ? 1 : damaged(in, f);
}

/* All whole frames at the beginning of the bytes; *used gets their length. */
static int take_frames(struct coll_feed *in, const uint8_t *bytes, size_t len, size_t *used)
{
	struct batch b; /* filled by its first frame */
	struct wire_frame f;
	int got, err = 0, err_store;

	b.len = 0;
	b.stream = NULL;
	*used = 0;
	while (!err && (got = frame_at(in, bytes + *used, len - *used, &f))) {
		err = got < 0 ? got : admit(in, &b, &f, bytes + *used);
		if (err)
			break;
		*used += (size_t)wire_frame_bytes(&f);
		in->taken += wire_frame_bytes(&f);
	}
	err_store = batch_store(in, &b);
	if (!err_store)
		return err;
	in->refused.why = NULL; /* what stands before that frame is not stored, and that is first */
	return err_store;
}

static void carry_free(struct coll_feed *in)
{
	in->intake->held -= in->carry.room;
	in->feeder->held -= in->carry.room;
	wire_buf_fini(&in->carry);
}

/* The frame in it was taken. */
static void carry_reset(struct coll_feed *in)
{
	in->carry.len = in->want = 0;
	if (in->carry.room > CARRY_KEEP || in->intake->held > CARRY_KEEP_ALL)
		carry_free(in);
}

/* Who holds much, and sends the rest slowly, leaves room for others. */
static bool may_hold(const struct coll_feed *in, size_t more)
{
	size_t most = COLL_HELD_MAX;

	if (in->feeder->held + more > COLL_HELD_LITTLE)
		most -= COLL_HELD_KEPT;
	return in->intake->held + more <= most;
}

/* Room for some more of the frame that is wanted. */
static int carry_grow(struct coll_feed *in)
{
	size_t had = in->carry.room, step = had > CARRY_STEP ? had : CARRY_STEP;
	int err;

	if (in->carry.len < had)
		return 0;
	if (step > in->want - in->carry.len)
		step = in->want - in->carry.len;
	if (!may_hold(in, step))
		return -ENOBUFS;
	err = wire_buf_reserve(&in->carry, step);
	in->intake->held += in->carry.room - had;
	in->feeder->held += in->carry.room - had;
	return err;
}

/* The header is in: how long will it be? */
static int carry_header(struct coll_feed *in)
{
	struct wire_frame f;

	if (in->want > WIRE_FRAME_HEADER_BYTES || in->carry.len < WIRE_FRAME_HEADER_BYTES)
		return 0;
	if (wire_frame_header_get(&f, in->carry.data))
		return damaged(in, NULL);
	in->want = (size_t)wire_frame_bytes(&f);
	return 0;
}

/* The carried frame, if it is whole now. */
static int carry_take(struct coll_feed *in)
{
	size_t used;
	int err = carry_header(in);

	if (err || in->carry.len < in->want)
		return err;
	err = take_frames(in, in->carry.data, in->carry.len, &used);
	carry_reset(in);
	return err;
}

/* Moves bytes into the carried frame, as many as it wants and its room holds. */
static int carry_fill(struct coll_feed *in, const uint8_t *bytes, size_t len, size_t *used)
{
	size_t n;
	int err;

	if (!in->want)
		in->want = WIRE_FRAME_HEADER_BYTES;
	err = carry_grow(in);
	if (err) {
		in->intake->context->count.memory_refused++;
		return err;
	}
	n = in->want - in->carry.len;
	if (n > in->carry.room - in->carry.len)
		n = in->carry.room - in->carry.len;
	if (n > len)
		n = len;
	memcpy(in->carry.data + in->carry.len, bytes, n);
	in->carry.len += n;
	*used = n;
	return carry_take(in);
}

int coll_intake(struct coll_feed *in, const uint8_t *bytes, size_t len)
{
	size_t used;
	int err = 0;

	in->last = NULL; /* it may have been closed meanwhile */
	while (len && !err) {
		used = 0;
		if (!in->carry.len)
			err = take_frames(in, bytes, len, &used);
		if (!err && !used)
			err = carry_fill(in, bytes, len, &used);
		bytes += used;
		len -= used;
	}
	return err;
}

size_t coll_intake_room(const struct coll_feed *in, uint8_t **at)
{
	size_t room = in->carry.room - in->carry.len;

	if (room > in->want - in->carry.len)
		room = in->want - in->carry.len;
	if (in->want <= WIRE_FRAME_HEADER_BYTES || room < DIRECT_MIN)
		return 0;
	*at = in->carry.data + in->carry.len;
	return room;
}

int coll_intake_direct(struct coll_feed *in, size_t len)
{
	in->last = NULL;
	in->carry.len += len;
	return carry_take(in);
}

void coll_intake_fini(struct coll_feed *in)
{
	in->intake->context->count.cut_bytes += in->carry.len;
	carry_free(in);
}
