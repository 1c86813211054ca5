/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranges.c - a sorted array of disjoint address ranges.
 */
#include "ranges.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct sim_range *table;
static size_t used, room;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Index of the first range that begins after the address. */
static size_t after(uint64_t address)
{
	size_t low = 0, high = used;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (table[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

int sim_range_add(const struct sim_range *range)
{
	int rc = 0;
	size_t i;

	pthread_mutex_lock(&lock);
	if (used == room) {
		size_t more = room ? 2 * room : 256;
		struct sim_range *p = realloc(table, more * sizeof *p);

		if (!p) {
			rc = -ENOMEM;
			goto out;
		}
		table = p;
		room = more;
	}
	i = after(range->start);
	memmove(&table[i + 1], &table[i], (used - i) * sizeof *table);
	table[i] = *range;
	used++;
out:
	pthread_mutex_unlock(&lock);
	return rc;
}

static void take_out(size_t i, struct sim_range *out)
{
	*out = table[i];
	memmove(&table[i], &table[i + 1], (used - i - 1) * sizeof *table);
	used--;
}

bool sim_range_remove(uint64_t start, struct sim_range *out)
{
	bool found;
	size_t i;

	pthread_mutex_lock(&lock);
	i = after(start);
	found = i && table[i - 1].start == start;
	if (found)
		take_out(i - 1, out);
	pthread_mutex_unlock(&lock);
	return found;
}

bool sim_range_take(const void *owner, struct sim_range *out)
{
	bool found;
	size_t i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < used && table[i].owner != owner; i++)
		;
	found = i < used;
	if (found)
		take_out(i, out);
	pthread_mutex_unlock(&lock);
	return found;
}

bool sim_range_find(uint64_t address, struct sim_range *out)
{
	bool found;
	size_t i;

	pthread_mutex_lock(&lock);
	i = after(address);
	found = i && address - table[i - 1].start < table[i - 1].size;
	if (found)
		*out = table[i - 1];
	pthread_mutex_unlock(&lock);
	return found;
}

bool sim_range_spans(uint64_t start, uint64_t end)
{
	size_t i;

	pthread_mutex_lock(&lock);
	for (i = after(start); i && i <= used && start < end; i++) {
		if (start - table[i - 1].start >= table[i - 1].size)
			break;
		start = table[i - 1].start + table[i - 1].size;
	}
	pthread_mutex_unlock(&lock);
	return start >= end;
}

void sim_range_each(void (*fn)(const struct sim_range *range))
{
	size_t i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < used; i++)
		fn(&table[i]);
	pthread_mutex_unlock(&lock);
}
