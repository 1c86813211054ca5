/* SPDX-License-Identifier: Apache-2.0 */
#include "twos.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool compares_each(const struct ana_twos *t)
{
	return t->count <= ANA_TWOS_MAX;
}

/* Of @i and @j, a later one. */
static struct ana_follow *line_of(const struct ana_twos *t, uint32_t i, uint32_t j)
{
	return &t->line[compares_each(t) ? (size_t)j * (j - 1) / 2 + i : j];
}

int ana_twos_init(struct ana_twos *t, uint32_t count)
{
	size_t lines = count <= ANA_TWOS_MAX ? (size_t)count * count / 2 : count;

	*t = (struct ana_twos){ .count = count, .parts = 1 };
	t->line = calloc(lines + 1, sizeof(*t->line));
	t->came = calloc(count + 1u, sizeof(*t->came));
	t->left = calloc(count + 1u, sizeof(*t->left));
	t->part = calloc(count + 1u, sizeof(*t->part));
	return t->line && t->came && t->left && t->part ? 0 : -ENOMEM;
}

void ana_twos_fini(struct ana_twos *t)
{
	free(t->line);
	free(t->came);
	free(t->left);
	free(t->part);
	*t = (struct ana_twos){ 0 };
}

void ana_twos_met(struct ana_twos *t)
{
	uint32_t i, j;

	for (j = 1; j < t->count; j++)
		for (i = compares_each(t) ? 0 : j - 1; i < j; i++)
			ana_follow_add(line_of(t, i, j), t->came[j] - t->came[i],
				       t->left[j] - t->left[i]);
}

bool ana_twos_meet(const struct ana_twos *t, uint32_t part)
{
	struct ana_follow all = { 0 };
	uint32_t i, before = UINT32_MAX;

	for (i = 0; i < t->count; i++) {
		if (t->part[i] != part)
			continue;
		if (before != UINT32_MAX && ana_follow_is(line_of(t, before, i)))
			return false;
		if (before != UINT32_MAX)
			ana_follow_join(&all, line_of(t, before, i));
		before = i;
	}
	return ana_follow_is_none(&all);
}

/* The part of the first of which @j does not follow the first; else a new one. */
static uint32_t find_part(const struct ana_twos *t, uint32_t j, const uint32_t *first,
			  uint32_t parts)
{
	uint32_t k = 0;

	while (k < parts && ana_follow_is(line_of(t, first[k], j)))
		k++;
	return k;
}

static bool is_consistent(const struct ana_twos *t, const uint32_t *part)
{
	uint32_t i, j;

	for (j = 1; j < t->count; j++)
		for (i = 0; i < j; i++)
			if (ana_follow_is(line_of(t, i, j)) != (part[i] != part[j]))
				return false;
	return true;
}

bool ana_twos_split(struct ana_twos *t)
{
	uint32_t part[ANA_TWOS_MAX], first[ANA_TWOS_MAX], parts = 0, j;

	if (!compares_each(t))
		return false;
	for (j = 0; j < t->count; j++) {
		part[j] = find_part(t, j, first, parts);
		if (part[j] == parts)
			first[parts++] = j;
	}
	if (parts < 2 || !is_consistent(t, part))
		return false;
	memcpy(t->part, part, t->count * sizeof(*part));
	t->parts = parts;
	return true;
}
