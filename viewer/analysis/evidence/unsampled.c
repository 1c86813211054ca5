/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pieces without samples, and the neighbours that tell for them.
 */
#include "unsampled.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cause.h"
#include "analysis/archive.h"
#include "analysis/window.h"

void ana_unsampled_fini(struct ana_unsampled *k)
{
	free(k->neighbour);
	free(k->piece);
	free(k->sum);
	free(k->length);
	*k = (struct ana_unsampled){ 0 };
}

void ana_unsampled_free(struct ana_unsampled *k)
{
	if (k)
		ana_unsampled_fini(k);
	free(k);
}

static struct ana_neighbour neighbour_of(int64_t start, const int64_t ns[ANA_CLASSES],
					 int64_t stand_ns)
{
	struct ana_neighbour n = { .start = start };
	int c;

	for (c = 0; c < ANA_CLASSES; c++)
		ana_sum(&n.own, ns[c]);
	for (c = 0; c < ANA_CLASSES; c++)
		n.ns[c] = stand_ns > n.own ? ana_scale(stand_ns, ns[c], n.own) : ns[c];
	return n;
}

/* Threads that tell of others are few beside those that may only ask. */
static int need_sum(struct ana_unsampled *k)
{
	if (!k->sum)
		k->sum = calloc(1, sizeof(*k->sum));
	return k->sum ? 0 : -ENOMEM;
}

int ana_unsampled_decided(struct ana_unsampled *k, int64_t start, const int64_t ns[ANA_CLASSES],
			  int64_t stand_ns)
{
	size_t head = k->head, i;

	if (need_sum(k))
		return -ENOMEM;
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
	k->neighbour[i] = neighbour_of(start, ns, stand_ns);
	k->stale |= i < k->sum->high;
	return 0;
}

static int add_length(struct ana_unsampled *k, const struct ana_unsampled_piece *o)
{
	size_t head = k->length_head, i;

	if (ana_window_room(&k->length, &k->length_head, &k->length_tail, &k->length_room,
			    sizeof(*k->length)))
		return -ENOMEM;
	for (i = k->length_tail++; i > k->length_head && k->length[i - 1].start > o->start; i--)
		k->length[i] = k->length[i - 1];
	k->length[i] = (struct ana_length){ o->start, o->end - o->start };
	k->length_stale |= head != k->length_head || i < k->length_high;
	return 0;
}

int ana_unsampled_add(struct ana_unsampled *k, const struct ana_unsampled_piece *o)
{
	size_t i;

	if (add_length(k, o))
		return -ENOMEM;
	if (ana_window_room(&k->piece, &k->piece_head, &k->piece_tail, &k->piece_room,
			    sizeof(*k->piece)))
		return -ENOMEM;
	for (i = k->piece_tail++; i > k->piece_head && k->piece[i - 1].start > o->start; i--)
		k->piece[i] = k->piece[i - 1];
	k->piece[i] = *o;
	return 0;
}

int64_t ana_unsampled_first(const struct ana_unsampled *k)
{
	return k->piece_head < k->piece_tail ? k->piece[k->piece_head].start : INT64_MAX;
}

static void add(struct ana_neighbours *sum, const struct ana_neighbour *n, int sign)
{
	int c;

	sum->weighed = false;
	ana_sum(&sum->own, sign * n->own);
	if (sum->own < 0) /* stamps that cannot be */
		sum->own = 0;
	for (c = 0; c < ANA_CLASSES; c++) {
		ana_sum(&sum->ns[c], sign * n->ns[c]);
		if (sum->ns[c] < 0)
			sum->ns[c] = 0;
		sum->of[c] += (uint32_t)(sign * (n->ns[c] > 0));
	}
}

static bool begin_anew(const struct ana_unsampled *k, int64_t from, int64_t to)
{
	const struct ana_neighbours *sum = k->sum;

	return k->stale || sum->low < k->head ||
	       (sum->low > k->head && sum->low <= k->tail &&
		k->neighbour[sum->low - 1].start >= from) ||
	       (sum->high > sum->low && k->neighbour[sum->high - 1].start >= to);
}

/* Moves the window of the sum to pieces that begin in [from, to). */
static void look(struct ana_unsampled *k, int64_t from, int64_t to)
{
	struct ana_neighbours *sum = k->sum;

	if (!sum)
		return;
	if (begin_anew(k, from, to)) {
		*sum = (struct ana_neighbours){ .low = k->head, .high = k->head };
		k->stale = false;
	}
	while (sum->high < k->tail && k->neighbour[sum->high].start < to)
		add(sum, &k->neighbour[sum->high++], 1);
	while (sum->low < sum->high && k->neighbour[sum->low].start < from)
		add(sum, &k->neighbour[sum->low++], -1);
}

