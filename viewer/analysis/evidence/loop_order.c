/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backwards through a thread's samples: each one at work for the GPU, and the last one before it
 * that was in the line of the loop that is asked about.
 */
#include "loop_order.h"

#include <string.h>
#include "frames.h"
#include "shares.h"

#define SAMPLES_MAX 512u /* looked at */
#define VOTES_MAX 4u
/* looked at, however many vote: who sleeps in between is not seen in a few */
#define SAMPLES_MIN 64u
/* a fifth of what the thread works is what is done before the copy, or it is none */
#define AHEAD_MIN 5
#define ONE_VOTE_NS INT64_C(100000000) /* a piece as long is no chance */

/* The last row of the text, which loses it. */
static struct ana_text take_row(struct ana_text *t)
{
	uint32_t at = t->len;

	while (at && t->at[at - 1] != '\n')
		at--;
	struct ana_text row = { t->at + at, t->len - at };

	t->len = at ? at - 1 : 0;
	return row;
}

static struct ana_frame frame_of(struct ana_text row)
{
	struct ana_frame f;

	ana_frames_next(&f, &row.at, row.at + row.len);
	return f;
}

bool ana_order_apart(struct ana_text a, struct ana_text b, uint32_t *line_a, uint32_t *line_b,
		     uint32_t *common)
{
	struct ana_text whole = a, x, y;
	struct ana_frame f, g;

	do {
		if (!a.len || !b.len)
			return false;
		x = take_row(&a);
		y = take_row(&b);
	} while (ana_text_same(x, y));
	f = frame_of(x);
	g = frame_of(y);
	*line_a = f.line;
	*line_b = g.line;
	*common = (uint32_t)(whole.at + whole.len - x.at);
	return ana_text_same(f.function, g.function) && ana_text_same(f.file, g.file) && f.line &&
	       g.line && f.line != g.line;
}

static bool ends_with(struct ana_text t, struct ana_text end)
{
	return t.len >= end.len && !memcmp(t.at + t.len - end.len, end.at, end.len) &&
	       (t.len == end.len || t.at[t.len - end.len - 1] == '\n');
}

/*
 * In a call of the driver or the runtime, or in a framework that makes such calls; the program's
 * own code that a framework runs, as a trainer does all of it, makes batches as well.
 */
static bool gives_work(struct ana_evidence *e, const struct wire_sample *w)
{
	const struct ana_pystack *k;

	if (w->wait == WIRE_WAIT_GPU)
		return true;
	if (e->in_long_call && e->in_long_call(e->in_call_arg, w->tid, w->t_ns))
		return true;
	k = ana_pystacks_get(&e->stacks, w->stack);
	return k->code == ANA_CODE_MODEL && !k->own;
}

/* Whether the stack has a frame of that generator. */
static bool is_within(struct ana_text stack, const struct ana_pystack *k)
{
	const char *p = stack.at, *end = stack.at + stack.len;
	struct ana_frame f;

	while (p < end) {
		ana_frames_next(&f, &p, end);
		if (f.generator && ana_text_same(f.function, k->resumed) &&
		    ana_text_same(f.file, k->resumed_file))
			return true;
	}
	return false;
}

/*
 * What lies outside of the frame at which two stacks part, which have @common in common with that.
 */
static uint32_t outside(struct ana_text a, uint32_t common)
{
	const char *row = a.at + a.len - common;
	const char *end = memchr(row, '\n', common);

	return end ? (uint32_t)(a.at + a.len - end - 1) : 0;
}

/* What making a batch is like: computing, reading. Waiting for others is not. */
static bool is_at_work(const struct wire_sample *w)
{
	return ana_sample_runs(w) || w->wait == WIRE_WAIT_READ || w->wait == WIRE_WAIT_FAULT ||
	       w->wait == WIRE_WAIT_SOCKET;
}

static bool is_waiting(const struct wire_sample *w)
{
	switch (w->wait) {
	case WIRE_WAIT_SLEEP:
	case WIRE_WAIT_LOCK:
	case WIRE_WAIT_LOCK_SHARED:
	case WIRE_WAIT_PIPE:
	case WIRE_WAIT_QUEUE:
	case WIRE_WAIT_CHILD:
		return !ana_sample_runs(w);
	default:
		return false;
	}
}

struct looked { /* at a thread's samples, backwards */
	uint32_t stack; /* of the work in question, string id */
	size_t first, end; /* the samples */
	uint32_t before, behind; /* votes */
	uint32_t given; /* the stack of who gave work when one voted before; string id */
	bool feeds, resumed;
};

/*
 * What the samples that give no work stand for, delay apart: at work; waiting; at work in the
 * function in which this work parts from what gives, at smaller lines than that.
 */
struct spent {
	int64_t works, waits, ahead;
};

static bool is_ahead(struct ana_evidence *e, const struct looked *l, uint32_t stack)
{
	const struct ana_text given = ana_pystacks_text(&e->stacks, l->given);
	const struct ana_text work = ana_pystacks_text(&e->stacks, l->stack);
	const struct ana_text other = ana_pystacks_text(&e->stacks, stack);
	uint32_t here, there, common, mine;

	return ana_order_apart(work, given, &here, &there, &mine) &&
	       ana_order_apart(other, given, &here, &there, &common) && here < there &&
	       outside(other, common) == outside(work, mine);
}

