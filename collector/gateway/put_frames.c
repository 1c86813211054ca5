/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two steps, each of as many jobs as it needs.
 */
#include "put_frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KEY_BYTES 512

struct coll_put_stream {
	struct coll_job job; /* first */
	struct coll_put_frames *all;
	struct coll_body_stream *stream;
	struct coll_pieces_count count;
	struct objects_trouble trouble;
	int err;
};

struct coll_put_frames *coll_put_frames_new(struct coll_gateway *g, const char *team,
					    struct wire_buf *body)
{
	struct coll_put_frames *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->gateway = g;
	p->team = team;
	p->body.bytes = *body;
	*body = (struct wire_buf){ .data = NULL };
	return p;
}

static void put_free(struct coll_put_frames *p)
{
	coll_body_fini(&p->body);
	free(p->stream);
	free(p);
}

void coll_put_frames_free(struct coll_put_frames *p)
{
	if (!p)
		return;
	p->done = NULL;
	p->owner = NULL;
	if (!p->left)
		put_free(p);
}

static void count(struct coll_put_frames *p)
{
	struct coll_counters *c = &p->gateway->context->count;

	for (size_t i = 0; i < p->body.streams; i++) {
		c->frames += p->body.stream[i].entries;
		c->gateway_segments += p->stream[i].count.segments;
		c->gateway_there += p->stream[i].count.there;
		c->bytes += p->stream[i].count.bytes;
	}
}

/* All of it is durable. */
static void note_stream(struct coll_put_frames *p, const struct coll_body_stream *s)
{
	bool first = !coll_stream_runs_find(&p->gateway->runs, p->team, s->id);

	coll_exchange_take(&p->gateway->exchange, p->team, &p->body, s, first);
	coll_stream_runs_note(&p->gateway->runs, p->team, s->id, s->run);
}

static void finish(struct coll_put_frames *p)
{
	void (*done)(struct coll_put_frames *, int) = p->done;

	for (size_t i = 0; i < p->body.streams && !p->err; i++)
		if (p->body.stream[i].entries)
			note_stream(p, &p->body.stream[i]);
	count(p);
	if (!done)
		put_free(p);
	else
		done(p, p->err);
}

/* Any stream's error is that of all. */
static void failed(struct coll_put_frames *p, const struct coll_put_stream *s)
{
	p->err = s->err;
	coll_gateway_trouble(p->gateway, s->err, &s->trouble);
}

/* Starts @work for each stream that @wants it. False: none does. */
static bool hand_out(struct coll_put_frames *p, bool (*wants)(const struct coll_put_stream *s),
		     void (*work)(struct coll_job *job), void (*done)(struct coll_job *job))
{
	for (size_t i = 0; i < p->body.streams; i++)
		p->left += wants(&p->stream[i]);
	if (!p->left)
		return false;
	for (size_t i = 0; i < p->body.streams; i++) {
		struct coll_put_stream *s = &p->stream[i];

		if (!wants(s))
			continue;
		s->job = (struct coll_job){ .work = work, .done = done };
		coll_hands_give(&p->gateway->hands, &s->job);
	}
	return true;
}

static bool has_frames(const struct coll_put_stream *s)
{
	return s->stream->entries != 0;
}

/* In a thread. The index comes last: where it is, the stream's beginning is. */
static void put_stream(struct coll_job *job)
{
	struct coll_put_stream *s = (struct coll_put_stream *)job;
	struct coll_put_frames *p = s->all;
	struct objects *o = p->gateway->objects;
	char run[KEY_BYTES];

	if (!coll_gateway_below(run, sizeof(run), p->team, s->stream->run))
		s->err = -ENAMETOOLONG;
	if (!s->err)
		s->err = coll_pieces_put(o, run, &p->body, s->stream, &s->count, &s->trouble);
	if (!s->err && s->stream->begins)
		s->err = coll_stream_run_write(o, p->team, s->stream->hex, s->stream->run,
					       &s->trouble);
}

static void stream_is_put(struct coll_job *job)
{
	struct coll_put_stream *s = (struct coll_put_stream *)job;
	struct coll_put_frames *p = s->all;

	if (s->err)
		failed(p, s);
	else
		coll_store_watch_heard(&p->gateway->watch);
	if (!--p->left)
		finish(p);
}

static void put_streams(struct coll_put_frames *p)
{
	if (p->err || !hand_out(p, has_frames, put_stream, stream_is_put))
		finish(p);
}

/* The first frame of a stream that nobody knows. */
static void refuse_unknown(struct coll_put_frames *p, const struct coll_body_stream *s)
{
	const struct wire_entry *first = &s->entry[0];

	if (p->body.refused.why && p->body.refused.offset < first->offset)
		return;
	p->body.refused =
		(struct coll_refused){ .why = "its stream did not begin with a good Hello",
				       .offset = first->offset,
				       .named = true,
				       .seq = first->frame.seq,
				       .unknown = true };
	memcpy(p->body.refused.stream, s->hex, sizeof(s->hex));
}

static void cut_unknown(struct coll_put_frames *p)
{
	for (size_t i = 0; i < p->body.streams; i++)
		if (p->stream[i].err == -ENOENT)
			refuse_unknown(p, p->stream[i].stream);
		else if (p->stream[i].err)
			failed(p, &p->stream[i]);
	if (p->body.refused.unknown)
		coll_body_cut(&p->body, p->body.refused.offset);
	for (size_t i = 0; i < p->body.streams; i++)
		p->stream[i].err = 0;
}

static bool is_unknown(const struct coll_put_stream *s)
{
	return s->stream->entries && !s->stream->run[0];
}

/* In a thread. */
static void find_run(struct coll_job *job)
{
	struct coll_put_stream *s = (struct coll_put_stream *)job;
	struct coll_put_frames *p = s->all;

	s->err = coll_stream_run_read(p->gateway->objects, p->team, s->stream->hex, s->stream->run,
				      &s->trouble);
}

static void run_is_found(struct coll_job *job)
{
	struct coll_put_frames *p = ((struct coll_put_stream *)job)->all;

	if (--p->left)
		return;
	cut_unknown(p);
	put_streams(p);
}

/* What is known comes before what its Hello says, which has brought that already. */
static void look_up(struct coll_put_frames *p)
{
	for (size_t i = 0; i < p->body.streams; i++) {
		struct coll_body_stream *s = &p->body.stream[i];
		const char *run = coll_stream_runs_find(&p->gateway->runs, p->team, s->id);

		p->stream[i].all = p;
		p->stream[i].stream = s;
		if (run)
			memcpy(s->run, run, strlen(run) + 1);
	}
}

int coll_put_frames_start(struct coll_put_frames *p,
			  void (*done)(struct coll_put_frames *p, int err), void *owner)
{
	int err = coll_body_read(&p->body);

	if (err)
		return err;
	p->stream = calloc(p->body.streams + 1, sizeof(*p->stream));
	if (!p->stream)
		return -ENOMEM;
	p->done = done;
	p->owner = owner;
	look_up(p);
	if (!hand_out(p, is_unknown, find_run, run_is_found))
		put_streams(p);
	return 0;
}
