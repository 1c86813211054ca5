/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes in a ring, numbered as they were made, each with the one before it on its path. Of two
 * paths the node with the greater number cannot be on the other one before that has passed it: so
 * going back on the one that is ahead finds where they meet.
 */
#include "path.h"

#include <stdbool.h>
#include <stdlib.h>

#define NODES (1u << 16) /* that are kept */
#define LOOKED_AT 512u /* of two paths */

struct node {
	uint64_t before; /* 0: none */
	int64_t ns;
	uint32_t culprit;
	int c;
};

struct place { /* of a GPU */
	uint64_t node;
	int64_t cum[ANA_CLASSES];
};

struct ana_paths {
	struct node *node; /* number n at n % NODES */
	uint64_t last; /* number; the first is 1 */
	int64_t least_ns;
	struct place *at;
};

struct ana_paths *ana_paths_new(size_t gpus, int64_t least_ns)
{
	struct ana_paths *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->least_ns = least_ns;
	p->node = calloc(NODES, sizeof(*p->node));
	p->at = calloc(gpus + 1, sizeof(*p->at));
	if (p->node && p->at)
		return p;
	ana_paths_free(p);
	return NULL;
}

void ana_paths_free(struct ana_paths *p)
{
	if (!p)
		return;
	free(p->node);
	free(p->at);
	free(p);
}

static void add(struct ana_paths *p, uint32_t gpu, uint32_t culprit, int c, int64_t ns)
{
	uint64_t number = ++p->last;

	p->node[number % NODES] =
		(struct node){ .before = p->at[gpu].node, .ns = ns, .culprit = culprit, .c = c };
	p->at[gpu].node = number;
}

void ana_paths_arrive(struct ana_paths *p, uint32_t gpu, const int64_t cum[ANA_CLASSES])
{
	struct place *at = &p->at[gpu];
	int c;

	for (c = 0; c < ANA_CLASSES; c++) {
		int64_t ns = cum[c] - at->cum[c];

		if (ns < 0) /* it began before something that it left before */
			continue;
		at->cum[c] = cum[c];
		if (c != ANA_COMPUTE && c != ANA_COMM && ns && ns >= p->least_ns)
			add(p, gpu, gpu, c, ns);
	}
}

void ana_paths_follow(struct ana_paths *p, uint32_t gpu, uint32_t late)
{
	p->at[gpu].node = p->at[late].node;
}

static bool is_kept(const struct ana_paths *p, uint64_t number)
{
	return number && number + NODES > p->last;
}

static void sum_up(struct ana_skew_shares *s, const struct node *n)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		if (s->at[i].culprit == n->culprit && s->at[i].c == n->c)
			break;
	if (i == s->count)
		s->at[s->count++] = (struct ana_skew_share){ .culprit = n->culprit, .c = n->c };
	s->at[i].weight += n->ns;
}

/* Each node of the one path and not of the other, back to where both are one. */
static void part(const struct ana_paths *p, uint64_t a, uint64_t b, struct ana_skew_shares *s,
		 int64_t theirs[ANA_CLASSES])
{
	uint32_t looked = 0;

	while (a != b && (is_kept(p, a) || is_kept(p, b)) && looked++ < LOOKED_AT &&
	       s->count < ANA_SKEW_OTHERS) {
		const struct node *n = &p->node[(a > b ? a : b) % NODES];

		if (a > b) {
			sum_up(s, n);
			a = n->before;
		} else {
			theirs[n->c] += n->ns;
			b = n->before;
		}
	}
}

static int by_culprit(const void *a, const void *b)
{
	const struct ana_skew_share *x = a, *y = b;

	if (x->culprit != y->culprit)
		return x->culprit < y->culprit ? -1 : 1;
	return x->c - y->c;
}

void ana_paths_compare(const struct ana_paths *p, uint32_t late, uint32_t waiting,
		       struct ana_skew_shares *s)
{
	int64_t theirs[ANA_CLASSES] = { 0 }, own[ANA_CLASSES] = { 0 };
	size_t count, i;

	s->count = 0;
	s->total = 0;
	part(p, p->at[late].node, p->at[waiting].node, s, theirs);
	qsort(s->at, s->count, sizeof(s->at[0]), by_culprit);
	for (i = 0; i < s->count; i++)
		own[s->at[i].c] += s->at[i].weight;
	count = s->count;
	for (i = s->count = 0; i < count; i++) {
		struct ana_skew_share share = s->at[i];
		int64_t more = own[share.c] - theirs[share.c];

		if (more <= 0 || share.culprit == waiting)
			continue;
		share.weight = (int64_t)((__int128)share.weight * more / own[share.c]);
		s->total += share.weight;
		if (share.weight)
			s->at[s->count++] = share;
	}
}

void ana_paths_follow_pair(struct ana_paths *p, uint32_t gpu, uint32_t late, int64_t ns)
{
	struct ana_skew_shares s;
	size_t i;

	ana_paths_compare(p, late, gpu, &s);
	if (s.total <= ns + p->least_ns) {
		ana_paths_follow(p, gpu, late);
		return;
	}
	for (i = 0; i < s.count; i++)
		add(p, gpu, s.at[i].culprit, s.at[i].c,
		    (int64_t)((__int128)s.at[i].weight * ns / s.total));
}
