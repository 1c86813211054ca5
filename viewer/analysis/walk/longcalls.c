/* SPDX-License-Identifier: Apache-2.0 */
#include "longcalls.h"

#include <errno.h>
#include <stdlib.h>
#include "analysis/archive.h"
#include "analysis/window.h"

#define KEPT_NS INT64_C(20000000000)
#define KEPT_MAX 65536u

int ana_longcalls_add(struct ana_longcalls *c, int64_t start, int64_t end)
{
	struct ana_longcall *last = c->tail > c->head ? &c->call[c->tail - 1] : NULL;

	if ((__int128)end - start < ANA_LONGCALL_NS)
		return 0;
	if (last && start < last->end) { /* within it */
		last->end = end > last->end ? end : last->end;
		return 0;
	}
	while (c->head < c->tail &&
	       (c->tail - c->head >= KEPT_MAX || c->call[c->head].end < start - KEPT_NS))
		c->head++;
	if (ana_window_room(&c->call, &c->head, &c->tail, &c->room, sizeof(*c->call)))
		return -ENOMEM;
	c->call[c->tail++] = (struct ana_longcall){ start, end };
	return 0;
}

void ana_longcalls_fini(struct ana_longcalls *c)
{
	free(c->call);
	*c = (struct ana_longcalls){ 0 };
}

bool ana_longcalls_at(const struct ana_longcalls *c, int64_t t)
{
	size_t low = c->head, high = c->tail; /* the first that begins behind t */

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (c->call[mid].start <= t)
			low = mid + 1;
		else
			high = mid;
	}
	return low > c->head && t < c->call[low - 1].end;
}

void ana_longcalls_archive(struct ana_longcalls *c, struct ana_archive *a)
{
	ana_archive_window(a, c->call, c->head, c->tail, c->room, KEPT_MAX);
	for (size_t i = c->head; i < c->tail; i++) {
		ana_archive_time(a, &c->call[i].start);
		ana_archive_time(a, &c->call[i].end);
	}
}
