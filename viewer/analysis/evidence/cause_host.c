/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A piece outside of loader waits and API calls: what the submitter did, by its own samples. What
 * proves nothing stays unknown; a user's own functions are no evidence by their names.
 */
#include "cause.h"

/* What a stack's code alone tells; @other: it tells nothing. */
static enum ana_class class_of_code(const struct ana_pystack *k, enum ana_class other)
{
	switch (k->code) {
	case ANA_CODE_DATA:
		return ANA_INPUT_INLINE;
	case ANA_CODE_CHECKPOINT:
		return ANA_HOST_CHECKPOINT;
	case ANA_CODE_LOAD:
		return ANA_HOST_WARMUP;
	case ANA_CODE_EPOCH:
		return ANA_INPUT_EPOCH;
	default:
		return other;
	}
}

static enum ana_class class_of_run(const struct wire_sample *s, const struct ana_pystack *k)
{
	if (s->flags & WIRE_SAMPLE_FL_GC && s->flags & WIRE_SAMPLE_FL_GIL)
		return ANA_HOST_GC;
	if (k->code == ANA_CODE_NEXT || k->code == ANA_CODE_HANDOFF)
		return ANA_INPUT_HANDOFF;
	return class_of_code(k, ANA_HOST_DISPATCH);
}

/* Reading a file: by whose frames, or because the innermost is the user's own. */
static enum ana_class class_of_read(const struct ana_pystack *k)
{
	return class_of_code(k, k->user_leaf ? ANA_INPUT_INLINE : ANA_HOST_UNKNOWN);
}

/* Whether another thread of the process, not waiting for a lock itself, handles data meanwhile. */
static bool somebody_loads(const struct ana_cause *b, struct ana_evidence *e, uint32_t tid)
{
	struct ana_shares h;
	uint32_t k;
	size_t i;

	for (k = 0; k < e->threads; k++) {
		const struct ana_thread_samples *s = e->thread[k];

		if (s->tid == tid || s->pid != e->pid || !ana_shares_of(s, b->start, b->end, &h))
			continue;
		for (i = h.first; i < h.end; i++) {
			const struct wire_sample *w = &s->sample[i];
			const struct ana_pystack *f = ana_pystacks_get(&e->stacks, w->stack);

			if (w->wait == WIRE_WAIT_LOCK || w->wait == WIRE_WAIT_LOCK_SHARED ||
			    w->wait == WIRE_WAIT_GIL)
				continue;
			if (w->role == WIRE_ROLE_PIN || f->code == ANA_CODE_DATA ||
			    f->code == ANA_CODE_HANDOFF || f->code == ANA_CODE_NEXT)
				return true;
		}
	}
	return false;
}

static enum ana_class class_of_lock(const struct ana_pystack *k, bool loading)
{
	if (k->code == ANA_CODE_EPOCH)
		return ANA_INPUT_EPOCH;
	if (k->code == ANA_CODE_NEXT || k->code == ANA_CODE_HANDOFF || k->code == ANA_CODE_DATA)
		return ANA_INPUT_HANDOFF;
	return loading ? ANA_INPUT_HANDOFF : ANA_HOST_LOCK;
}

static enum ana_class class_of_block(const struct wire_sample *s, const struct ana_pystack *k,
				     bool loading)
{
	/* Importing and compiling wait for files, for locks, and for compilers of their own. */
	if (k->code == ANA_CODE_LOAD && s->wait != WIRE_WAIT_GIL && s->wait != WIRE_WAIT_QUEUE)
		return ANA_HOST_WARMUP;
	switch (s->wait) {
	case WIRE_WAIT_GIL:
		return s->flags & WIRE_SAMPLE_FL_GC ? ANA_HOST_GC : ANA_HOST_LOCK;
	case WIRE_WAIT_LOCK:
	case WIRE_WAIT_LOCK_SHARED:
		return class_of_lock(k, loading);
	case WIRE_WAIT_READ:
	case WIRE_WAIT_FAULT:
		return class_of_read(k);
	case WIRE_WAIT_WRITE:
		return ANA_HOST_CHECKPOINT;
	case WIRE_WAIT_SOCKET:
		return k->code == ANA_CODE_DATA ? ANA_INPUT_INLINE : ANA_HOST_NET;
	case WIRE_WAIT_QUEUE:
		return ANA_INPUT_UNKNOWN;
	default:
		break;
	}
	if (k->code == ANA_CODE_EPOCH)
		return ANA_INPUT_EPOCH;
	return k->code == ANA_CODE_DATA ? ANA_INPUT_INLINE : ANA_HOST_UNKNOWN;
}

