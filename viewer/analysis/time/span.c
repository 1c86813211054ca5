/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of intervals.
 */
#include "span.h"

#include <errno.h>
#include <stdlib.h>
#include "base/vec.h"

int ana_spans_add(struct ana_spans *s, int64_t start, int64_t end)
{
	if (end <= start)
		return 0;
	if (!base_vec_more(s->span, s->count, s->room))
		return -ENOMEM;
	s->span[s->count++] = (struct ana_span){ start, end };
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct ana_span *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

void ana_spans_merge(struct ana_spans *s)
{
	size_t i, n = 0;

	if (!s->count)
		return;
	qsort(s->span, s->count, sizeof(*s->span), by_start);
	for (i = 1; i < s->count; i++) {
		if (s->span[i].start > s->span[n].end)
			s->span[++n] = s->span[i];
		else if (s->span[i].end > s->span[n].end)
			s->span[n].end = s->span[i].end;
	}
	s->count = n + 1;
	s->at = 0;
}

void ana_spans_fini(struct ana_spans *s)
{
	free(s->span);
	*s = (struct ana_spans){ 0 };
}

bool ana_spans_at(struct ana_spans *s, int64_t t, int64_t *until)
{
	while (s->at > 0 && s->span[s->at - 1].end > t)
		s->at--;
	while (s->at < s->count && s->span[s->at].end <= t)
		s->at++;
	if (s->at == s->count) {
		*until = INT64_MAX;
		return false;
	}
	if (s->span[s->at].start > t) {
		*until = s->span[s->at].start;
		return false;
	}
	*until = s->span[s->at].end;
	return true;
}

int64_t ana_spans_within(struct ana_spans *s, int64_t start, int64_t end)
{
	int64_t sum = 0, until;

	while (start < end) {
		bool inside = ana_spans_at(s, start, &until);

		if (until > end)
			until = end;
		if (inside)
			sum += until - start;
		start = until;
	}
	return sum;
}

int64_t ana_spans_measure(const struct ana_spans *s)
{
	int64_t sum = 0;

	for (size_t i = 0; i < s->count; i++)
		sum += s->span[i].end - s->span[i].start;
	return sum;
}