static struct spent spent_of(struct ana_evidence *e, const struct ana_thread_samples *s,
			     const struct looked *l, int64_t start)
{
	struct spent out = { 0 };
	struct ana_shares h;
	uint32_t last = 0; /* the stack that was asked about last */
	bool ahead = false;
	size_t i;

	if (l->first == l->end || !ana_shares_of(s, s->sample[l->first].t_ns, start, &h))
		return out;
	for (i = l->first; i < l->end; i++) {
		const struct wire_sample *w = &s->sample[i];
		int64_t ns = ana_shares_part(s, &h, i);

		if (w->stack && gives_work(e, w))
			continue;
		out.works += is_at_work(w) ? ns : 0;
		out.waits += is_waiting(w) ? ns : 0;
		if (!l->before || !w->stack || !is_at_work(w))
			continue;
		if (w->stack != last)
			ahead = is_ahead(e, l, w->stack);
		last = w->stack;
		out.ahead += ahead ? ns : 0;
	}
	return out;
}

static void look_back(struct looked *l, struct ana_evidence *e, const struct ana_thread_samples *s,
		      int64_t start)
{
	const struct ana_pystack k = *ana_pystacks_get(&e->stacks, l->stack);
	const struct ana_text stack = ana_pystacks_text(&e->stacks, l->stack);
	size_t last = l->end - s->head > SAMPLES_MAX ? l->end - SAMPLES_MAX : s->head;
	/* given: the stack of who gives work next; 0: told */
	uint32_t given = 0, here, there, common;

	for (; l->first > last && s->sample[l->first - 1].t_ns >= start - ANA_LOOK_BACK_NS;) {
		const struct wire_sample *w = &s->sample[--l->first];
		struct ana_text end = stack;

		if (w->stack && gives_work(e, w)) {
			given = w->stack;
			l->feeds = true;
			l->resumed =
				l->resumed && !is_within(ana_pystacks_text(&e->stacks, given), &k);
			continue;
		}
		if (l->before + l->behind == VOTES_MAX) {
			if (l->end - l->first >= SAMPLES_MIN)
				break;
			continue;
		}
		if (!w->stack || !given ||
		    !ana_order_apart(stack, ana_pystacks_text(&e->stacks, given), &here, &there,
				     &common))
			continue;
		end.at += end.len - common;
		end.len = common;
		if (!ends_with(ana_pystacks_text(&e->stacks, w->stack), end))
			continue;
		if (here < there && !l->before++)
			l->given = given;
		l->behind += here > there;
		given = 0;
	}
}

static struct looked look_from(struct ana_evidence *e, const struct ana_thread_samples *s,
			       uint32_t id, int64_t start)
{
	const size_t end = ana_samples_from(s, start);
	struct looked l = {
		.stack = id,
		.first = end,
		.end = end,
		/* one that hands work to a thread without Python gives the GPU none itself */
		.feeds = s->role == WIRE_ROLE_FEEDER,
		.resumed = ana_pystacks_get(&e->stacks, id)->resumed.len != 0,
	};

	look_back(&l, e, s, start);
	return l;
}

static enum ana_order look(struct ana_evidence *e, const struct ana_thread_samples *s, uint32_t id,
			   int64_t start, int64_t stop)
{
	struct looked l = look_from(e, s, id, start);
	struct spent spent = spent_of(e, s, &l, start);

	if (spent.waits > spent.works) /* it takes what others make, or asks again and again */
		return ANA_ORDER_UNKNOWN;
	if (l.feeds && l.resumed)
		return ANA_ORDER_RESUMED;
	if (l.behind && l.before <= l.behind)
		return ANA_ORDER_BEHIND;
	/* a thread that lost its CPU at some line is no more often there than the line takes */
	if (!spent.ahead || AHEAD_MIN * (__int128)spent.ahead < spent.works)
		return ANA_ORDER_UNKNOWN;
	return l.before == 1 && stop - start < ONE_VOTE_NS ? ANA_ORDER_PERHAPS : ANA_ORDER_BEFORE;
}

static bool is_known(const struct ana_order_memo *m, uint32_t id, enum ana_order *out)
{
	uint32_t k;

	for (k = 0; k < ANA_ORDER_MEMO; k++)
		if (m->known[k].stack == id) {
			*out = (enum ana_order)m->known[k].order;
			return true;
		}
	return false;
}

static enum ana_order keep(struct ana_order_memo *m, uint32_t id, enum ana_order order)
{
	uint32_t k = m->next++ % ANA_ORDER_MEMO;

	m->known[k].stack = id;
	m->known[k].order = (uint8_t)order;
	return order;
}

enum ana_order ana_order_of(struct ana_order_memo *m, struct ana_evidence *e,
			    const struct ana_thread_samples *s, size_t i, int64_t start,
			    int64_t stop)
{
	uint32_t id = s->sample[i].stack;
	enum ana_order order;

	if (!id)
		return ANA_ORDER_UNKNOWN;
	return is_known(m, id, &order) ? order : keep(m, id, look(e, s, id, start, stop));
}

enum ana_order ana_order_place(struct ana_order_memo *m, struct ana_evidence *e,
			       const struct ana_thread_samples *s, size_t i, int64_t start)
{
	uint32_t id = s->sample[i].stack;
	enum ana_order order;
	struct looked l;

	if (!id)
		return ANA_ORDER_UNKNOWN;
	if (is_known(m, id, &order))
		return order;
	l = look_from(e, s, id, start);
	return keep(m, id,
		    l.before > l.behind ? ANA_ORDER_BEFORE
		    : l.behind		? ANA_ORDER_BEHIND
					: ANA_ORDER_UNKNOWN);
}
