/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is missing of a stream, as intervals of time. A frame that is lost held work that ended
 * after the last pulse before it said 'complete up to', and before the next frame was made.
 */
#include "trace_priv.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static bool on_realtime(const struct view_stream *s)
{
	return s->hello && !strcmp(s->hello->clock, "realtime");
}

/* Where the stream began, as far as that is known. */
static int64_t stream_begin(const struct view_stream *s)
{
	if (s->hello && s->hello->armed_ns)
		return s->hello->armed_ns;
	if (s->hello && s->hello->process_start_ns)
		return s->hello->process_start_ns;
	return s->blocks ? s->block[0].head->t0_ns : 0;
}

/* Greatest 'complete up to' said before @seq. */
static int64_t complete_before(const struct view_stream *s, uint64_t seq)
{
	const struct trace_stream *x = s->priv;
	int64_t complete = INT64_MIN;
	size_t i;

	for (i = 0; i < x->marks && x->mark[i].seq < seq; i++)
		if (x->mark[i].complete_ns > complete)
			complete = x->mark[i].complete_ns;
	return complete == INT64_MIN ? stream_begin(s) : complete;
}

/* Nothing that ended later can have been in a frame before @f. */
static int64_t known_after(const struct view_stream *s, const struct trace_frame *f)
{
	const struct trace_stream *x = s->priv;
	size_t i;

	if (on_realtime(s))
		return f->entry.frame.time_ns;
	for (i = 0; i < x->marks; i++)
		if (x->mark[i].seq >= f->entry.frame.seq)
			return x->mark[i].t_ns;
	return s->bye ? s->bye->t_ns : INT64_MAX;
}

static int add_hole(struct view_stream *s, size_t *room, struct view_hole h)
{
	int err = view_grow(&s->hole, room, s->holes, sizeof(*s->hole));

	if (err)
		return err;
	if (h.end_ns < h.start_ns)
		h.end_ns = h.start_ns;
	s->hole[s->holes++] = h;
	return 0;
}

int view_stream_holes(struct view_stream *s, const struct trace_frame *frame, size_t n)
{
	struct trace_stream *x = s->priv;
	uint64_t last = 0;
	size_t i, room = 0;
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		uint64_t seq = frame[i].entry.frame.seq;

		if (seq > last + 1) {
			struct view_hole h = { last + 1, seq - 1, complete_before(s, seq),
					       known_after(s, &frame[i]) };
			x->missing += seq - last - 1;
			err = add_hole(s, &room, h);
		}
		last = seq;
	}
	if (!err && !s->bye && !(s->hello && s->hello->import)) {
		struct view_hole h = { last + 1, 0, complete_before(s, UINT64_MAX), INT64_MAX };
		err = add_hole(s, &room, h);
	}
	return err;
}

/* The end of the process as the wrapper saw it; 0: it did not. */
static int64_t exit_seen(const struct view_trace *t, const Wire__Hello *h)
{
	size_t i;

	for (i = 0; h && i < t->run.exits; i++) {
		const struct view_exit *e = &t->run.exit[i];

		if (e->pid == h->pid && !strcmp(e->host, h->host) &&
		    e->end_ns > h->process_start_ns)
			return e->end_ns;
	}
	return 0;
}

/* The last sign of life: pulse, frame or work. */
static int64_t last_sign(const struct view_stream *s)
{
	int64_t last = s->last_pulse ? s->last_pulse->t_ns : INT64_MIN;
	size_t i;

	for (i = 0; i < s->blocks; i++)
		if (s->block[i].head->t1_ns > last)
			last = s->block[i].head->t1_ns;
	return last == INT64_MIN ? stream_begin(s) : last;
}

void view_stream_close_hole(const struct view_trace *t, struct view_stream *s)
{
	struct view_hole *h = s->holes ? &s->hole[s->holes - 1] : NULL;
	int64_t end;

	if (!h || h->last_seq || h->end_ns != INT64_MAX)
		return;
	end = exit_seen(t, s->hello);
	h->end_ns = end ? end : last_sign(s);
	if (h->end_ns < h->start_ns)
		h->end_ns = h->start_ns;
}
