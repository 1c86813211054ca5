/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The union of spans, the cheapest way that serves: one open span where work comes in order of
 * time (one stream); a short list of the last spans where it nearly does (several streams);
 * sorting where it does not.
 */
#include "busy.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define OPEN_SPANS 1024 /* a long collective reaches back over many short kernels */

struct span {
	int64_t start, end;
};

/* Disjoint spans in order; those before the open ones are closed: only their sum is kept. */
struct busy {
	struct span open[OPEN_SPANS];
	unsigned int used;
	bool closed; /* up to @closed_end, which is in @sum */
	int64_t closed_end;
	uint64_t sum;
};

static uint64_t span_ns(struct span s)
{
	return (uint64_t)s.end - (uint64_t)s.start;
}

/* Closes the older half: seldom enough that moving the rest costs nothing. */
static void close_half(struct busy *b)
{
	unsigned int i;

	for (i = 0; i < OPEN_SPANS / 2; i++)
		b->sum += span_ns(b->open[i]);
	b->closed = true;
	b->closed_end = b->open[i - 1].end;
	b->used -= OPEN_SPANS / 2;
	memmove(b->open, b->open + OPEN_SPANS / 2, b->used * sizeof(b->open[0]));
}

/* Puts a span that touches no other at @at. */
static void insert(struct busy *b, unsigned int at, struct span s)
{
	memmove(b->open + at + 1, b->open + at, (b->used - at) * sizeof(b->open[0]));
	b->open[at] = s;
	b->used++;
}

/* A span that begins no later than the last one's end. False: it reaches back too far. */
static bool add_earlier(struct busy *b, struct span s)
{
	unsigned int last = b->used, first;

	while (last && b->open[last - 1].start > s.end)
		last--;
	for (first = last; first && b->open[first - 1].end >= s.start; first--) {
		if (b->open[first - 1].start < s.start)
			s.start = b->open[first - 1].start;
		if (b->open[first - 1].end > s.end)
			s.end = b->open[first - 1].end;
	}
	if (!first && b->closed && s.start <= b->closed_end)
		return false;
	if (first == last) {
		insert(b, first, s);
		return true;
	}
	b->open[first] = s; /* [first, last) became one */
	memmove(b->open + first + 1, b->open + last, (b->used - last) * sizeof(b->open[0]));
	b->used -= last - first - 1;
	return true;
}

static bool add(struct busy *b, struct span s)
{
	if (b->used == OPEN_SPANS)
		close_half(b);
	if (b->used && s.start <= b->open[b->used - 1].end)
		return add_earlier(b, s);
	if (!b->used && b->closed && s.start <= b->closed_end)
		return false;
	b->open[b->used++] = s;
	return true;
}

static uint64_t sum_of(const struct busy *b)
{
	uint64_t sum = b->sum;
	unsigned int i;

	for (i = 0; i < b->used; i++)
		sum += span_ns(b->open[i]);
	return sum;
}

/* The end of the run of rising starts that begins at @at. */
static size_t run_end(const struct span *s, size_t at, size_t n)
{
	while (++at < n && s[at - 1].start <= s[at].start)
		;
	return at < n ? at : n;
}

static void merge(const struct span *a, const struct span *a_end, const struct span *b,
		  const struct span *b_end, struct span *out)
{
	while (a < a_end && b < b_end)
		*out++ = b->start < a->start ? *b++ : *a++;
	memcpy(out, a, (size_t)(a_end - a) * sizeof(*a));
	memcpy(out + (a_end - a), b, (size_t)(b_end - b) * sizeof(*b));
}

/*
 * Sorts by merging neighbouring runs, between two halves of one array: buffers of several threads
 * are few long runs. Returns the sorted half.
 */
static struct span *sort(struct span *from, struct span *to, size_t n)
{
	for (;;) {
		size_t at = 0;
		struct span *swap = from;

		if (run_end(from, 0, n) == n)
			return from;
		while (at < n) {
			size_t mid = run_end(from, at, n);
			size_t end = mid < n ? run_end(from, mid, n) : n;

			merge(from + at, from + mid, from + mid, from + end, to + at);
			at = end;
		}
		from = to;
		to = swap;
	}
}

static uint64_t union_of(const struct span *s, size_t n)
{
	int64_t until = INT64_MIN;
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		struct span rest = { s[i].start > until ? s[i].start : until, s[i].end };

		if (rest.end <= rest.start)
			continue;
		sum += span_ns(rest);
		until = rest.end;
	}
	return sum;
}

static int busy_sorted(const struct wire_event *ev, size_t n, uint32_t device, uint64_t *ns)
{
	struct span *span = malloc(2 * n * sizeof(*span));
	size_t i, used = 0;

	if (!span)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		if (ev[i].device == device && ev[i].end_ns > ev[i].start_ns)
			span[used++] = (struct span){ ev[i].start_ns, ev[i].end_ns };
	*ns = union_of(sort(span, span + n, used), used);
	free(span);
	return 0;
}

/* False if a span begins before the one that is open. */
static bool busy_in_order(const struct wire_event *ev, size_t n, uint32_t device, uint64_t *ns)
{
	struct span open = { INT64_MIN, INT64_MIN };
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		const struct span s = { ev[i].start_ns, ev[i].end_ns };

		if (ev[i].device != device || s.end <= s.start)
			continue;
		if (s.start < open.start)
			return false;
		if (s.start > open.end) {
			sum += span_ns(open);
			open = s;
		} else if (s.end > open.end) {
			open.end = s.end;
		}
	}
	*ns = sum + span_ns(open);
	return true;
}

static bool busy_nearly(const struct wire_event *ev, size_t n, uint32_t device, uint64_t *ns)
{
	struct busy b;
	size_t i;

	b.used = 0;
	b.closed = false;
	b.closed_end = 0;
	b.sum = 0;
	for (i = 0; i < n; i++) {
		if (ev[i].device != device || ev[i].end_ns <= ev[i].start_ns)
			continue;
		if (!add(&b, (struct span){ ev[i].start_ns, ev[i].end_ns }))
			return false;
	}
	*ns = sum_of(&b);
	return true;
}

int wire_busy(const struct wire_event *ev, size_t n, uint32_t device, uint64_t *ns)
{
	if (busy_in_order(ev, n, device, ns) || busy_nearly(ev, n, device, ns))
		return 0;
	return busy_sorted(ev, n, device, ns);
}
