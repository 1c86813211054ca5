/* SPDX-License-Identifier: Apache-2.0 */
#include "pace.h"

#include <errno.h>
#include <stdlib.h>
#include "base/vec.h"

#define LOOKS_MAX 8000000u
#define LEAST 8.0 /* times that two must have been compared */

int ana_pace_init(struct ana_pace *p, uint32_t groups)
{
	*p = (struct ana_pace){ 0 };
	p->first = calloc(groups + 1u, sizeof(*p->first));
	p->last = calloc(groups + 1u, sizeof(*p->last));
	return p->first && p->last ? 0 : -ENOMEM;
}

void ana_pace_fini(struct ana_pace *p)
{
	free(p->link);
	free(p->first);
	free(p->last);
	ana_map_fini(&p->of);
	*p = (struct ana_pace){ 0 };
}

static uint64_t key_of(uint32_t a, uint32_t b)
{
	return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

int ana_pace_ask(struct ana_pace *p, uint32_t a, uint32_t b)
{
	uint64_t key = key_of(a, b);
	struct ana_pace_link *l;

	if (ana_map_get(&p->of, key) != ANA_MAP_NONE)
		return 0;
	if (!base_vec_more(p->link, p->links, p->room) || ana_map_put(&p->of, key, p->links))
		return -ENOMEM;
	l = &p->link[p->links++];
	*l = (struct ana_pace_link){ .a = (uint32_t)(key >> 32), .b = (uint32_t)key };
	l->next_a = p->first[l->a];
	l->next_b = p->first[l->b];
	p->first[l->a] = p->first[l->b] = p->links;
	return 0;
}

/* Each meeting is compared once with one of the other's. */
static void compare(struct ana_pace *p, struct ana_pace_link *l, int64_t near_ns)
{
	const struct ana_pace_meeting *a = &p->last[l->a], *b = &p->last[l->b];
	int64_t left = a->left - b->left;

	p->looks++;
	if (l->used_a >= a->number || l->used_b >= b->number || left > near_ns || left < -near_ns)
		return;
	l->used_a = a->number;
	l->used_b = b->number;
	ana_follow_add(&l->line, a->came - b->came, left);
}

void ana_pace_met(struct ana_pace *p, uint32_t group, int64_t came, int64_t left, int64_t near_ns)
{
	uint32_t next;

	p->last[group] = (struct ana_pace_meeting){ ++p->meetings, came, left };
	for (next = p->first[group]; next && p->looks < LOOKS_MAX;) {
		struct ana_pace_link *l = &p->link[next - 1];

		compare(p, l, near_ns);
		next = l->a == group ? l->next_a : l->next_b;
	}
}

bool ana_pace_only(const struct ana_pace *p, uint32_t a, uint32_t b)
{
	uint32_t i = ana_map_get(&p->of, key_of(a, b));

	return i != ANA_MAP_NONE && p->link[i].line.n >= LEAST &&
	       ana_follow_is_apart(&p->link[i].line);
}
