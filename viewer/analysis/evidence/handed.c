/* SPDX-License-Identifier: Apache-2.0 */
#include "handed.h"

#include <errno.h>
#include <stdlib.h>
#include "base/vec.h"

void ana_handed_fini(struct ana_handed *h)
{
	ana_map_fini(&h->of);
	free(h->last);
	*h = (struct ana_handed){ 0 };
}

static int add(struct ana_handed *h, uint64_t id, int64_t t)
{
	const uint32_t i = ana_map_get(&h->of, id);

	if (i != ANA_MAP_NONE) {
		if (t > h->last[i])
			h->last[i] = t;
		return 0;
	}
	if (!base_vec_more(h->last, h->count, h->room) || ana_map_put(&h->of, id, h->count))
		return -ENOMEM;
	h->last[h->count++] = t;
	return 0;
}

int ana_handed_add(struct ana_handed *h, const struct ana_links *l, int64_t t)
{
	int err = 0;
	uint8_t i;

	for (i = 0; l->hands && !err && i < l->count; i++)
		if (l->link[i].kind != ANA_LINK_AWAITS)
			err = add(h, l->link[i].hash, t);
	return err;
}

bool ana_handed_since(const struct ana_handed *h, const struct ana_links *who, int64_t since)
{
	uint8_t i;

	for (i = 0; i < who->count; i++) {
		uint32_t k = who->link[i].kind == ANA_LINK_AWAITS
				     ? ana_map_get(&h->of, who->link[i].hash)
				     : ANA_MAP_NONE;

		if (k != ANA_MAP_NONE && h->last[k] >= since)
			return true;
	}
	return false;
}
