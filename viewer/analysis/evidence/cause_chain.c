/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time of threads that wait, given to the ends of the chains behind them.
 */
#include "cause.h"

#include <errno.h>
#include "base/vec.h"

void ana_cause_owe(struct ana_cause *b, const struct ana_thread_samples *s, size_t i, int64_t ns)
{
	const int64_t asleep = s->sample[i].wait == WIRE_WAIT_SLEEP ? ns : 0;
	size_t k;

	for (k = 0; k < b->owes; k++) {
		struct ana_owed *o = &b->owed[k];

		if (o->thread == s && s->sample[o->sample].links == s->sample[i].links) {
			ana_sum(&o->ns, ns);
			ana_sum(&o->asleep, asleep);
			return;
		}
	}
	if (!base_vec_more(b->owed, b->owes, b->owed_room)) {
		b->err = -ENOMEM;
		return;
	}
	b->owed[b->owes++] = (struct ana_owed){ s, i, ns, asleep };
}

bool ana_cause_owe_delay(struct ana_cause *b, int64_t delay)
{
	int64_t asleep = 0;
	size_t k;

	for (k = 0; k < b->owes; k++)
		ana_sum(&asleep, b->owed[k].asleep);
	if (!asleep || 2 * (__int128)asleep < b->end - b->start - delay)
		return false;
	for (k = 0; k < b->owes; k++)
		ana_sum(&b->owed[k].ns, ana_scale(delay, b->owed[k].asleep, asleep));
	return true;
}

/* 0: no memory. */
static uint32_t add_path(struct ana_cause *b, const struct ana_chain_path *path)
{
	if (!base_vec_more(b->path, b->paths, b->path_room)) {
		b->err = -ENOMEM;
		return 0;
	}
	b->path[b->paths++] = *path;
	return b->paths;
}

static void pay_end(struct ana_cause *b, const struct ana_chain_end *end, uint32_t path, int64_t ns)
{
	ana_cause_add(b, end->class, ns);
	if (end->idle) { /* it waits for work: its line has nothing to do with the batch */
		b->idle += ns;
		return;
	}
	ana_cause_vote(b, end->thread, end->sample, end->class, true, ns);
	if (b->votes)
		b->vote[b->votes - 1].path = path;
}

static void pay(struct ana_cause *b, struct ana_evidence *e, const struct ana_owed *o)
{
	struct ana_chain *c = &b->chain;
	uint32_t first = b->paths, i;

	ana_chain_follow(c, e, o->thread, o->sample, b->start, b->end);
	for (i = 0; i < c->paths; i++)
		add_path(b, &c->path[i]);
	for (i = 0; i < c->ends && !b->err && !c->err; i++) {
		int64_t ns = ana_scale(o->ns, c->end[i].weight, c->total);

		pay_end(b, &c->end[i], first + c->end[i].path + 1, ns);
		if (c->end[i].rests && o->thread->sample[o->sample].stack == b->place)
			b->alone += ns;
	}
	if (!b->chained || c->confidence > b->chain_confidence)
		b->chain_confidence = c->confidence;
	b->chained = true;
	b->err = b->err ? b->err : c->err;
}

bool ana_cause_name(struct ana_cause *b, struct ana_evidence *e, const struct ana_thread_samples *s,
		    size_t at, enum ana_class class, int64_t ns)
{
	struct ana_chain *c = &b->chain;
	uint32_t first = b->paths, i;
	bool any = false;

	ana_chain_follow(c, e, s, at, b->start, b->end);
	for (i = 0; i < c->paths; i++)
		add_path(b, &c->path[i]);
	for (i = 0; i < c->ends && !b->err && !c->err; i++) {
		const struct ana_chain_end *end = &c->end[i];

		if (end->idle)
			continue;
		ana_cause_vote(b, end->thread, end->sample, class, true,
			       ana_scale(ns, end->weight, c->total));
		if (b->votes)
			b->vote[b->votes - 1].path = first + end->path + 1;
		any = true;
	}
	b->err = b->err ? b->err : c->err;
	return any;
}

void ana_cause_pay(struct ana_cause *b, struct ana_evidence *e)
{
	size_t i;

	for (i = 0; i < b->owes; i++)
		pay(b, e, &b->owed[i]);
	b->owes = 0;
}

void ana_cause_copy(struct ana_cause *b, const struct ana_cause *from, const struct ana_vote *v,
		    int64_t weight)
{
	ana_cause_vote(b, v->thread, v->sample, v->class, v->producer, weight);
	if (v->path && !b->err)
		b->vote[b->votes - 1].path = add_path(b, &from->path[v->path - 1]);
}
