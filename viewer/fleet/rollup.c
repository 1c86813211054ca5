/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table with open addressing over groups that lie in one array. */
#include "rollup.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/log.h"
#include "wire/keyed_hash.h"

void fleet_sums_add(struct fleet_sums *to, const struct fleet_sums *from)
{
	for (int i = 0; i < FLEET_MEASURES; i++)
		to->m[i] += from->m[i];
}

/* Of the keys and their ends. */
static uint64_t hash(int keys, const char *const *key)
{
	const struct wire_secret secret = wire_secret();
	uint64_t h = secret.start;

	for (int i = 0; i < keys; i++)
		h = wire_keyed_mix(h, wire_keyed_hash(key[i], strlen(key[i]), &secret), &secret);
	return h;
}

static bool same(const struct fleet_group *g, int keys, const char *const *key)
{
	for (int i = 0; i < keys; i++)
		if (strcmp(g->key[i], key[i]) != 0)
			return false;
	return true;
}

/* As an arena does it: without memory there is nothing to show. */
static void *grown(void *old, size_t count, size_t bytes)
{
	void *p = reallocarray(old, count, bytes);

	if (!p) {
		view_error("out of memory");
		_exit(1);
	}
	return p;
}

void *fleet_widened(void *old, size_t n, size_t *room, size_t bytes)
{
	if (n < *room)
		return old;
	*room = *room ? *room * 2 : 256;
	return grown(old, *room, bytes);
}

static void place(struct fleet_table *t, uint32_t index)
{
	size_t at = hash(t->keys, t->group[index].key) & (t->slots - 1);

	while (t->slot[at])
		at = (at + 1) & (t->slots - 1);
	t->slot[at] = index + 1;
}

static void widen(struct fleet_table *t)
{
	t->slots = t->slots ? t->slots * 2 : 64;
	t->slot = grown(t->slot, t->slots, sizeof(*t->slot));
	memset(t->slot, 0, t->slots * sizeof(*t->slot));
	for (size_t i = 0; i < t->groups; i++)
		place(t, (uint32_t)i);
}

static struct fleet_group *add(struct fleet_table *t, int keys, const char *const *key)
{
	if (t->groups == t->room) {
		t->room = t->room ? t->room * 2 : 32;
		t->group = grown(t->group, t->room, sizeof(*t->group));
	}
	struct fleet_group *g = &t->group[t->groups++];
	*g = (struct fleet_group){ 0 };
	for (int i = 0; i < keys; i++)
		g->key[i] = base_arena_text(&t->mem, key[i]);
	if (t->groups * 2 > t->slots)
		widen(t);
	else
		place(t, (uint32_t)(t->groups - 1));
	return g;
}

struct fleet_group *fleet_table_find(const struct fleet_table *t, int keys, const char *const *key)
{
	size_t at;

	if (!t->slots)
		return NULL;
	at = hash(keys, key) & (t->slots - 1);
	for (; t->slot[at]; at = (at + 1) & (t->slots - 1))
		if (same(&t->group[t->slot[at] - 1], keys, key))
			return &t->group[t->slot[at] - 1];
	return NULL;
}

struct fleet_group *fleet_table_at(struct fleet_table *t, int keys, const char *const *key)
{
	struct fleet_group *g = fleet_table_find(t, keys, key);

	t->keys = keys;
	return g ? g : add(t, keys, key);
}

static int by_name(const void *a, const void *b)
{
	const struct fleet_group *x = a, *y = b;

	for (int i = 0; i < FLEET_KEYS_MAX && x->key[i] && y->key[i]; i++) {
		int order = strcmp(x->key[i], y->key[i]);
		if (order)
			return order;
	}
	return 0;
}

static int by_cost(const void *a, const void *b)
{
	static const enum fleet_measure order[] = { FLEET_USD, FLEET_HELD_NS };
	const struct fleet_group *x = a, *y = b;

	for (int i = 0; i < 2; i++) {
		base_wide p = x->sums.m[order[i]], q = y->sums.m[order[i]];
		if (p != q)
			return p > q ? -1 : 1;
	}
	return by_name(a, b);
}

/* Sorted groups are no more found by their keys. */
static void sort(struct fleet_table *t, int (*order)(const void *, const void *))
{
	if (t->groups)
		qsort(t->group, t->groups, sizeof(*t->group), order);
	free(t->slot);
	t->slot = NULL;
	t->slots = 0;
}

void fleet_table_sort(struct fleet_table *t)
{
	sort(t, by_cost);
}

void fleet_table_sort_names(struct fleet_table *t)
{
	sort(t, by_name);
}

/* Minutes are shown as ns. */
static base_wide most_of(int measure)
{
	bool minutes = measure >= FLEET_MINUTES_IDLE && measure < FLEET_MINUTES_IDLE + FLEET_BANDS;

	return minutes ? BASE_WIDE_MAX / 60000000000LL / FLEET_BANDS : BASE_WIDE_MAX;
}

bool fleet_sums_fit(const struct fleet_sums *s)
{
	for (int i = 0; i < FLEET_MEASURES; i++)
		if (s->m[i] > most_of(i))
			return false;
	return true;
}

bool fleet_table_fits(const struct fleet_table *t)
{
	for (size_t i = 0; i < t->groups; i++)
		if (!fleet_sums_fit(&t->group[i].sums))
			return false;
	return true;
}

void fleet_table_fini(struct fleet_table *t)
{
	base_arena_fini(&t->mem);
	free(t->group);
	free(t->slot);
	*t = (struct fleet_table){ 0 };
}
