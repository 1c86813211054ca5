/* SPDX-License-Identifier: Apache-2.0 */
#include "cause_wait.h"

/*
 * Whether others are known to make what the sample waits for: then its time is theirs. Of a worker
 * what torch's own queues tell stays: it waits for work.
 */
static bool others_make(struct ana_cause *b, struct ana_evidence *e,
			const struct ana_thread_samples *s, size_t i, enum ana_producer producer)
{
	const struct wire_sample *w = &s->sample[i];
	const struct ana_links *l = ana_linktexts_get(&e->links, w->links);
	enum ana_take take;

	if (!l->awaits || (w->wait == WIRE_WAIT_QUEUE && producer == ANA_PRODUCER_WORKER))
		return false;
	take = ana_waitkind_of(w, ana_pystacks_get(&e->stacks, w->stack), l);
	if (take != ANA_TAKE_ITEM && take != ANA_TAKE_EVENT)
		return false;
	ana_chain_follow(&b->chain, e, s, i, b->start, b->end);
	return b->chain.found == ANA_CHAIN_MAKERS;
}

/* What a thread does inside a call of the GPU's driver or runtime is no making of batches. */
static bool in_call(const struct ana_cause *b, const struct ana_evidence *e,
		    const struct wire_sample *w, enum ana_class *c)
{
	uint32_t class;

	if (!e->in_call || w->pid != e->pid || w->t_ns < b->start ||
	    !e->in_call(e->in_call_arg, w->tid, w->t_ns, &class))
		return false;
	*c = (enum ana_class) class;
	return true;
}

bool ana_wait_is_followed(struct ana_cause *b, struct ana_evidence *e, uint32_t tid)
{
	const struct ana_thread_samples *s = ana_evidence_thread(e, e->pid, tid);
	struct ana_shares h;
	enum ana_class c;
	size_t i;

	if (!ana_shares_of(s, b->start, b->end, &h))
		return false;
	for (i = h.first; i < h.end; i++) {
		const struct wire_sample *w = &s->sample[i];

		if (!ana_sample_runs(w) && !ana_pystacks_get(&e->stacks, w->stack)->waits &&
		    !in_call(b, e, w, &c) && others_make(b, e, s, i, ANA_PRODUCER_TRAINER))
			return true;
	}
	return false;
}

/* One that waits for work has nothing to do with the batch: it gets no hotspot. */
static void blocked_part(struct ana_cause *b, struct ana_evidence *e,
			 const struct ana_thread_samples *s, size_t i, enum ana_producer producer,
			 int64_t ns)
{
	const struct wire_sample *w = &s->sample[i];
	enum ana_class c = ana_maker_class(w, producer);

	if (!in_call(b, e, w, &c) && others_make(b, e, s, i, producer)) {
		ana_cause_owe(b, s, i, ns);
		return;
	}
	ana_cause_add(b, c, ns);
	if (w->wait == WIRE_WAIT_QUEUE && producer == ANA_PRODUCER_WORKER)
		b->idle += ns;
	else
		ana_cause_vote(b, s, i, c, true, ns);
}

static bool shares_of(const struct ana_thread_part *p, struct ana_shares *h)
{
	return p->from < p->to && ana_shares_of(p->thread, p->from, p->to, h);
}

void ana_wait_vote(struct ana_cause *b, const struct ana_thread_part *p, enum ana_class c,
		   enum ana_voter voter)
{
	struct ana_shares h;
	size_t i;

	if (!shares_of(p, &h))
		return;
	for (i = h.first; i < h.end; i++)
		ana_cause_vote(b, p->thread, i, c, voter == ANA_VOTER_PRODUCER,
			       ana_shares_weight(p->thread, &h, i));
}

void ana_wait_vote_trainer(struct ana_cause *b, struct ana_evidence *e, uint32_t tid)
{
	const struct ana_thread_samples *s = ana_evidence_thread(e, e->pid, tid);
	struct ana_shares h;
	size_t i;

	if (!ana_shares_of(s, b->start, b->end, &h))
		return;
	for (i = h.first; i < h.end; i++)
		ana_cause_vote(b, s, i,
			       s->sample[i].wait == WIRE_WAIT_QUEUE ? ANA_INPUT_UNKNOWN
								    : ANA_INPUT_HANDOFF,
			       false, ana_shares_weight(s, &h, i));
}

bool ana_wait_share_run(struct ana_cause *b, const struct ana_thread_part *p, int64_t ns,
			enum ana_class c, enum ana_voter voter)
{
	const struct ana_thread_samples *s = p->thread;
	struct ana_shares h;
	size_t i;

	if (!shares_of(p, &h) || !h.running)
		return false;
	for (i = h.first; i < h.end; i++)
		if (ana_sample_runs(&s->sample[i]))
			ana_cause_vote(b, s, i, c, voter == ANA_VOTER_PRODUCER,
				       ana_scale(ns, ana_shares_weight(s, &h, i), h.running));
	return true;
}

