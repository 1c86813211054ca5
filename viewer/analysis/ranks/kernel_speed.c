/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel_speed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/archive.h"

static struct ana_kernel_times *list_of(struct ana_kernel_speed *p, uint32_t source)
{
	struct ana_kernel_times *more;

	for (p->last = 0; p->last < p->lists; p->last++)
		if (p->list[p->last].source == source)
			return &p->list[p->last];
	more = reallocarray(p->list, p->lists + 1, sizeof(*more));
	if (!more)
		return NULL;
	p->list = more;
	more[p->lists] = (struct ana_kernel_times){ .source = source };
	return &more[p->lists++];
}

void ana_kernel_speed_grow(struct ana_kernel_speed *p, uint32_t source, uint32_t name)
{
	struct ana_kernel_times *l = list_of(p, source);
	uint32_t room = l && l->room ? l->room : 64;
	struct ana_kernel_time *cell;

	if (!l)
		goto no_memory;
	if (name < l->room || name >= ANA_KERNEL_NAMES_MAX)
		return;
	while (room <= name)
		room *= 2;
	cell = reallocarray(l->cell, room, sizeof(*cell));
	if (!cell)
		goto no_memory;
	memset(cell + l->room, 0, (room - l->room) * sizeof(*cell));
	l->cell = cell;
	l->room = room;
	return;
no_memory:
	p->err = -ENOMEM;
}

void ana_kernel_speed_fini(struct ana_kernel_speed *p)
{
	uint32_t i;

	for (i = 0; i < p->lists; i++)
		free(p->list[i].cell);
	free(p->list);
	*p = (struct ana_kernel_speed){ 0 };
}

static int by_hash(const void *a, const void *b)
{
	const struct ana_kernel_speed_row *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	if (x->count != y->count)
		return x->count < y->count ? -1 : 1;
	return x->gpu < y->gpu ? -1 : x->gpu > y->gpu;
}

static int by_mean(const void *a, const void *b)
{
	const struct ana_kernel_speed_row *x = a, *y = b;
	__int128 l = (__int128)x->ns * (__int128)y->count;
	__int128 r = (__int128)y->ns * (__int128)x->count;

	if (l != r)
		return l < r ? -1 : 1;
	return x->gpu < y->gpu ? -1 : x->gpu > y->gpu;
}

struct scale { /* of one GPU: what it took, and what the median of the others would have */
	__int128 own, others;
};

/* Median of the means of all rows but @skip, times that row's count. Rows are sorted by mean. */
static __int128 expected(const struct ana_kernel_speed_row *row, size_t n, size_t skip)
{
	size_t left = n - 1, low = (left - 1) / 2, high = left / 2;
	const struct ana_kernel_speed_row *a = &row[low + (low >= skip)],
					  *b = &row[high + (high >= skip)];
	__int128 count = (__int128)row[skip].count;

	return ((__int128)a->ns * count / (__int128)a->count +
		(__int128)b->ns * count / (__int128)b->count) /
	       2;
}

/* Rows of one name, by count. Those that ran it as often as most are comparable. */
static void compare_name(struct ana_kernel_speed_row *row, size_t n, struct scale *scale)
{
	uint64_t median = row[n / 2].count;
	size_t first = 0, i;

	while (row[first].count < median - median / 100)
		first++;
	while (row[n - 1].count > median + median / 100)
		n--;
	row += first;
	n -= first;
	if (n < 2 || !median)
		return;
	qsort(row, n, sizeof(*row), by_mean);
	for (i = 0; i < n; i++) {
		scale[row[i].gpu].own += row[i].ns;
		scale[row[i].gpu].others += expected(row, n, i);
	}
}

void ana_kernel_speed_compare(struct ana_kernel_speed_row *row, size_t rows,
			      struct ana_kernel_speed_found *found, size_t gpus)
{
	struct scale *scale = calloc(gpus + 1, sizeof(*scale));
	size_t i, end;

	memset(found, 0, gpus * sizeof(*found));
	if (!scale)
		return;
	if (rows)
		qsort(row, rows, sizeof(*row), by_hash);
	for (i = 0; i < rows; i = end) {
		for (end = i; end < rows && row[end].hash == row[i].hash; end++)
			;
		compare_name(row + i, end - i, scale);
	}
	for (i = 0; i < gpus; i++) {
		if (scale[i].others < ANA_KERNEL_SPEED_LEAST_NS)
			continue;
		found[i].known = true;
		found[i].ppm =
			(int64_t)((scale[i].own - scale[i].others) * 1000000 / scale[i].others);
	}
	free(scale);
}

void ana_kernel_speed_archive(struct ana_kernel_speed *p, uint32_t sources, struct ana_archive *a)
{
	uint32_t i, k;

	ana_archive_vec(a, p->list, p->lists, sources);
	for (i = 0; i < p->lists; i++) {
		struct ana_kernel_times *l = &p->list[i];

		l->source = (uint32_t)ana_archive_number(a, l->source, sources - 1);
		ana_archive_vec(a, l->cell, l->room, 2 * ANA_KERNEL_NAMES_MAX);
		for (k = 0; k < l->room; k++) {
			l->cell[k].count =
				ana_archive_number(a, l->cell[k].count, ANA_ARCHIVE_TIME_MAX);
			ana_archive_time(a, &l->cell[k].ns);
		}
	}
}
