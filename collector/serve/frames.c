/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POST /v1/frames: frames one after another, stored as they are, answered once they are durable
 * with an Ack frame per stream. The body is cut and checked as it comes, by the same code as what
 * comes over the node's socket. Frames that are there already are dropped: a body may be sent
 * again.
 *
 * A refused frame ends what is taken of a body; the frames before it are stored all the same, and
 * Gpustarve-Stored says how many bytes of the body they are, as it does where the next frame cannot
 * be stored now (503, 507): who sends knows then which one that is. 409 instead of 400: the stream
 * is not known here and the frame is no Hello; who has its beginning sends it again from there.
 * Gpustarve-Damaged says that the frame was damaged as it came, and may be good when it comes
 * again.
 *
 * Who says which store it means (Gpustarve-Epoch) is refused (412) by every other one, and told how
 * long each stream was before and is now: an Ack's head.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/clock.h"
#include "core/counters.h"
#include "epoch_header.h"
#include "http.h"
#include "ingest/intake.h"
#include "refusal.h"
#include "retain/admit.h"
#include "routes.h"
#include "wire/bytes.h"

#define BODY_MAX (64u << 20)
#define STREAMS_MAX 16384 /* in one body */

struct touched {
	uint8_t id[WIRE_STREAM_ID_BYTES];
	uint64_t serial;
	uint64_t had; /* durable bytes of it, before the first frame */
};

struct frames {
	struct coll_feed in;
	struct touched *streams;
	size_t count, room;
	bool extents; /* its sender wants to know how long streams were and are */
	bool lost; /* a stream was closed, or not noted: what it had may be gone */
	int err;
};

static void note_stream(struct frames *x, const struct coll_stream *s)
{
	struct touched *t;

	if (x->count == x->room) {
		size_t room = x->room ? 2 * x->room : 16;

		t = room <= STREAMS_MAX ? realloc(x->streams, room * sizeof(*t)) : NULL;
		if (!t) {
			x->lost = true;
			return;
		}
		x->streams = t;
		x->room = room;
	}
	t = &x->streams[x->count++];
	memcpy(t->id, s->id, sizeof(t->id));
	t->serial = s->serial;
	t->had = s->synced;
}

static void on_touched(struct coll_feed *in, const struct coll_stream *s)
{
	struct frames *x = (struct frames *)in; /* its first member */
	size_t i = x->count;

	while (i && memcmp(x->streams[i - 1].id, s->id, sizeof(s->id)))
		i--;
	if (!i)
		note_stream(x, s);
	else if (x->streams[i - 1].serial != s->serial)
		x->lost = true;
}

/* Too many bytes a second: the body is to be sent again, later. */
static void slow_down(struct coll_http_request *r, int64_t wait_ns)
{
	char seconds[24];

	snprintf(seconds, sizeof(seconds), "%" PRId64, wait_ns / COLL_SECOND_NS + 1);
	coll_http_header(r, "Retry-After", seconds);
	coll_http_text(r, 429, "too many bytes a second\n");
}

static void frames_begin(struct coll_http_request *r)
{
	int64_t wait = coll_admit_wait(r->parts->retention, &r->team->rate, coll_now_ns());
	struct frames *x;

	if (coll_http_refuse_epoch(r))
		return;
	if (wait) {
		slow_down(r, wait);
		return;
	}
	x = calloc(1, sizeof(*x));
	if (!x) {
		coll_http_text(r, 503, "out of memory\n");
		return;
	}
	x->in.intake = r->parts->intake;
	x->in.feeder = &r->team->feeder;
	x->in.touched = on_touched;
	x->extents = coll_http_asked(r, COLL_EPOCH_HEADER) != NULL;
	snprintf(x->in.who, sizeof(x->in.who), "%s", r->peer);
	r->own = x;
}

static void frames_body(struct coll_http_request *r, const uint8_t *bytes, size_t len)
{
	struct frames *x = r->own;

	coll_admit_throttle(r->parts->retention, &r->team->rate, len, coll_now_ns());
	if (!x->err)
		x->err = coll_intake(&x->in, bytes, len);
}

/* What the request's streams had is still there, and durable. */
static bool all_there(const struct coll_http_request *r, const struct frames *x)
{
	size_t i;

	for (i = 0; i < x->count; i++) {
		struct coll_stream *s = coll_store_get(r->team->store, x->streams[i].id);

		if (!s || s->serial != x->streams[i].serial)
			return false;
	}
	return !x->lost;
}

static int put_ack(struct wire_buf *out, const struct coll_stream *s, const struct touched *t,
		   bool extents)
{
	struct wire_frame f = { .version = WIRE_FRAME_VERSION, .type = WIRE_FRAME_ACK };
	uint8_t head[WIRE_ACK_HEAD_BYTES];

	memcpy(f.stream, s->id, sizeof(f.stream));
	f.seq = coll_stream_durable_top(s);
	f.time_ns = coll_clock_ns(CLOCK_REALTIME);
	wire_put64(head, t->had);
	wire_put64(head + 8, s->synced);
	return wire_frame_append(out, &f, head, extents ? sizeof(head) : 0, NULL, 0);
}

static void acknowledge(struct coll_http_request *r, const struct frames *x)
{
	struct wire_buf out = { .len = 0 };
	int err = wire_buf_reserve(&out, 1); /* a body without frames has an answer, too */
	size_t i;

	for (i = 0; !err && i < x->count; i++)
		err = put_ack(&out, coll_store_get(r->team->store, x->streams[i].id),
			      &x->streams[i], x->extents);
	if (err) {
		wire_buf_fini(&out);
		coll_http_text(r, 503, "out of memory\n");
		return;
	}
	r->count->acks += x->count;
	coll_http_answer_taking(r, 200, "application/octet-stream", out.data, out.len);
}

static void frames_durable(struct coll_http_request *r)
{
	const struct frames *x = r->own;

	if (!all_there(r, x)) {
		coll_cannot_store(r, x->err && !x->in.refused.why ? x->err : -EIO);
	} else if (x->in.refused.why) {
		coll_refuse_frame(r, &x->in.refused);
	} else if (x->err) {
		coll_say_stored(r, x->in.taken);
		coll_cannot_store(r, x->err);
	} else {
		acknowledge(r, x);
	}
}

static void frames_end(struct coll_http_request *r)
{
	struct frames *x = r->own;

	if (!x->err && x->in.carry.len) {
		x->err = -EBADMSG;
		x->in.refused = (struct coll_refused){ .why = "the body ends in the middle of it",
						       .offset = x->in.taken,
						       .damaged = true };
	}
	coll_http_when_durable(r, frames_durable);
}

static void frames_gone(struct coll_http_request *r)
{
	struct frames *x = r->own;

	if (!x)
		return;
	coll_intake_fini(&x->in);
	free(x->streams);
	free(x);
}

const struct coll_route coll_route_frames = {
	.method = "POST",
	.pattern = "/v1/frames",
	.scope = COLL_SCOPE_WRITE,
	.body_max = BODY_MAX,
	.begin = frames_begin,
	.body = frames_body,
	.end = frames_end,
	.gone = frames_gone,
};
