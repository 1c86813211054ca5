/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A piece outside of loader waits and API calls: what the submitter did, by its own samples. What
 * proves nothing stays unknown; a user's own functions are no evidence by their names.
 */
#include "cause.h"
#include "no_work.h"

/*
 * A framework's operators come to their next launch within this, and their frames are C code that no
 * stack of Python shows; who runs longer without any call of the driver works on the CPU.
 */
#define CPU_WORK_NS INT64_C(5000000)

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

/* LEDGER 6, work on the CPU. In an operator of the framework it is the framework's. */
static bool is_cpu_work(const struct ana_cause *b, const struct ana_pystack *k)
{
	if (k->code == ANA_CODE_CPU)
		return true;
	return k->own && b->unknown != ANA_HOST_DISPATCH && b->end - b->start >= CPU_WORK_NS;
}

static enum ana_class class_of_run(const struct ana_cause *b, const struct wire_sample *s,
				   const struct ana_pystack *k)
{
	if (s->flags & WIRE_SAMPLE_FL_GC && s->flags & WIRE_SAMPLE_FL_GIL)
		return ANA_HOST_GC;
	if (k->no_work)
		return ANA_HOST_NO_WORK;
	if (k->code == ANA_CODE_NEXT || k->code == ANA_CODE_HANDOFF)
		return ANA_INPUT_HANDOFF;
	return class_of_code(k, is_cpu_work(b, k) ? ANA_HOST_CPU_WORK : ANA_HOST_DISPATCH);
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

static struct ana_text text_of(const struct ana_evidence *e, uint32_t id)
{
	size_t len = 0;
	const char *at = id && id <= wire_strtab_count(e->stacks.table)
				 ? wire_strtab_get(e->stacks.table, id, &len)
				 : NULL;

	return (struct ana_text){ at, (uint32_t)len };
}

/* It waits for requests or for a person (LEDGER 6). */
static bool without_work(const struct ana_evidence *e, const struct wire_sample *s,
			 const struct ana_pystack *k)
{
	return ana_no_work_of(s, k->no_work, text_of(e, s->target), text_of(e, s->links)) !=
	       ANA_NO_WORK_NOT;
}

/* The samples in which the thread waits in the loader's next(), by what they stand for. */
static int64_t waiting(struct ana_evidence *e, const struct ana_thread_samples *s,
		       const struct ana_shares *h)
{
	int64_t ns = 0;
	size_t i;

	for (i = h->first; i < h->end; i++) {
		const struct wire_sample *w = &s->sample[i];
		const struct ana_pystack *k = ana_pystacks_get(&e->stacks, w->stack);

		if (k->waits || (w->wait == WIRE_WAIT_QUEUE && !without_work(e, w, k)))
			ns += ana_shares_weight(s, h, i);
	}
	return ns;
}

static void add_sample(struct ana_cause *b, struct ana_evidence *e,
		       const struct ana_thread_samples *s, const struct ana_shares *h, size_t i,
		       bool loading)
{
	const struct wire_sample *w = &s->sample[i];
	const struct ana_pystack *k = ana_pystacks_get(&e->stacks, w->stack);
	int64_t ns = ana_shares_part(s, h, i), ran;
	enum ana_class run = class_of_run(b, w, k), c = run;

	if (!ana_sample_runs(w))
		c = without_work(e, w, k) ? ANA_HOST_NO_WORK : class_of_block(w, k, loading);
	ana_cause_add(b, c, ns);
	ana_cause_vote(b, s, i, c, true, ns);
	if (h->running || !h->run) /* it ran between samples, in code that they show blocked */
		return;
	ran = ana_scale(h->run, ana_shares_weight(s, h, i), h->waiting);
	ana_cause_add(b, run, ran);
	ana_cause_vote(b, s, i, run, false, ran);
}

/* No batch was made for a GPU to which nothing was given any more. */
static void forget_input(struct ana_cause *b)
{
	static const enum ana_class inside[] = { ANA_INPUT_INLINE, ANA_INPUT_EPOCH,
						 ANA_INPUT_HANDOFF };
	size_t i;

	for (i = 0; i < sizeof(inside) / sizeof(inside[0]); i++) {
		ana_cause_add(b, ANA_HOST_UNKNOWN, b->weight[inside[i]]);
		b->weight[inside[i]] = 0;
	}
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
	if (b->unknown == ANA_EXCLUDED_TEARDOWN)
		forget_input(b);
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
