/* SPDX-License-Identifier: Apache-2.0 */
/* What NVML's meters said of a device, whichever of its processes asked. */
#include <errno.h>
#include <stdlib.h>
#include "plan_priv.h"

static int by_start(const void *a, const void *b)
{
	const struct view_meter *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

static size_t gather(const struct ana_plan *p, const struct ana_device *d, struct view_meter *to)
{
	size_t u, i, n = 0;

	for (u = 0; u < d->uses; u++) {
		const struct view_stream *s = p->source[d->use[u].source].s;

		for (i = 0; i < s->meters; i++) {
			struct view_meter m = s->meter[i];

			if (m.ordinal != d->use[u].ordinal)
				continue;
			m.start_ns = ana_clamp_time(m.start_ns);
			m.end_ns = ana_clamp_time(m.end_ns);
			to[n++] = m;
		}
	}
	return n;
}

int ana_plan_meters(const struct ana_plan *p, const struct ana_device *d, struct view_meter **to,
		    size_t *n)
{
	size_t u, room = 0;

	*to = NULL;
	*n = 0;
	for (u = 0; u < d->uses; u++)
		room += p->source[d->use[u].source].s->meters;
	if (!room)
		return 0;
	*to = malloc(room * sizeof(**to));
	if (!*to)
		return -ENOMEM;
	*n = gather(p, d, *to);
	if (*n) {
		qsort(*to, *n, sizeof(**to), by_start);
		return 0;
	}
	free(*to);
	*to = NULL;
	return 0;
}