/* Of all pieces without samples that begin in [from, to). */
static int64_t length_of(struct ana_unsampled *k, int64_t from, int64_t to)
{
	const struct ana_length *l = k->length;

	if (k->length_stale || k->length_low < k->length_head ||
	    (k->length_low > k->length_head && l[k->length_low - 1].start >= from) ||
	    (k->length_high > k->length_low && l[k->length_high - 1].start >= to)) {
		k->length_low = k->length_high = k->length_head;
		k->length_sum = 0;
		k->length_stale = false;
	}
	while (k->length_high < k->length_tail && l[k->length_high].start < to)
		ana_sum(&k->length_sum, l[k->length_high++].ns);
	while (k->length_low < k->length_high && l[k->length_low].start < from)
		ana_sum(&k->length_sum, -l[k->length_low++].ns);
	return k->length_sum;
}

/* Whether the neighbours in the window have evidence enough for all pieces that begin in it. */
static bool enough(struct ana_unsampled *k, int64_t from, int64_t to)
{
	const struct ana_neighbours *sum = k->sum;
	const int64_t length = length_of(k, from, to);
	const __int128 evidence = sum ? (__int128)sum->own * ANA_STRETCH : 0;
	const __int128 pieces = sum ? (__int128)(sum->high - sum->low) * ANA_STRETCH_NS : 0;

	return sum && length <= (evidence > pieces ? evidence : pieces);
}

/* Neighbours that no piece can ask for any more. */
static void forget(struct ana_unsampled *k, int64_t floor)
{
	while (k->length_head < k->length_low &&
	       k->length[k->length_head].start < floor - 2 * ANA_NEIGHBOURS_NS)
		k->length_head++;
	while (k->sum && k->head < k->sum->low &&
	       k->neighbour[k->head].start < floor - 2 * ANA_NEIGHBOURS_NS)
		k->head++;
}

static void share(struct ana_neighbours *sum, int64_t ns, struct ana_told *told)
{
	if (!sum->weighed)
		ana_weights_set(&sum->weights, sum->ns, ANA_CLASSES);
	sum->weighed = true;
	ana_weights_split(&sum->weights, ns, told->ns);
	told->class = sum->weights.of;
	told->count = sum->weights.count;
}

bool ana_unsampled_next(struct ana_unsampled *k, int64_t floor, struct ana_unsampled_piece *o,
			struct ana_told *told)
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
	told->count = 0;
	if (enough(k, o->start - ANA_NEIGHBOURS_NS, o->end + ANA_NEIGHBOURS_NS))
		share(k->sum, o->end - o->start, told);
	return true;
}

enum ana_confidence ana_unsampled_sure(const struct ana_unsampled *k, int c)
{
	return k->sum && k->sum->of[c] >= ANA_NEIGHBOURS_MEDIUM ? ANA_MEDIUM : ANA_LOW;
}

static void archive_neighbour(struct ana_neighbour *n, struct ana_archive *a)
{
	ana_archive_time(a, &n->start);
	ana_archive_time(a, &n->own);
	for (int c = 0; c < ANA_CLASSES; c++)
		ana_archive_time(a, &n->ns[c]);
}

static void archive_piece(struct ana_unsampled_piece *o, uint32_t gpus, struct ana_archive *a)
{
	ana_archive_time(a, &o->start);
	ana_archive_time(a, &o->end);
	ana_archive_check(a, o->start <= o->end);
	o->gpu = ana_archive_small(a, o->gpu, gpus - 1);
	o->unknown = (uint8_t)ana_archive_small(a, o->unknown, ANA_CLASSES - 1);
	o->record_confidence =
		(uint8_t)ana_archive_small(a, o->record_confidence, ANA_CONFIDENCES - 1);
	ana_archive_field(a, o->tid);
	ana_archive_field(a, o->stack);
	ana_archive_field(a, o->who_pid);
	ana_archive_field(a, o->who_tid);
	ana_archive_field(a, o->state);
	ana_archive_field(a, o->wait);
	ana_archive_field(a, o->role);
	ana_archive_time(a, &o->gap_start);
	ana_archive_time(a, &o->gap_end);
	ana_archive_time(a, &o->stand_ns);
}

/* Without the sums, which are made anew where they are stale. */
void ana_unsampled_archive(struct ana_unsampled *k, uint32_t gpus, struct ana_archive *a)
{
	size_t i;

	ana_archive_window(a, k->neighbour, k->head, k->tail, k->room, ANA_NEIGHBOURS_MAX);
	for (i = k->head; i < k->tail; i++)
		archive_neighbour(&k->neighbour[i], a);
	if (a->reading && k->head < k->tail && need_sum(k))
		a->err = -ENOMEM;
	ana_archive_window(a, k->piece, k->piece_head, k->piece_tail, k->piece_room,
			   2 * ANA_UNSAMPLED_MAX);
	for (i = k->piece_head; i < k->piece_tail; i++)
		archive_piece(&k->piece[i], gpus, a);
	ana_archive_window(a, k->length, k->length_head, k->length_tail, k->length_room,
			   UINT32_MAX);
	for (i = k->length_head; i < k->length_tail; i++) {
		ana_archive_time(a, &k->length[i].start);
		ana_archive_time(a, &k->length[i].ns);
	}
	if (a->reading)
		k->stale = k->length_stale = true;
}
