/* SPDX-License-Identifier: Apache-2.0 */
#include "callers.h"

#include <string.h>

void ana_callers_init(struct ana_callers *c)
{
	*c = (struct ana_callers){ 0 };
}

void ana_callers_fini(struct ana_callers *c)
{
	ana_map_fini(&c->stacks);
	ana_map_fini(&c->ends);
	*c = (struct ana_callers){ 0 };
}

static bool speaks_of_sockets(const struct ana_links *l)
{
	uint8_t i;

	for (i = 0; i < l->count; i++)
		if (strchr("altu", *l->link[i].id.at))
			return true;
	return false;
}

bool ana_callers_any(const struct wire_strtab *table)
{
	struct ana_links l;
	uint32_t id;

	for (id = 1; id <= wire_strtab_count(table); id++) {
		size_t len;
		const char *text = wire_strtab_get(table, id, &len);

		if (!len || !strchr("?!>~=", *text))
			continue;
		ana_links_read(&l, text, (uint32_t)len);
		if (speaks_of_sockets(&l))
			return true;
	}
	return false;
}

static int put(struct ana_map *m, uint64_t key)
{
	return ana_map_get(m, key) == ANA_MAP_NONE ? ana_map_put(m, key, 0) : 0;
}

static int add_ends(struct ana_callers *c, const struct ana_links *l)
{
	uint8_t i;
	int err = 0;

	for (i = 0; i < l->count && !err; i++)
		if (ana_link_is_connection(&l->link[i]))
			err = put(&c->ends, l->link[i].hash);
	return err;
}

int ana_callers_add(struct ana_callers *c, const struct wire_sample *s, const struct ana_links *l,
		    uint32_t pid)
{
	int err = s->pid != pid ? add_ends(c, l) : 0;

	if (err || !s->stack || (!ana_links_await_kind(l, 'a') && !ana_links_await_kind(l, 'l')))
		return err;
	return put(&c->stacks, s->stack);
}

bool ana_callers_place(const struct ana_callers *c, uint32_t stack)
{
	return stack && ana_map_get(&c->stacks, stack) != ANA_MAP_NONE;
}

bool ana_callers_beside(const struct ana_callers *c, const struct ana_links *l)
{
	uint8_t i;

	for (i = 0; i < l->count; i++)
		if (l->link[i].kind == ANA_LINK_AWAITS && ana_link_is_connection(&l->link[i]) &&
		    ana_map_get(&c->ends, l->link[i].hash) != ANA_MAP_NONE)
			return true;
	return false;
}
