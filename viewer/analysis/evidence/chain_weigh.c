/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ends against each other: who works, who only keeps, how sure all of it is.
 */
#include "chain_priv.h"

#include <string.h>
#include "maker.h"

/*
 * Batches: those who send work for half of their time, and none of them waits for requests itself.
 */
bool ana_chain_brings_batches(const struct ana_chain *c, uint32_t first)
{
	int64_t all = 0, work = 0;
	uint32_t i;

	for (i = first; i < c->ends; i++) {
		enum ana_class k = c->end[i].class;

		if (k == ANA_HOST_NO_WORK)
			return false;
		all += c->end[i].weight;
		if (k == ANA_INPUT_PREP || k == ANA_INPUT_CPU_STARVED || k == ANA_INPUT_FETCH)
			work += c->end[i].weight;
	}
	return work && 2 * (__int128)work >= all;
}

static bool counts_as_work(const struct ana_chain_end *end)
{
	enum ana_class k = end->class;

	return !end->rests && (k == ANA_INPUT_PREP || k == ANA_INPUT_CPU_STARVED ||
			       k == ANA_INPUT_FETCH || k == ANA_HOST_NO_WORK);
}

static bool sleeps(const struct ana_chain_end *end)
{
	return end->class == ANA_INPUT_FETCH &&
	       end->thread->sample[end->sample].wait == WIRE_WAIT_SLEEP;
}

/* @awake: beside what it sleeps. */
static bool is_at_work(const struct ana_chain *c, uint32_t first, uint32_t last, bool awake)
{
	int64_t all = 0, work = 0;
	uint32_t i;

	for (i = first; i < last; i++) {
		const struct ana_chain_end *end = &c->end[i];

		all += end->weight;
		if (counts_as_work(end) && !(awake && sleeps(end)))
			work += end->weight;
	}
	return all && ana_works(work, all);
}

bool ana_chain_is_at_work(const struct ana_chain *c, uint32_t first, uint32_t last)
{
	return is_at_work(c, first, last, false);
}

int64_t ana_chain_time_of(const struct ana_chain *c, uint32_t first)
{
	int64_t ns = 0;
	uint32_t i;

	for (i = first; i < c->ends; i++)
		ns += c->end[i].weight;
	return ns;
}

/* The ends from @last on in place of those from @first, if they show work; else they are none. */
bool ana_chain_take_place(struct ana_chain *c, uint32_t first, uint32_t last)
{
	uint32_t n = c->ends - last;

	if (!ana_chain_is_at_work(c, last, c->ends)) {
		c->ends = last;
		return false;
	}
	memmove(&c->end[first], &c->end[last], n * sizeof(*c->end));
	c->ends = first + n;
	return true;
}

static int64_t idle_of(const struct ana_chain *c, uint32_t first, uint32_t last)
{
	int64_t ns = 0;
	uint32_t i;

	for (i = first; i < last; i++)
		ns += c->end[i].idle ? c->end[i].weight : 0;
	return ns;
}

/*
 * A descriptor is a whole process's: of its threads one that sleeps, as those do that watch over
 * something, is not who answers beside one that works.
 */
static bool only_sleeps(const struct chain_search *f, const struct chain_givers *g,
			const uint32_t *first, uint32_t givers, uint32_t i)
{
	const uint32_t pid = g->giver[i].thread->pid;
	uint32_t k;

	if (pid == f->path.link[f->path.links - 1].thread->pid ||
	    is_at_work(f->c, first[i], first[i + 1], true))
		return false;
	for (k = 0; k < givers; k++)
		if (g->giver[k].thread->pid == pid &&
		    is_at_work(f->c, first[k], first[k + 1], true))
			return true;
	return false;
}

/*
 * Pools and queues have threads that merely pass things on: of several givers those that do nothing
 * all the time tell nothing beside one that works. One that is done has nothing to do with the
 * batch that another still makes, so that no giver is without work for longer than the one that is
 * so least. @first: the ends of each giver begin there.
 */
void ana_chain_leave_idle_out(struct chain_search *f, const struct chain_givers *g,
			      const uint32_t *first, uint32_t givers)
{
	struct ana_chain *c = f->c;
	int64_t idle[ANA_CHAIN_GIVERS], least = INT64_MAX;
	bool works[ANA_CHAIN_GIVERS], any = false;
	uint32_t i, k, n = first[0];

	for (i = 0; i < givers; i++) {
		works[i] = ana_chain_is_at_work(c, first[i], first[i + 1]) &&
			   !only_sleeps(f, g, first, givers, i);
		idle[i] = idle_of(c, first[i], first[i + 1]);
		any |= works[i];
		if (works[i] && idle[i] < least)
			least = idle[i];
	}
	for (i = 0; i < givers && any; i++)
		for (k = first[i]; works[i] && k < first[i + 1]; k++) {
			struct ana_chain_end end = c->end[k];

			if (end.idle)
				end.weight = ana_scale(end.weight, least, idle[i]);
			if (end.weight)
				c->end[n++] = end;
		}
	if (any)
		c->ends = n;
}

static enum ana_confidence path_confidence(const struct ana_chain_path *p)
{
	enum ana_confidence worst = ANA_HIGH;
	uint8_t i;

	for (i = 1; i < p->links; i++)
		if (p->link[i].confidence > worst)
			worst = (enum ana_confidence)p->link[i].confidence;
	return worst;
}

/*
 * Where the chain is lost for nine tenths of the time or more, nobody is known. Less counts for
 * nothing: the rest of the wait is told in proportion.
 */
static bool leave_lost_out(struct ana_chain *c)
{
	int64_t lost = 0, all = ana_chain_time_of(c, 0);
	uint32_t i, n = 0;

	for (i = 0; i < c->ends; i++)
		lost += c->end[i].lost ? c->end[i].weight : 0;
	if (10 * (__int128)lost >= 9 * (__int128)all)
		return false;
	for (i = 0; i < c->ends; i++)
		if (!c->end[i].lost)
			c->end[n++] = c->end[i];
	c->ends = n;
	return true;
}

/* How sure the path with most weight is; of several the first. */
static enum ana_confidence confidence_of(const struct ana_chain *c)
{
	int64_t most = 0, ns = 0;
	uint32_t i, k, best = 0;

	for (k = 0; k < c->paths; k++, ns = 0) {
		for (i = 0; i < c->ends; i++)
			ns += c->end[i].path == k ? c->end[i].weight : 0;
		if (ns > most) {
			most = ns;
			best = k;
		}
	}
	return c->paths ? path_confidence(&c->path[best]) : ANA_HIGH;
}

void ana_chain_sum_up(struct ana_chain *c)
{
	bool known = leave_lost_out(c);
	int64_t requests = 0, unnamed = 0;
	uint32_t i;

	c->called = false;
	for (i = 0; i < c->ends && !known; i++)
		c->called |= c->end[i].called;
	c->total = ana_chain_time_of(c, 0);
	c->confidence = confidence_of(c);
	for (i = 0; i < c->ends; i++) {
		requests += c->end[i].class == ANA_HOST_NO_WORK ? c->end[i].weight : 0;
		unnamed += c->end[i].unnamed ? c->end[i].weight : 0;
	}
	if (known)
		c->found = 2 * requests >= c->total ? ANA_CHAIN_REQUESTS : ANA_CHAIN_MAKERS;
	c->unnamed =
		c->found == ANA_CHAIN_REQUESTS && 10 * (__int128)unnamed >= 9 * (__int128)c->total;
}