/* The samples in which the thread waits in the loader's next(), by what they stand for. */
static int64_t waiting(struct ana_evidence *e, const struct ana_thread_samples *s,
		       const struct ana_shares *h)
{
	int64_t ns = 0;
	size_t i;

	for (i = h->first; i < h->end; i++)
		if (s->sample[i].wait == WIRE_WAIT_QUEUE ||
		    ana_pystacks_get(&e->stacks, s->sample[i].stack)->waits)
			ns += ana_shares_weight(s, h, i);
	return ns;
}

static void add_sample(struct ana_cause *b, struct ana_evidence *e,
		       const struct ana_thread_samples *s, const struct ana_shares *h, size_t i,
		       bool loading)
{
	const struct wire_sample *w = &s->sample[i];
	const struct ana_pystack *k = ana_pystacks_get(&e->stacks, w->stack);
	int64_t ns = ana_shares_part(s, h, i), ran;
	enum ana_class c = ana_sample_runs(w) ? class_of_run(w, k) : class_of_block(w, k, loading);

	ana_cause_add(b, c, ns);
	ana_cause_vote(b, s, i, c, true, ns);
	if (h->running || !h->run) /* it ran between samples, in code that they show blocked */
		return;
	ran = ana_scale(h->run, ana_shares_weight(s, h, i), h->waiting);
	ana_cause_add(b, class_of_run(w, k), ran);
	ana_cause_vote(b, s, i, class_of_run(w, k), false, ran);
}

bool ana_cause_host(struct ana_cause *b, struct ana_evidence *e, uint32_t tid)
{
	const struct ana_thread_samples *s = ana_evidence_thread(e, e->pid, tid);
	struct ana_shares h;
	bool loading;
	size_t i;

	if (!ana_shares_of(s, b->start, b->end, &h))
		return false;
	if (2 * (__int128)waiting(e, s, &h) >= b->end - b->start) {
		ana_cause_begin(b, b->start, b->end, ANA_INPUT_UNKNOWN, ANA_MEDIUM, true);
		if (ana_cause_wait(b, e, tid))
			return true;
		ana_cause_all(b, ANA_INPUT_UNKNOWN, ANA_MEDIUM);
		return true;
	}
	loading = somebody_loads(b, e, tid);
	ana_cause_add(b, ANA_HOST_CPU_STARVED, h.delay);
	for (i = h.first; i < h.end; i++)
		add_sample(b, e, s, &h, i, loading);
	/* what is not known keeps the class it had */
	if (b->unknown != ANA_HOST_UNKNOWN) {
		ana_cause_add(b, b->unknown, b->weight[ANA_HOST_UNKNOWN]);
		b->weight[ANA_HOST_UNKNOWN] = 0;
	}
	ana_cause_decide(b);
	return true;
}

bool ana_cause_votes(struct ana_cause *b, struct ana_evidence *e, uint32_t tid, enum ana_class c)
{
	const struct ana_thread_samples *s = ana_evidence_thread(e, e->pid, tid);
	struct ana_shares h;
	size_t i;

	if (!ana_shares_of(s, b->start, b->end, &h))
		return false;
	for (i = h.first; i < h.end; i++)
		ana_cause_vote(b, s, i, c, true, ana_shares_weight(s, &h, i));
	return true;
}
