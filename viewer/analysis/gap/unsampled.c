/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pieces without samples, and those that tell for them.
 */
#include "unsampled.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/evidence/cause.h"
#include "analysis/window.h"

void ana_kin_fini(struct ana_kin *k)
{
	free(k->piece);
	free(k->orphan);
	*k = (struct ana_kin){ 0 };
}

int ana_kin_decided(struct ana_kin *k, int64_t start, const int64_t ns[ANA_CLASSES])
{
	size_t head = k->head, i;

	if (k->tail - k->head >= ANA_KIN_MAX) {
		k->head++;
		k->stale = true;
	}
	if (ana_window_room(&k->piece, &k->head, &k->tail, &k->room, sizeof(*k->piece)))
		return -ENOMEM;
	k->stale |= head != k->head;
	/* nearly always at the end: several GPUs of one thread may come out of order */
	for (i = k->tail++; i > k->head && k->piece[i - 1].start > start; i--)
		k->piece[i] = k->piece[i - 1];
	k->piece[i].start = start;
	memcpy(k->piece[i].ns, ns, sizeof(k->piece[i].ns));
	k->stale |= i < k->high;
	return 0;
}

int ana_kin_orphan(struct ana_kin *k, const struct ana_orphan *o)
{
	size_t i;

	if (ana_window_room(&k->orphan, &k->orphan_head, &k->orphan_tail, &k->orphan_room,
			    sizeof(*k->orphan)))
		return -ENOMEM;
	for (i = k->orphan_tail++; i > k->orphan_head && k->orphan[i - 1].start > o->start; i--)
		k->orphan[i] = k->orphan[i - 1];
	k->orphan[i] = *o;
	return 0;
}

static void add(struct ana_kin *k, size_t i, int sign)
{
	int c;

	for (c = 0; c < ANA_CLASSES; c++) {
		ana_sum(&k->sum[c], sign * k->piece[i].ns[c]);
		if (k->sum[c] < 0) /* stamps that cannot be */
			k->sum[c] = 0;
	}
}

/* Moves the window of the sum to pieces that begin in [from, to). */
static void look(struct ana_kin *k, int64_t from, int64_t to)
{
	if (k->stale || k->low < k->head ||
	    (k->low > k->head && k->low <= k->tail && k->piece[k->low - 1].start >= from) ||
	    (k->high > k->low && k->piece[k->high - 1].start >= to)) {
		k->low = k->high = k->head;
		memset(k->sum, 0, sizeof(k->sum));
		k->stale = false;
	}
	while (k->high < k->tail && k->piece[k->high].start < to)
		add(k, k->high++, 1);
	while (k->low < k->high && k->piece[k->low].start < from)
		add(k, k->low++, -1);
}

/* Pieces that no orphan can ask for any more. */
static void forget(struct ana_kin *k, int64_t floor)
{
	while (k->head < k->low && k->piece[k->head].start < floor - 2 * ANA_KIN_NS)
		k->head++;
}

bool ana_kin_next(struct ana_kin *k, int64_t floor, struct ana_orphan *o, int64_t ns[ANA_CLASSES])
{
	bool all = floor == INT64_MAX;

	if (floor < INT64_MIN / 2)
		return false;
	if (k->orphan_head == k->orphan_tail) {
		if (!all && k->head < k->tail)
			look(k, floor - 2 * ANA_KIN_NS, floor - 2 * ANA_KIN_NS);
		if (!all)
			forget(k, floor);
		return false;
	}
	*o = k->orphan[k->orphan_head];
	if (!all && o->end > floor - ANA_KIN_NS)
		return false;
	k->orphan_head++;
	look(k, o->start - ANA_KIN_NS, o->end + ANA_KIN_NS);
	forget(k, o->start);
	ana_split(o->end - o->start, k->sum, ANA_CLASSES, ns);
	return true;
}
