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
#include "base/minmax.h"

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

struct said { /* by the marks before a frame: both come in order */
	size_t mark; /* the first that is not before it */
	int64_t complete; /* the greatest; INT64_MIN: nothing was said */
};

static void listen_until(const struct view_stream *s, struct said *said, uint64_t seq)
{
	const struct trace_stream *x = s->priv;

	for (; said->mark < x->marks && x->mark[said->mark].seq < seq; said->mark++)
		said->complete = base_max(said->complete, x->mark[said->mark].complete_ns);
}

static int64_t complete_before(const struct view_stream *s, const struct said *said)
{
	return said->complete == INT64_MIN ? stream_begin(s) : said->complete;
}

/* Nothing that ended later can have been in a frame before @f. */
static int64_t known_after(const struct view_stream *s, const struct trace_frame *f,
			   const struct said *said)
{
	const struct trace_stream *x = s->priv;

	if (on_realtime(s))
		return f->entry.frame.time_ns;
	if (said->mark < x->marks)
		return x->mark[said->mark].t_ns;
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
	struct said said = { .complete = INT64_MIN };
	uint64_t last = 0;
	size_t i, room = 0;
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		uint64_t seq = frame[i].entry.frame.seq;

		if (seq > last + 1) {
			struct view_hole h = { .first_seq = last + 1, .last_seq = seq - 1 };

			listen_until(s, &said, seq);
			h.start_ns = complete_before(s, &said);
			h.end_ns = known_after(s, &frame[i], &said);
			x->missing += seq - last - 1;
			err = add_hole(s, &room, h);
		}
		last = seq;
	}
	if (!err && !s->bye && !(s->hello && s->hello->import)) {
		struct view_hole h = { .first_seq = last + 1, .end_ns = INT64_MAX };

		listen_until(s, &said, UINT64_MAX);
		h.start_ns = complete_before(s, &said);
		err = add_hole(s, &room, h);
	}
	return err;
}

#define SAME_START_NS INT64_C(10000000000) /* two looks at one process's start */

/* Of this process, and not of an earlier or later one with its number. */
static bool is_exit_of(const struct view_exit *e, const Wire__Hello *h)
{
	int64_t apart;

	if (e->pid != h->pid || strcmp(e->host, h->host) || e->end_ns <= h->process_start_ns)
		return false;
	if (!e->start_ns || !h->process_start_ns)
		return true;
	if (__builtin_sub_overflow(e->start_ns, h->process_start_ns, &apart))
		return false;
	return apart < SAME_START_NS && apart > -SAME_START_NS;
}

/* The same process after an execv: a stream of its own. */
static bool follows(const struct view_stream *s, const struct view_stream *next)
{
	const Wire__Hello *h = s->hello, *g = next->hello;

	return g && g->pid == h->pid && g->armed_ns > h->armed_ns && !strcmp(g->host, h->host) &&
	       g->process_start_ns == h->process_start_ns;
}

int64_t view_trace_end(const struct view_trace *t, const struct view_stream *s)
{
	int64_t end = INT64_MIN;
	size_t i;

	if (!s->hello)
		return end;
	for (i = 0; i < t->run.exits; i++)
		if (t->run.exit[i].part == s->part && is_exit_of(&t->run.exit[i], s->hello) &&
		    t->run.exit[i].end_ns > end)
			end = t->run.exit[i].end_ns;
	for (i = 0; i < t->streams && !s->bye; i++)
		if (follows(s, &t->stream[i]) &&
		    (end == INT64_MIN || t->stream[i].hello->armed_ns < end))
			end = t->stream[i].hello->armed_ns;
	return end;
}

/* The last sign of life: pulse, work, or a look at what the host did. */
static int64_t last_sign(const struct view_stream *s)
{
	int64_t last = s->last_pulse ? s->last_pulse->t_ns : INT64_MIN;
	size_t i;

	for (i = 0; i < s->blocks; i++)
		if (s->block[i].head->t1_ns > last)
			last = s->block[i].head->t1_ns;
	for (i = 0; i < s->evidences; i++)
		if (s->evidence[i].head->t1_ns > last)
			last = s->evidence[i].head->t1_ns;
	return last == INT64_MIN ? stream_begin(s) : last;
}

void view_stream_close_hole(const struct view_trace *t, struct view_stream *s)
{
	struct view_hole *h = s->holes ? &s->hole[s->holes - 1] : NULL;
	int64_t end;

	if (!h || h->last_seq || h->end_ns != INT64_MAX)
		return;
	end = view_trace_end(t, s);
	h->end_ns = end != INT64_MIN ? end : last_sign(s);
	if (h->end_ns < h->start_ns)
		h->end_ns = h->start_ns;
}
