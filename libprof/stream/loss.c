/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bounded list of loss spans.
 */
#include "loss.h"

#include <stdbool.h>
#include <string.h>

#define SPANS PROF_LOSS_SPANS
#define SINGLES 256 /* bad stamps listed one by one; the rest of the list is for sums and others */

static struct {
	Wire__LossSpan span[SPANS];
	size_t count, singles;
} loss;

static Wire__LossSpan *new_span(Wire__LossReason reason, int64_t start_ns, int64_t end_ns)
{
	Wire__LossSpan *s;

	if (loss.count == SPANS) { /* the last one grows: nothing lost goes unrecorded */
		s = &loss.span[SPANS - 1];
		s->has_device = false;
		s->correlation = 0;
		if (start_ns < s->start_ns)
			s->start_ns = start_ns;
		if (end_ns > s->end_ns)
			s->end_ns = end_ns;
		return s;
	}
	s = &loss.span[loss.count++];
	wire__loss_span__init(s);
	s->reason = reason;
	s->start_ns = start_ns;
	s->end_ns = end_ns;
	return s;
}

void prof_loss_span(Wire__LossReason reason, int64_t start_ns, int64_t end_ns, uint64_t count)
{
	if (start_ns < end_ns)
		new_span(reason, start_ns, end_ns)->count += count;
}

static Wire__LossSpan *sum_of(uint32_t device)
{
	size_t i;

	for (i = loss.count; i-- > 0;) {
		Wire__LossSpan *s = &loss.span[i];

		if (s->reason == WIRE__LOSS_REASON__LOSS_BAD_STAMP && s->count > 1 &&
		    s->device == device)
			return s;
	}
	return NULL;
}

static void add_to_sum(uint32_t device, int64_t start_ns)
{
	Wire__LossSpan *s = sum_of(device);

	if (!s) {
		s = new_span(WIRE__LOSS_REASON__LOSS_BAD_STAMP, start_ns, 0);
		s->has_device = true;
		s->device = device;
		s->count = 1;
	}
	s->count++;
	if (start_ns < s->start_ns)
		s->start_ns = start_ns;
}

void prof_loss_bad_stamp(const struct wire_event *ev, int64_t start_ns)
{
	Wire__LossSpan *s;

	if (loss.singles == SINGLES) {
		add_to_sum(ev->device, start_ns);
		return;
	}
	loss.singles++;
	s = new_span(WIRE__LOSS_REASON__LOSS_BAD_STAMP, start_ns, 0);
	s->count = 1;
	s->has_device = true;
	s->device = ev->device;
	s->stream = ev->stream;
	s->context = ev->context;
	s->correlation = ev->corr;
}

void prof_loss_forget_bad_stamps(void)
{
	size_t i, kept = 0;

	for (i = 0; i < loss.count; i++)
		if (loss.span[i].reason != WIRE__LOSS_REASON__LOSS_BAD_STAMP)
			loss.span[kept++] = loss.span[i];
	loss.count = kept;
	loss.singles = 0;
}

size_t prof_loss_take(Wire__LossSpan *list[PROF_LOSS_SPANS], int64_t end_ns)
{
	size_t n = loss.count, i;

	for (i = 0; i < n; i++) {
		list[i] = &loss.span[i];
		if (!list[i]->end_ns)
			list[i]->end_ns = end_ns;
	}
	loss.count = loss.singles = 0;
	return n;
}
