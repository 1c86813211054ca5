/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The union of spans: a list of the last spans where work comes nearly in order of time (streams of
 * one thread); sorting where it does not.
 */
#include "busy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NEAR 8 /* spans that are looked at one by one */

static uint64_t span_ns(struct wire_span s)
{
	return (uint64_t)s.end - (uint64_t)s.start;
}

/* Closes the older half: seldom enough that moving the rest costs nothing. */
static void close_half(struct wire_busy *b)
{
	unsigned int i;

	for (i = 0; i < WIRE_BUSY_SPANS / 2; i++)
		b->sum += span_ns(b->open[i]);
	b->closed = true;
	b->closed_end = b->open[i - 1].end;
	b->used -= WIRE_BUSY_SPANS / 2;
	memmove(b->open, b->open + WIRE_BUSY_SPANS / 2, b->used * sizeof(b->open[0]));
}

/* Puts a span that touches no other at @at. */
static void insert(struct wire_busy *b, unsigned int at, struct wire_span s)
{
	memmove(b->open + at + 1, b->open + at, (b->used - at) * sizeof(b->open[0]));
	b->open[at] = s;
	b->used++;
}

/* The first open span that begins after @t: mostly one of the last. */
static unsigned int behind(const struct wire_busy *b, int64_t t)
{
	unsigned int low = 0, high = b->used, near = high < NEAR ? 0 : high - NEAR;

	for (; high > near; high--)
		if (b->open[high - 1].start <= t)
			return high;
	while (low < high) {
		unsigned int mid = (low + high) / 2;

		if (b->open[mid].start <= t)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* A span that begins no later than the last one's end. False: it reaches back too far. */
static bool add_earlier(struct wire_busy *b, struct wire_span s)
{
	unsigned int last = behind(b, s.end), first;

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

static bool add(struct wire_busy *b, struct wire_span s)
{
	struct wire_span *next = &b->open[b->used], *last = b->used ? next - 1 : next;

	if (!b->used || s.start > last->end) {
		*next = s;
		b->used++;
		return true;
	}
	if (s.start < last->start)
		return add_earlier(b, s);
	if (s.end > last->end)
		last->end = s.end;
	return true;
}

void wire_busy_begin(struct wire_busy *b)
{
	memset(b, 0, offsetof(struct wire_busy, open));
}

bool wire_busy_add(struct wire_busy *b, const struct wire_event *ev, size_t n, uint32_t device)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (ev[i].device != device || ev[i].end_ns <= ev[i].start_ns)
			continue;
		if (b->used == WIRE_BUSY_SPANS)
			close_half(b);
		if (!add(b, (struct wire_span){ ev[i].start_ns, ev[i].end_ns }))
			return false;
	}
	return true;
}

uint64_t wire_busy_sum(const struct wire_busy *b)
{
	uint64_t sum = b->sum;
	unsigned int i;

	for (i = 0; i < b->used; i++)
		sum += span_ns(b->open[i]);
	return sum;
}

/* The end of the run of rising starts that begins at @at. */
static size_t run_end(const struct wire_span *s, size_t at, size_t n)
{
	while (++at < n && s[at - 1].start <= s[at].start)
		;
	return at < n ? at : n;
}

static void merge(const struct wire_span *a, const struct wire_span *a_end,
		  const struct wire_span *b, const struct wire_span *b_end, struct wire_span *out)
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
static struct wire_span *sort(struct wire_span *from, struct wire_span *to, size_t n)
{
	for (;;) {
		size_t at = 0;
		struct wire_span *swap = from;

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

static uint64_t union_of(const struct wire_span *s, size_t n)
{
	int64_t until = INT64_MIN;
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		struct wire_span rest = { s[i].start > until ? s[i].start : until, s[i].end };

		if (rest.end <= rest.start)
			continue;
		sum += span_ns(rest);
		until = rest.end;
	}
	return sum;
}

int wire_busy_sorted(const struct wire_event *ev, size_t n, uint32_t device, uint64_t *ns)
{
	struct wire_span *span = malloc(2 * n * sizeof(*span));
	size_t i, used = 0;

	if (!span)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		if (ev[i].device == device && ev[i].end_ns > ev[i].start_ns)
			span[used++] = (struct wire_span){ ev[i].start_ns, ev[i].end_ns };
	*ns = union_of(sort(span, span + n, used), used);
	free(span);
	return 0;
}
