/* SPDX-License-Identifier: Apache-2.0 */
#include "newcomer.h"
#include "base/minmax.h"

bool ana_newcomer(const struct ana_evidence *e, uint32_t tid, uint32_t left, int64_t t)
{
	const struct ana_thread_samples *s = ana_evidence_thread(e, e->pid, tid);

	return tid && tid != left && (!s || s->first >= t);
}

/*
 * Who starts a thread each time, and sleeps in between, was seen asleep alone if looks at him began
 * since the last one.
 */
#define SEEN_TIMES 4 /* as long as the piece */
#define SEEN_LEAST_NS INT64_C(200000000)
#define SEEN_MOST_NS INT64_C(1000000000) /* within what is looked back */

/* It never ran so far, for all that is known of it: it cannot have started anybody. */
static bool sleeps_on(const struct ana_thread_samples *s, const struct ana_shares *h)
{
	size_t i = ana_samples_from(s, h->start - ANA_LOOK_BACK_NS);
	const struct wire_sample *first = &s->sample[i];

	if (!first->cpu_ns || i + 1 >= h->end ||
	    first->t_ns > h->start - base_clamp(SEEN_TIMES * (h->stop - h->start), SEEN_LEAST_NS,
						SEEN_MOST_NS))
		return false;
	while (++i < h->end)
		if (s->sample[i].cpu_ns != first->cpu_ns)
			return false;
	return true;
}

static int64_t last_look(const struct ana_thread_samples *s, const struct ana_shares *h)
{
	return s->sample[h->end - 1].t_ns;
}

/* The sampler looked again at others, and found it no more. */
static bool has_ended(const struct ana_thread_samples *s, const struct ana_shares *h, int64_t last)
{
	return last - last_look(s, h) > 2 * (int64_t)s->sample[h->end - 1].period_ns;
}

struct asked {
	struct ana_cause *b;
	struct ana_evidence *e;
	uint32_t tid; /* whose work ends the gap */
	int64_t last; /* when the sampler looked last, in the piece */
};

/*
 * Whoever was looked at, and not merely counted: where nobody lives who submits those are all of
 * Python's that have run.
 */
static bool may_start(const struct asked *a, const struct ana_thread_samples *s,
		      struct ana_shares *h)
{
	return s->pid == a->e->pid && s->tid != a->tid &&
	       ana_shares_of(s, a->b->start, a->b->end, h) &&
	       !(s->sample[h->end - 1].flags & WIRE_SAMPLE_FL_CENSUS);
}

static bool serves(struct ana_evidence *e, const struct ana_thread_samples *s,
		   const struct ana_shares *h)
{
	size_t i;

	for (i = h->first; i < h->end; i++) {
		const struct wire_sample *w = &s->sample[i];
		const struct ana_pystack *k = ana_pystacks_get(&e->stacks, w->stack);

		if (!(w->flags & WIRE_SAMPLE_FL_CENSUS) &&
		    (!ana_chain_no_work(e, w) || k->no_work == ANA_NO_WORK_PERSON))
			return false;
	}
	return true;
}

static void vote(struct ana_cause *b, const struct ana_thread_samples *s,
		 const struct ana_shares *h)
{
	size_t i;

	for (i = h->first; i < h->end; i++)
		ana_cause_vote(b, s, i, ANA_HOST_NO_WORK, true, ana_shares_weight(s, h, i));
}

static int64_t last_of(const struct asked *a, const struct ana_among *among)
{
	int64_t last = INT64_MIN;
	struct ana_shares h;
	uint32_t k;

	for (k = 0; k < among->threads; k++)
		if (may_start(a, among->thread[k], &h))
			last = base_max(last, last_look(among->thread[k], &h));
	return last;
}

static void decide(struct asked *a)
{
	const struct ana_thread_samples *s = ana_evidence_thread(a->e, a->e->pid, a->tid);
	struct ana_cause *b = a->b;
	int64_t until = s ? base_clamp(s->first, b->start, b->end) : b->end;

	ana_cause_add(b, ANA_HOST_NO_WORK, until - b->start);
	ana_cause_add(b, b->unknown, b->end - until);
	ana_cause_decide(b);
	b->confidence[ANA_HOST_NO_WORK] = ANA_MEDIUM;
}

bool ana_newcomer_cause(struct ana_cause *b, struct ana_evidence *e, uint32_t tid)
{
	const struct ana_among among = ana_evidence_among(e, b->start, b->end);
	struct asked a = { .b = b, .e = e, .tid = tid };
	struct ana_shares h;
	bool served = false;
	uint32_t k;

	a.last = last_of(&a, &among);
	for (k = 0; k < among.threads; k++) {
		const struct ana_thread_samples *s = among.thread[k];

		if (!may_start(&a, s, &h) || has_ended(s, &h, a.last) || sleeps_on(s, &h))
			continue;
		if (!serves(e, s, &h))
			return false;
		vote(b, s, &h);
		served = true;
	}
	if (served)
		decide(&a);
	return served;
}
