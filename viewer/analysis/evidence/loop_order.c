/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backwards through a thread's samples: each one at work for the GPU, and the last one before it that
 * was in the line of the loop that is asked about.
 */
#include "loop_order.h"

#include <string.h>
#include "frames.h"
#include "shares.h"

#define SAMPLES_MAX 512u /* looked at */
#define VOTES_MAX 4u

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

static bool equal(struct ana_text a, struct ana_text b)
{
	return a.len == b.len && !memcmp(a.at, b.at, a.len);
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
	} while (equal(x, y));
	f = frame_of(x);
	g = frame_of(y);
	*line_a = f.line;
	*line_b = g.line;
	*common = (uint32_t)(whole.at + whole.len - x.at);
	return equal(f.function, g.function) && equal(f.file, g.file) && f.line && g.line &&
	       f.line != g.line;
}

static bool ends_with(struct ana_text t, struct ana_text end)
{
	return t.len >= end.len && !memcmp(t.at + t.len - end.len, end.at, end.len) &&
	       (t.len == end.len || t.at[t.len - end.len - 1] == '\n');
}

/* In a call of the driver or the runtime, or in a framework that makes such calls. */
static bool gives_work(struct ana_evidence *e, const struct wire_sample *w)
{
	if (w->wait == WIRE_WAIT_GPU)
		return true;
	if (e->in_long_call && e->in_long_call(e->in_call_arg, w->tid, w->t_ns))
		return true;
	return ana_pystacks_get(&e->stacks, w->stack)->code == ANA_CODE_MODEL;
}

/* Whether the stack has a frame of that generator. */
static bool is_within(struct ana_text stack, const struct ana_pystack *k)
{
	const char *p = stack.at, *end = stack.at + stack.len;
	struct ana_frame f;

	while (p < end) {
		ana_frames_next(&f, &p, end);
		if (f.generator && equal(f.function, k->resumed) && equal(f.file, k->resumed_file))
			return true;
	}
	return false;
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

static enum ana_order look(struct ana_evidence *e, const struct ana_thread_samples *s,
			   uint32_t id, int64_t start)
{
	const struct ana_pystack k = *ana_pystacks_get(&e->stacks, id);
	const struct ana_text stack = ana_pystacks_text(&e->stacks, id);
	/* one that hands work to a thread without Python gives the GPU none itself */
	bool feeds = s->role == WIRE_ROLE_FEEDER, resumed = k.resumed.len != 0;
	size_t j = ana_samples_from(s, start);
	size_t first = j - s->head > SAMPLES_MAX ? j - SAMPLES_MAX : s->head;
	uint32_t before = 0, behind = 0, works = 0, waits = 0, here, there, common;
	struct ana_text given = { "", 0 }; /* the stack of who gives work next; empty: told */

	for (; j > first && s->sample[j - 1].t_ns >= start - ANA_LOOK_BACK_NS; j--) {
		const struct wire_sample *w = &s->sample[j - 1];
		struct ana_text end = stack;

		if (w->stack && gives_work(e, w)) {
			given = ana_pystacks_text(&e->stacks, w->stack);
			feeds = true;
			resumed = resumed && !is_within(given, &k);
			continue;
		}
		works += is_at_work(w);
		waits += is_waiting(w);
		if (!w->stack || !given.len ||
		    !ana_order_apart(stack, given, &here, &there, &common))
			continue;
		end.at += end.len - common;
		end.len = common;
		if (!ends_with(ana_pystacks_text(&e->stacks, w->stack), end))
			continue;
		before += here < there;
		behind += here > there;
		given.len = 0;
		if (before + behind == VOTES_MAX)
			break;
	}
	if (waits > works) /* it takes what others make, or asks again and again */
		return ANA_ORDER_UNKNOWN;
	if (feeds && resumed)
		return ANA_ORDER_RESUMED;
	if (!before && !behind)
		return ANA_ORDER_UNKNOWN;
	return before > behind ? ANA_ORDER_BEFORE : ANA_ORDER_BEHIND;
}

enum ana_order ana_order_of(struct ana_order_memo *m, struct ana_evidence *e,
			    const struct ana_thread_samples *s, size_t i, int64_t start)
{
	uint32_t id = s->sample[i].stack, k;

	if (!id)
		return ANA_ORDER_UNKNOWN;
	for (k = 0; k < ANA_ORDER_MEMO; k++)
		if (m->known[k].stack == id)
			return (enum ana_order)m->known[k].order;
	k = m->next++ % ANA_ORDER_MEMO;
	m->known[k].stack = id;
	m->known[k].order = (uint8_t)look(e, s, id, start);
	return (enum ana_order)m->known[k].order;
}
