/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open addressing, at most half full.
 */
#include "map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "archive.h"

static uint32_t place(const struct ana_map *m, uint64_t key)
{
	uint32_t i;

	for (i = (uint32_t)wire_keyed_number(key, &m->secret) & m->mask;
	     m->value[i] != ANA_MAP_NONE && m->key[i] != key;)
		i = (i + 1) & m->mask;
	return i;
}

uint32_t ana_map_get(const struct ana_map *m, uint64_t key)
{
	return m->value ? m->value[place(m, key)] : ANA_MAP_NONE;
}

static int grow(struct ana_map *m)
{
	struct ana_map n = { .mask = m->value ? m->mask * 2 + 1 : 15, .count = m->count };
	uint32_t i;

	n.secret = m->value ? m->secret : wire_secret();
	n.key = malloc(((size_t)n.mask + 1) * sizeof(*n.key));
	n.value = malloc(((size_t)n.mask + 1) * sizeof(*n.value));
	if (!n.key || !n.value) {
		ana_map_fini(&n);
		return -ENOMEM;
	}
	memset(n.value, 0xff, ((size_t)n.mask + 1) * sizeof(*n.value));
	for (i = 0; m->value && i <= m->mask; i++) {
		uint32_t to;

		if (m->value[i] == ANA_MAP_NONE)
			continue;
		to = place(&n, m->key[i]);
		n.key[to] = m->key[i];
		n.value[to] = m->value[i];
	}
	ana_map_fini(m);
	*m = n;
	return 0;
}

int ana_map_put(struct ana_map *m, uint64_t key, uint32_t value)
{
	uint32_t i;

	if (!m->value || m->count * 2 > m->mask) {
		int err = grow(m);

		if (err)
			return err;
	}
	i = place(m, key);
	m->count += m->value[i] == ANA_MAP_NONE;
	m->key[i] = key;
	m->value[i] = value;
	return 0;
}

void ana_map_fini(struct ana_map *m)
{
	free(m->key);
	free(m->value);
	*m = (struct ana_map){ 0 };
}

/* In any order: places depend on a secret that is another one there. */
static void write_all(const struct ana_map *m, struct ana_archive *a)
{
	for (uint32_t i = 0; m->value && i <= m->mask; i++) {
		uint64_t key = m->key[i];
		uint32_t value = m->value[i];

		if (value == ANA_MAP_NONE)
			continue;
		ana_archive_field(a, key);
		ana_archive_field(a, value);
	}
}

void ana_map_archive(struct ana_map *m, uint32_t most, struct ana_archive *a)
{
	uint32_t n = (uint32_t)ana_archive_number(a, m->count, UINT32_MAX / 4);

	if (!a->reading) {
		write_all(m, a);
		return;
	}
	for (uint32_t i = 0; i < n && !a->err; i++) {
		uint64_t key = 0;
		uint32_t value;

		ana_archive_field(a, key);
		value = (uint32_t)ana_archive_small(a, 0, most);
		if (!a->err && ana_map_put(m, key, value))
			a->err = -ENOMEM;
	}
	ana_archive_check(a, m->count == n);
}
