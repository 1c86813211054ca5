/* SPDX-License-Identifier: Apache-2.0 */
#include "cause_wait.h"

enum ana_class ana_wait_class(const struct wire_sample *s, enum ana_producer producer)
{
	switch (s->wait) {
	case WIRE_WAIT_READ:
	case WIRE_WAIT_WRITE:
	case WIRE_WAIT_FAULT:
	case WIRE_WAIT_SOCKET:
	case WIRE_WAIT_PIPE:
	case WIRE_WAIT_SLEEP:
		return ANA_INPUT_FETCH;
	case WIRE_WAIT_GIL:
	case WIRE_WAIT_LOCK:
	case WIRE_WAIT_LOCK_SHARED:
		return ANA_INPUT_PIPELINE;
	case WIRE_WAIT_QUEUE:
		return producer == ANA_PRODUCER_TRAINER ? ANA_INPUT_UNKNOWN : ANA_INPUT_PIPELINE;
	default:
		return s->state == WIRE_STATE_DISK ? ANA_INPUT_FETCH : ANA_INPUT_UNKNOWN;
	}
}

/* One that waits for work has nothing to do with the batch: it gets no hotspot. */
static void blocked_part(struct ana_cause *b, const struct ana_thread_samples *s, size_t i,
			 enum ana_producer producer, int64_t ns)
{
	const struct wire_sample *w = &s->sample[i];
	enum ana_class c = ana_wait_class(w, producer);

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

bool ana_wait_producer(struct ana_cause *b, const struct ana_thread_samples *s,
		       enum ana_producer producer)
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

		if (!ana_sample_runs(&s->sample[i])) {
			blocked_part(b, s, i, producer, ns);
			continue;
		}
		ana_cause_add(b, ANA_INPUT_PREP, ns);
		ana_cause_vote(b, s, i, ANA_INPUT_PREP, true, ns);
	}
	return true;
}

static bool counts(const struct wire_sample *s, enum ana_blocked which)
{
	return !ana_sample_runs(s) && (which == ANA_BLOCKED_ANY || s->wait != WIRE_WAIT_QUEUE);
}

bool ana_wait_share_block(struct ana_cause *b, const struct ana_thread_part *p, int64_t ns,
			  enum ana_producer producer, enum ana_blocked which)
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
			blocked_part(b, s, i, producer,
				     ana_scale(ns, ana_shares_weight(s, &h, i), all));
	return true;
}

/* How much of the wait the trainer, or its pin thread, had the batch already. */
static int64_t handed(struct ana_cause *b, struct ana_evidence *e, uint32_t tid, int64_t *delay)
{
	const struct ana_thread_samples *s = ana_evidence_thread(e, e->pid, tid);
	int64_t waiting = 0, pinned = 0;
	struct ana_shares h, p;
	size_t i;
	uint32_t k;

	*delay = 0;
	if (!ana_shares_of(s, b->start, b->end, &h))
		return 0;
	for (i = h.first; i < h.end; i++)
		if (s->sample[i].wait == WIRE_WAIT_QUEUE || s->sample[i].wait == WIRE_WAIT_LOCK)
			waiting += ana_shares_part(s, &h, i);
	for (k = 0; k < e->threads; k++) {
		const struct ana_thread_samples *pin = e->thread[k];

		if (pin->role != WIRE_ROLE_PIN || !ana_shares_of(pin, b->start, b->end, &p))
			continue;
		for (i = p.first; i < p.end; i++)
			if (pin->sample[i].wait != WIRE_WAIT_QUEUE)
				pinned += ana_shares_weight(pin, &p, i);
		pinned = base_min(pinned, waiting);
	}
	*delay = h.delay;
	return b->end - b->start - waiting + pinned;
}

bool ana_wait_by_samples(struct ana_cause *b, struct ana_evidence *e, uint32_t tid)
{
	struct ana_cause part = { .start = b->start, .end = b->end };
	int64_t delay, after = handed(b, e, tid, &delay), all = 0, left = b->end - b->start - after;
	bool any = false;
	size_t i;
	uint32_t k;
	int c;

	for (k = 0; k < e->threads; k++)
		if (e->thread[k]->role == WIRE_ROLE_WORKER)
			any |= ana_wait_producer(&part, e->thread[k], ANA_PRODUCER_WORKER);
	for (c = 0; c < ANA_CLASSES; c++)
		ana_sum(&all, part.weight[c]);
	for (c = 0; c < ANA_CLASSES; c++)
		ana_cause_add(b, c, ana_scale(left, part.weight[c], all));
	b->idle = ana_scale(left, part.idle, all);
	if (!all)
		ana_cause_add(b, ANA_INPUT_UNKNOWN, left);
	for (i = 0; i < part.votes; i++)
		ana_cause_vote(b, part.vote[i].thread, part.vote[i].sample, part.vote[i].class,
			       true, ana_scale(left, part.vote[i].weight, all));
	b->err = part.err ? part.err : b->err;
	ana_cause_fini(&part);
	delay = base_min(delay, after);
	ana_cause_add(b, ANA_INPUT_CPU_STARVED, delay);
	ana_cause_add(b, ANA_INPUT_HANDOFF, after - delay);
	return any || after;
}
