/* SPDX-License-Identifier: Apache-2.0 */
#include "looked.h"

#include <stdlib.h>
#include "analysis/window.h"
#include "base/vec.h"

#define THREADS_FEW 32u /* are asked as they are */
#define WORTH 8u /* an index's entry costs as much as so many threads that have nothing to say */
#define KEPT_MAX ((size_t)1 << 21)

void ana_looked_fini(struct ana_looked *s)
{
	free(s->at);
	free(s->found);
	*s = (struct ana_looked){ .since = INT64_MIN };
}

static void know_since(struct ana_looked *s, int64_t t)
{
	if (t > s->since)
		s->since = t;
}

static int64_t behind(int64_t t)
{
	return t == INT64_MAX ? t : t + 1;
}

void ana_looked_lacks(struct ana_looked *s, int64_t t)
{
	know_since(s, behind(t));
}

static void forget(struct ana_looked *s, int64_t before)
{
	while (s->head < s->tail && s->at[s->head].t_ns < before)
		s->head++;
	know_since(s, before);
}

void ana_looked_add(struct ana_looked *s, uint32_t thread, uint32_t threads, int64_t t,
		    int64_t before)
{
	forget(s, before);
	if (s->tail - s->head >= KEPT_MAX)
		forget(s, behind(s->at[s->head + KEPT_MAX / 2].t_ns));
	if (threads <= THREADS_FEW || (s->head < s->tail && s->at[s->tail - 1].t_ns > t) ||
	    ana_window_room(&s->at, &s->head, &s->tail, &s->room, sizeof(*s->at))) {
		ana_looked_lacks(s, t);
		return;
	}
	s->at[s->tail++] = (struct ana_looked_at){ t, thread };
}

static size_t first_from(const struct ana_looked *s, int64_t t)
{
	size_t low = s->head, high = s->tail;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->at[mid].t_ns < t)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int by_number(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

bool ana_looked_between(struct ana_looked *s, uint32_t threads, int64_t a, int64_t b,
			const uint32_t **thread, uint32_t *n)
{
	size_t from, to, i;
	uint32_t k;

	if (threads <= THREADS_FEW || a < s->since)
		return false;
	from = first_from(s, a);
	to = first_from(s, b);
	if (from < to && to - from >= threads / WORTH)
		return false;
	for (i = from, k = 0; i < to; i++) {
		if (!base_vec_more(s->found, k, s->found_room))
			return false;
		s->found[k++] = s->at[i].thread;
	}
	if (k)
		qsort(s->found, k, sizeof(*s->found), by_number);
	for (i = 0, *n = 0; i < k; i++)
		if (!*n || s->found[*n - 1] != s->found[i])
			s->found[(*n)++] = s->found[i];
	*thread = s->found;
	return true;
}
