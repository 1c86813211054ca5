/* SPDX-License-Identifier: Apache-2.0 */
#include "callers.h"

#include <errno.h>
#include <stdlib.h>
#include "base/vec.h"

void ana_callers_init(struct ana_callers *c)
{
	*c = (struct ana_callers){ 0 };
}

void ana_callers_fini(struct ana_callers *c)
{
	ana_map_fini(&c->of);
	free(c->since);
	*c = (struct ana_callers){ 0 };
}

int ana_callers_add(struct ana_callers *c, const struct wire_sample *s, const struct ana_links *l)
{
	uint32_t i;

	if (!s->stack || !ana_links_await_kind(l, 'a'))
		return 0;
	i = ana_map_get(&c->of, s->stack);
	if (i != ANA_MAP_NONE) {
		c->since[i] = s->t_ns < c->since[i] ? s->t_ns : c->since[i];
		return 0;
	}
	if (!base_vec_more(c->since, c->count, c->room) || ana_map_put(&c->of, s->stack, c->count))
		return -ENOMEM;
	c->since[c->count++] = s->t_ns;
	return 0;
}

bool ana_callers_of(const struct ana_callers *c, const struct wire_sample *s,
		    const struct ana_links *l, int64_t stop)
{
	uint32_t i = s->stack ? ana_map_get(&c->of, s->stack) : ANA_MAP_NONE;

	if (ana_links_await_kind(l, 'a'))
		return true;
	return s->wait == WIRE_WAIT_SOCKET && !ana_links_await_kind(l, 'u') &&
	       !ana_links_await_kind(l, 't') && i != ANA_MAP_NONE && c->since[i] < stop;
}
