/* SPDX-License-Identifier: Apache-2.0 */
#include "hotspot_cpu.h"

#define GROUPS 16u /* beyond these nobody is told: so many share the CPUs */

struct group { /* threads of one name, which do the same */
	struct ana_text name;
	bool own; /* of the process itself */
	int64_t run; /* of all */
	int64_t most; /* of the one that ran longest */
	const struct ana_thread_samples *thread;
	size_t sample;
};

static size_t one_that_runs(const struct ana_thread_samples *s, const struct ana_shares *h)
{
	size_t i;

	for (i = h->end; i > h->first; i--)
		if (ana_sample_runs(&s->sample[i - 1]))
			return i - 1;
	return h->end - 1;
}

/* One without a name is like no other. NULL: there is no room. */
static struct group *group_of(struct group *g, uint32_t *groups, struct ana_text name, bool own)
{
	uint32_t i;

	for (i = 0; name.len && i < *groups; i++)
		if (g[i].own == own && ana_text_same(g[i].name, name))
			return &g[i];
	if (*groups == GROUPS)
		return NULL;
	g[*groups] = (struct group){ .name = name, .own = own };
	return &g[(*groups)++];
}

static void add(struct group *g, const struct ana_thread_samples *s, const struct ana_shares *h,
		size_t sample)
{
	g->run += h->run;
	if (h->run <= g->most)
		return;
	g->most = h->run;
	g->thread = s;
	g->sample = sample;
}

const struct ana_thread_samples *ana_hotspot_cpu_of(struct ana_evidence *e,
						    const struct ana_thread_samples *starved,
						    int64_t a, int64_t b, size_t *sample)
{
	const struct ana_among among = ana_evidence_among(e, a, b);
	struct group g[GROUPS], *best = NULL, *one;
	uint32_t groups = 0, i;
	struct ana_shares h;

	for (i = 0; i < among.threads; i++) {
		const struct ana_thread_samples *s = among.thread[i];
		size_t at;

		if (s == starved || !ana_shares_of(s, a, b, &h) || !h.run)
			continue;
		at = one_that_runs(s, &h);
		one = group_of(g, &groups, ana_pystacks_get(&e->stacks, s->sample[at].stack)->outer,
			       s->pid == e->pid);
		if (!one)
			return NULL;
		add(one, s, &h, at);
	}
	for (i = 0; i < groups; i++)
		if (3 * (__int128)g[i].run >= b - a && (!best || g[i].run > best->run))
			best = &g[i];
	if (best)
		*sample = best->sample;
	return best ? best->thread : NULL;
}
