/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of a thread to how it spent its time.
 */
#include "shares.h"

#define EXACT_NS INT64_C(10000000) /* the kernel's counters lag by a tick, which is shorter */

struct spent {
	int64_t ns, run, delay;
};

/* Between two samples of a thread; false: the kernel did not count. */
static bool between(const struct wire_sample *a, const struct wire_sample *b, struct spent *s)
{
	int64_t ns = b->t_ns - a->t_ns;

	if (!a->cpu_ns || b->cpu_ns < a->cpu_ns || ns <= 0)
		return false;
	s->ns = ns;
	s->run = b->cpu_ns - a->cpu_ns < (uint64_t)ns ? (int64_t)(b->cpu_ns - a->cpu_ns) : ns;
	s->delay = 0;
	if (b->delay_ns > a->delay_ns)
		s->delay = b->delay_ns - a->delay_ns < (uint64_t)(ns - s->run)
				   ? (int64_t)(b->delay_ns - a->delay_ns)
				   : ns - s->run;
	return true;
}

int64_t ana_shares_weight(const struct ana_thread_samples *s, const struct ana_shares *h, size_t i)
{
	int64_t from = i == h->first ? h->start : s->sample[i].t_ns;
	int64_t to = i + 1 == h->end ? h->stop : s->sample[i + 1].t_ns;

	return to - from;
}

static void weigh(const struct ana_thread_samples *s, struct ana_shares *h)
{
	size_t i;

	h->running = h->waiting = 0;
	for (i = h->first; i < h->end; i++) {
		if (ana_sample_runs(&s->sample[i]))
			h->running += ana_shares_weight(s, h, i);
		else
			h->waiting += ana_shares_weight(s, h, i);
	}
}

/*
 * Runnable all the time, and yet not on a CPU for all of it: its group was throttled; or it waits
 * for a CPU now, which is counted when it gets one; or the counters lag, by a tick at most.
 */
static void explain_rest(const struct wire_sample *a, const struct wire_sample *b, struct spent *s)
{
	int64_t rest = s->ns - s->run - s->delay, throttled = 0, more;

	if (a->throttled_ns && b->throttled_ns > a->throttled_ns)
		throttled = b->throttled_ns - a->throttled_ns < (uint64_t)rest
				    ? (int64_t)(b->throttled_ns - a->throttled_ns)
				    : rest;
	s->delay += throttled;
	rest -= throttled;
	more = rest >= EXACT_NS ? rest : ana_scale(rest, s->delay, s->run + s->delay);
	s->delay += more;
	s->run += rest - more;
}

bool ana_shares_between(const struct wire_sample *a, const struct wire_sample *b, int64_t *run,
			int64_t *delay)
{
	struct spent p;

	if (!between(a, b, &p))
		return false;
	if (ana_sample_runs(a) && ana_sample_runs(b))
		explain_rest(a, b, &p);
	*run = p.run;
	*delay = p.delay;
	return true;
}

static bool exactly(const struct ana_thread_samples *s, struct ana_shares *h)
{
	const struct wire_sample *a = &s->sample[h->first], *b = &s->sample[h->end - 1];
	int64_t ns = h->stop - h->start;
	struct spent p;

	if (b->t_ns - a->t_ns < EXACT_NS || !between(a, b, &p))
		return false;
	if (!h->waiting)
		explain_rest(a, b, &p);
	h->run = ana_scale(ns, p.run, p.ns);
	h->delay = ana_scale(ns, p.delay, p.ns);
	h->blocked = h->waiting ? ns - h->run - h->delay : 0;
	return true;
}

static void roughly(const struct ana_thread_samples *s, struct ana_shares *h)
{
	const struct wire_sample *a = &s->sample[h->first];
	struct spent p;

	h->run = h->running;
	h->delay = 0;
	h->blocked = h->waiting;
	if (h->first == s->head || a->t_ns - a[-1].t_ns > ANA_CELL_NS || !between(&a[-1], a, &p))
		return;
	if (ana_sample_runs(&a[-1]) && ana_sample_runs(a))
		explain_rest(&a[-1], a, &p);
	h->delay = ana_scale(h->run, p.delay, p.run + p.delay);
	h->run -= h->delay;
}

bool ana_shares_of(const struct ana_thread_samples *s, int64_t a, int64_t b, struct ana_shares *out)
{
	if (!s)
		return false;
	out->start = a;
	out->stop = b;
	out->first = ana_samples_from(s, a);
	for (out->end = out->first; out->end < s->tail && s->sample[out->end].t_ns < b;)
		out->end++;
	if (out->first == out->end)
		return false;
	weigh(s, out);
	if (!exactly(s, out))
		roughly(s, out);
	return true;
}

int64_t ana_shares_part(const struct ana_thread_samples *s, const struct ana_shares *h, size_t i)
{
	int64_t w = ana_shares_weight(s, h, i);

	if (ana_sample_runs(&s->sample[i]))
		return ana_scale(h->run, w, h->running);
	return ana_scale(h->blocked, w, h->waiting);
}
