/* SPDX-License-Identifier: Apache-2.0 */
#include "told_kin.h"

#include <errno.h>
#include <stdlib.h>
#include "base/vec.h"

#define SPREAD UINT64_C(0x9e3779b97f4a7c15) /* odd: other communicators have other products */

struct told_lane {
	uint64_t key, comm;
	uint32_t lane, gpu;
};

/* By key; those without a communicator first. */
static int compare(const void *a, const void *b)
{
	const struct told_lane *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->comm != y->comm)
		return x->comm < y->comm ? -1 : 1;
	return x->lane < y->lane ? -1 : x->lane > y->lane;
}

/* --- keys --- */

static struct told_lane *by_name(struct ana_collective_log *const *log, size_t logs,
				 uint32_t *lanes)
{
	struct told_lane *l;
	uint32_t n = 0, k;
	size_t i;

	for (i = 0; i < logs; i++)
		n += log[i]->lanes;
	*lanes = n;
	l = malloc((n + 1u) * sizeof(*l));
	if (!l)
		return NULL;
	for (i = 0, n = 0; i < logs; i++)
		for (k = 0; k < log[i]->lanes; k++, n++)
			l[n] = (struct told_lane){ log[i]->lane[k].hash, log[i]->lane[k].comm, n,
						   (uint32_t)i };
	qsort(l, n, sizeof(*l), compare);
	return l;
}

int ana_lane_keys(uint64_t *key, struct ana_collective_log *const *log, size_t logs)
{
	uint32_t lanes, i, end;
	struct told_lane *l = by_name(log, logs, &lanes);

	if (!l)
		return -ENOMEM;
	for (i = 0; i < lanes; i = end) {
		bool told = l[i].comm;

		for (end = i; end < lanes && l[end].key == l[i].key; end++)
			key[l[end].lane] = l[end].key ^ (told ? l[end].comm * SPREAD : 0);
	}
	free(l);
	return 0;
}

/* --- kin --- */

/* All that meet all and of which it is told whom. */
static size_t collect(const struct ana_match *m, struct told_lane *to)
{
	size_t n = 0, i;

	for (i = 0; i < m->logs; i++) {
		struct ana_arrival a = { .gpu = (uint32_t)i };

		for (; a.lane < m->log[i]->lanes; a.lane++) {
			const struct ana_lane *l = &m->log[i]->lane[a.lane];
			uint32_t lane = ana_lane_number(m->first_lane, &a);

			if (l->meeting == FACTS_MEET_ALL && m->key[lane] != l->hash)
				to[n++] = (struct told_lane){ ana_match_hash(m, &a), l->comm, lane,
							      a.gpu };
		}
	}
	qsort(to, n, sizeof(*to), compare);
	return n;
}

/* Two lanes of one GPU are used in some order that nothing tells. */
static bool is_kin(const struct told_lane *l, size_t n)
{
	size_t i;

	for (i = 1; i < n; i++)
		if (l[i].gpu == l[i - 1].gpu)
			return false;
	return n > 1;
}

static int add(struct ana_kins *k, const struct told_lane *l, size_t n)
{
	struct ana_kin *to;

	if (!base_vec_more(k->kin, k->count, k->room))
		return -ENOMEM;
	to = &k->kin[k->count];
	*to = (struct ana_kin){ .lane = malloc(n * sizeof(*to->lane)), .told = true };
	if (!to->lane)
		return -ENOMEM;
	for (; to->lanes < n; to->lanes++) {
		to->lane[to->lanes] = l[to->lanes].lane;
		k->of[l[to->lanes].lane] = k->count;
	}
	k->count++;
	return 0;
}

int ana_told_kins_add(struct ana_kins *k, const struct ana_match *m)
{
	struct told_lane *l = malloc((m->lanes + 1u) * sizeof(*l));
	size_t n = l ? collect(m, l) : 0, i, end;
	int err = l ? 0 : -ENOMEM;

	for (i = 0; i < n && !err; i = end) {
		for (end = i + 1; end < n && l[end].key == l[i].key; end++)
			;
		if (is_kin(l + i, end - i))
			err = add(k, l + i, end - i);
	}
	free(l);
	return err;
}
