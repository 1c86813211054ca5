/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing, one place after the other; at most half of them are taken. */
#include "index.h"

#include <errno.h>
#include <stdlib.h>

#define PLACES_FIRST 16u

bool live_index_next(const struct live_index *x, uint64_t hash, size_t *at, uint32_t *number)
{
	while (x->places) {
		const struct live_index_place *p = &x->place[(hash + (*at)++) & (x->places - 1)];

		if (!p->number)
			return false;
		if (p->hash != hash)
			continue;
		*number = p->number - 1;
		return true;
	}
	return false;
}

static void put(struct live_index *x, uint64_t hash, uint32_t number)
{
	size_t at = hash & (x->places - 1);

	while (x->place[at].number)
		at = (at + 1) & (x->places - 1);
	x->place[at].hash = hash;
	x->place[at].number = number;
}

static int grow(struct live_index *x)
{
	struct live_index more = { .places = x->places ? 2 * x->places : PLACES_FIRST,
				   .used = x->used };

	more.place = calloc(more.places, sizeof(*more.place));
	if (!more.place)
		return -ENOMEM;
	for (size_t i = 0; i < x->places; i++)
		if (x->place[i].number)
			put(&more, x->place[i].hash, x->place[i].number);
	free(x->place);
	*x = more;
	return 0;
}

int live_index_add(struct live_index *x, uint64_t hash, uint32_t number)
{
	int err = 2 * (x->used + 1) > x->places ? grow(x) : 0;

	if (err)
		return err;
	put(x, hash, number + 1);
	x->used++;
	return 0;
}

void live_index_fini(struct live_index *x)
{
	free(x->place);
	*x = (struct live_index){ .place = NULL };
}
