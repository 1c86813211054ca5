/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POST /v1/frames at a gateway: the whole body is taken into memory, put into the object store and
 * then answered as frames.c does. An Ack says of what is stored only what this body shows: all
 * numbers from 1 up to its, or 0. Where there is no room for the body it is to come again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "core/clock.h"
#include "core/counters.h"
#include "epoch_header.h"
#include "gateway/put_frames.h"
#include "http.h"
#include "refusal.h"
#include "routes.h"

#define BODY_MAX (64u << 20)

struct frames {
	struct wire_buf bytes;
	uint64_t room; /* that it holds */
	struct coll_put_frames *put; /* once all of it came */
};

/* False: it is not said, or no number. */
static bool length_of(const struct coll_http_request *r, uint64_t *len)
{
	const char *text = coll_http_asked(r, "Content-Length");
	char *end;

	errno = 0;
	*len = text ? strtoull(text, &end, 10) : 0;
	return text && *text >= '0' && *text <= '9' && !*end && !errno;
}

static void come_back(struct coll_http_request *r, const char *why)
{
	coll_http_header(r, "Retry-After", "1");
	coll_http_text(r, 503, "%s\n", why);
}

static void frames_begin(struct coll_http_request *r)
{
	struct frames *x;
	uint64_t len;

	if (coll_http_refuse_epoch(r))
		return;
	if (!length_of(r, &len)) {
		coll_http_text(r, 411, "say how long it is\n");
		return;
	}
	if (!coll_gateway_hold(r->parts->gateway, &r->team->gateway_held, len)) {
		come_back(r, "no room for it now");
		return;
	}
	x = calloc(1, sizeof(*x));
	if (!x || wire_buf_reserve(&x->bytes, len + 1)) {
		free(x);
		coll_gateway_let(r->parts->gateway, &r->team->gateway_held, len);
		come_back(r, "out of memory");
		return;
	}
	x->room = len;
	r->own = x;
}

static void frames_body(struct coll_http_request *r, const uint8_t *bytes, size_t len)
{
	struct frames *x = r->own;

	if (wire_buf_append(&x->bytes, bytes, len))
		come_back(r, "out of memory");
}

/* All numbers up to this one are in the body. */
static uint64_t top_of(const struct coll_body_stream *s)
{
	uint64_t top = 0;

	while (top < s->entries && s->entry[top].frame.seq == top + 1)
		top++;
	return top;
}

static int put_ack(struct wire_buf *out, const struct coll_body_stream *s)
{
	struct wire_frame f = { .version = WIRE_FRAME_VERSION,
				.type = WIRE_FRAME_ACK,
				.seq = top_of(s),
				.time_ns = coll_clock_ns(CLOCK_REALTIME) };

	memcpy(f.stream, s->id, sizeof(f.stream));
	return wire_frame_append(out, &f, NULL, 0, NULL, 0);
}

static void acknowledge(struct coll_http_request *r, const struct coll_body *b)
{
	struct wire_buf out = { .len = 0 };
	int err = wire_buf_reserve(&out, 1); /* a body without frames has an answer, too */

	for (size_t i = 0; !err && i < b->streams; i++)
		err = put_ack(&out, &b->stream[i]);
	if (err) {
		wire_buf_fini(&out);
		come_back(r, "out of memory");
		return;
	}
	r->count->acks += b->streams;
	coll_http_answer_taking(r, 200, "application/octet-stream", out.data, out.len);
}

static void is_put(struct coll_put_frames *p, int err)
{
	struct coll_http_request *r = p->owner;

	if (err)
		coll_cannot_store(r, err);
	else if (p->body.refused.why)
		coll_refuse_frame(r, &p->body.refused);
	else
		acknowledge(r, &p->body);
}

static void frames_end(struct coll_http_request *r)
{
	struct frames *x = r->own;
	int err = -ENOMEM;

	x->put = coll_put_frames_new(r->parts->gateway, r->team->name, &x->bytes);
	if (x->put)
		err = coll_put_frames_start(x->put, is_put, r);
	if (err == -E2BIG)
		coll_http_text(r, 413, "at most %d streams\n", COLL_BODY_STREAMS);
	else if (err)
		come_back(r, "out of memory");
}

static void frames_gone(struct coll_http_request *r)
{
	struct frames *x = r->own;

	if (!x)
		return;
	coll_put_frames_free(x->put);
	coll_gateway_let(r->parts->gateway, &r->team->gateway_held, x->room);
	wire_buf_fini(&x->bytes);
	free(x);
}

const struct coll_route coll_route_gateway_frames = {
	.method = "POST",
	.pattern = "/v1/frames",
	.scope = COLL_SCOPE_WRITE,
	.body_max = BODY_MAX,
	.begin = frames_begin,
	.body = frames_body,
	.end = frames_end,
	.gone = frames_gone,
};