bool ana_wait_producer(struct ana_cause *b, struct ana_evidence *e,
		       const struct ana_thread_samples *s, enum ana_producer producer)
{
	const struct ana_thread_part whole = { s, b->start, b->end };
	struct ana_shares h;
	size_t i;

	if (!ana_shares_of(s, b->start, b->end, &h))
		return false;
	ana_cause_add(b, ANA_INPUT_CPU_STARVED, h.delay);
	ana_wait_share_run(b, &whole, h.delay, ANA_INPUT_CPU_STARVED, ANA_VOTER_PRODUCER);
	if (!h.running)
		ana_cause_add(b, ANA_INPUT_PREP, h.run);
	for (i = h.first; i < h.end; i++) {
		int64_t ns = ana_shares_part(s, &h, i);
		enum ana_class c = ANA_INPUT_PREP;

		if (!ana_sample_runs(&s->sample[i])) {
			blocked_part(b, e, s, i, producer, ns);
			continue;
		}
		in_call(b, e, &s->sample[i], &c);
		ana_cause_add(b, c, ns);
		ana_cause_vote(b, s, i, c, true, ns);
	}
	ana_cause_pay(b, e);
	return true;
}

static bool counts(const struct wire_sample *s, enum ana_blocked which)
{
	return !ana_sample_runs(s) && (which == ANA_BLOCKED_ANY || s->wait != WIRE_WAIT_QUEUE);
}

bool ana_wait_share_block(struct ana_cause *b, struct ana_evidence *e,
			  const struct ana_thread_part *p, int64_t ns, enum ana_producer producer,
			  enum ana_blocked which)
{
	const struct ana_thread_samples *s = p->thread;
	struct ana_shares h;
	int64_t all = 0;
	size_t i;

	if (!shares_of(p, &h))
		return false;
	for (i = h.first; i < h.end; i++)
		if (counts(&s->sample[i], which))
			all += ana_shares_weight(s, &h, i);
	if (!all)
		return false;
	for (i = h.first; i < h.end; i++)
		if (counts(&s->sample[i], which))
			blocked_part(b, e, s, i, producer,
				     ana_scale(ns, ana_shares_weight(s, &h, i), all));
	ana_cause_pay(b, e);
	return true;
}

struct handed { /* of a wait */
	int64_t after; /* the trainer, or its pin thread, had the batch already */
	int64_t delay; /* the trainer could run and had no CPU */
	int64_t calls; /* the trainer was in calls of the driver: their classes have got it */
};

static int64_t pinned_of(struct ana_cause *b, struct ana_evidence *e, int64_t waiting)
{
	const struct ana_among among = ana_evidence_among(e, b->start, b->end);
	int64_t pinned = 0;
	struct ana_shares p;
	uint32_t k;
	size_t i;

	for (k = 0; k < among.threads; k++) {
		const struct ana_thread_samples *pin = among.thread[k];

		if (pin->role != WIRE_ROLE_PIN || !ana_shares_of(pin, b->start, b->end, &p))
			continue;
		for (i = p.first; i < p.end; i++)
			if (pin->sample[i].wait != WIRE_WAIT_QUEUE)
				pinned += ana_shares_weight(pin, &p, i);
		pinned = base_min(pinned, waiting);
	}
	return pinned;
}

static struct handed handed(struct ana_cause *b, struct ana_evidence *e, uint32_t tid)
{
	const struct ana_thread_samples *s = ana_evidence_thread(e, e->pid, tid);
	struct handed out = { 0 };
	int64_t waiting = 0;
	struct ana_shares h;
	enum ana_class c;
	size_t i;

	if (!ana_shares_of(s, b->start, b->end, &h))
		return out;
	for (i = h.first; i < h.end; i++) {
		int64_t ns = ana_shares_part(s, &h, i);

		if (s->sample[i].wait == WIRE_WAIT_QUEUE || s->sample[i].wait == WIRE_WAIT_LOCK) {
			waiting += ns;
		} else if (in_call(b, e, &s->sample[i], &c)) {
			ana_cause_add(b, c, ns);
			ana_cause_vote(b, s, i, c, false, ns);
			out.calls += ns;
		}
	}
	out.delay = h.delay;
	out.after = b->end - b->start - waiting - out.calls + pinned_of(b, e, waiting);
	return out;
}

bool ana_wait_by_samples(struct ana_cause *b, struct ana_evidence *e, uint32_t tid)
{
	struct ana_cause part = { .start = b->start, .end = b->end };
	const struct handed had = handed(b, e, tid);
	const int64_t delay = base_min(had.delay, had.after);
	int64_t all = 0, left = b->end - b->start - had.after - had.calls;
	bool any = false;
	size_t i;
	uint32_t k;
	int c;

	for (k = 0; k < e->threads; k++)
		if (e->thread[k]->role == WIRE_ROLE_WORKER)
			any |= ana_wait_producer(&part, e, e->thread[k], ANA_PRODUCER_WORKER);
	for (c = 0; c < ANA_CLASSES; c++)
		ana_sum(&all, part.weight[c]);
	for (c = 0; c < ANA_CLASSES; c++)
		ana_cause_add(b, c, ana_scale(left, part.weight[c], all));
	b->idle = ana_scale(left, part.idle, all);
	if (!all)
		ana_cause_add(b, ANA_INPUT_UNKNOWN, left);
	for (i = 0; i < part.votes; i++)
		ana_cause_copy(b, &part, &part.vote[i], ana_scale(left, part.vote[i].weight, all));
	if (part.chained) {
		b->chained = true;
		b->chain_confidence = part.chain_confidence;
	}
	b->err = part.err ? part.err : b->err;
	ana_cause_fini(&part);
	ana_cause_add(b, ANA_INPUT_CPU_STARVED, delay);
	ana_cause_add(b, ANA_INPUT_HANDOFF, had.after - delay);
	return any || had.after || had.calls;
}
