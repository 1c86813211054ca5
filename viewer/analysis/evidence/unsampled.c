/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pieces without samples, and the neighbours that tell for them.
 */
#include "unsampled.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cause.h"
#include "analysis/window.h"

void ana_unsampled_fini(struct ana_unsampled *k)
{
	free(k->neighbour);
	free(k->piece);
	*k = (struct ana_unsampled){ 0 };
}

int ana_unsampled_decided(struct ana_unsampled *k, int64_t start, const int64_t ns[ANA_CLASSES])
{
	size_t head = k->head, i;

	if (k->tail - k->head >= ANA_NEIGHBOURS_MAX) {
		k->head++;
		k->stale = true;
	}
	if (ana_window_room(&k->neighbour, &k->head, &k->tail, &k->room, sizeof(*k->neighbour)))
		return -ENOMEM;
	k->stale |= head != k->head;
	/* nearly always at the end: several GPUs of one thread may come out of order */
	for (i = k->tail++; i > k->head && k->neighbour[i - 1].start > start; i--)
		k->neighbour[i] = k->neighbour[i - 1];
	k->neighbour[i].start = start;
	memcpy(k->neighbour[i].ns, ns, sizeof(k->neighbour[i].ns));
	k->stale |= i < k->high;
	return 0;
}

int ana_unsampled_add(struct ana_unsampled *k, const struct ana_unsampled_piece *o)
{
	size_t i;

	if (ana_window_room(&k->piece, &k->piece_head, &k->piece_tail, &k->piece_room,
			    sizeof(*k->piece)))
		return -ENOMEM;
	for (i = k->piece_tail++; i > k->piece_head && k->piece[i - 1].start > o->start; i--)
		k->piece[i] = k->piece[i - 1];
	k->piece[i] = *o;
	return 0;
}

static void add(struct ana_unsampled *k, size_t i, int sign)
{
	int c;

	for (c = 0; c < ANA_CLASSES; c++) {
		ana_sum(&k->sum[c], sign * k->neighbour[i].ns[c]);
		if (k->sum[c] < 0) /* stamps that cannot be */
			k->sum[c] = 0;
	}
}

/* Moves the window of the sum to pieces that begin in [from, to). */
static void look(struct ana_unsampled *k, int64_t from, int64_t to)
{
	if (k->stale || k->low < k->head ||
	    (k->low > k->head && k->low <= k->tail && k->neighbour[k->low - 1].start >= from) ||
	    (k->high > k->low && k->neighbour[k->high - 1].start >= to)) {
		k->low = k->high = k->head;
		memset(k->sum, 0, sizeof(k->sum));
		k->stale = false;
	}
	while (k->high < k->tail && k->neighbour[k->high].start < to)
		add(k, k->high++, 1);
	while (k->low < k->high && k->neighbour[k->low].start < from)
		add(k, k->low++, -1);
}

/* Neighbours that no piece can ask for any more. */
static void forget(struct ana_unsampled *k, int64_t floor)
{
	while (k->head < k->low && k->neighbour[k->head].start < floor - 2 * ANA_NEIGHBOURS_NS)
		k->head++;
}

bool ana_unsampled_next(struct ana_unsampled *k, int64_t floor, struct ana_unsampled_piece *o,
			int64_t ns[ANA_CLASSES])
{
	bool all = floor == INT64_MAX;

	if (floor < INT64_MIN / 2)
		return false;
	if (k->piece_head == k->piece_tail) {
		if (!all && k->head < k->tail)
			look(k, floor - 2 * ANA_NEIGHBOURS_NS, floor - 2 * ANA_NEIGHBOURS_NS);
		if (!all)
			forget(k, floor);
		return false;
	}
	*o = k->piece[k->piece_head];
	if (!all && o->end > floor - ANA_NEIGHBOURS_NS)
		return false;
	k->piece_head++;
	look(k, o->start - ANA_NEIGHBOURS_NS, o->end + ANA_NEIGHBOURS_NS);
	forget(k, o->start);
	ana_split(o->end - o->start, k->sum, ANA_CLASSES, ns);
	return true;
}
