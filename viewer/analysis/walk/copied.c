/* SPDX-License-Identifier: Apache-2.0 */
#include "copied.h"

#include <errno.h>
#include <stdlib.h>
#include "analysis/window.h"

#define FED_NS INT64_C(60000000000) /* a copy as far back as this shows that the process feeds */
#define KEPT_NS (2 * FED_NS)
#define KEPT_MAX 65536u
#define ANSWERED_MAX 4096u /* copies looked at before a gap */
#define ANSWER_BYTES 65536u /* fewer are a loss or a metric */

int ana_copied_add(struct ana_copied *c, int64_t start, uint64_t bytes, bool to_device)
{
	while (c->head < c->tail &&
	       (c->tail - c->head >= KEPT_MAX || c->row[c->head].start < start - KEPT_NS))
		c->head++;
	if (ana_window_room(&c->row, &c->head, &c->tail, &c->room, sizeof(*c->row)))
		return -ENOMEM;
	c->row[c->tail++] = (struct ana_copied_row){ start, bytes, to_device };
	return 0;
}

void ana_copied_fini(struct ana_copied *c)
{
	free(c->row);
	*c = (struct ana_copied){ 0 };
}

/* Index of the first copy at or after @t, at most the tail. */
static size_t from(const struct ana_copied *c, int64_t t)
{
	size_t low = c->head, high = c->tail;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (c->row[mid].start < t)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool is_fed(const struct ana_copied *c, int64_t end)
{
	size_t i = from(c, end - FED_NS);

	for (; i < c->tail && c->row[i].start <= end; i++)
		if (c->row[i].to_device)
			return true;
	return false;
}

/*
 * Since the last copy to the device results went to the host, half as many bytes or more as the
 * copies to the device before had.
 */
static bool is_answer(const struct ana_copied *c, int64_t start)
{
	size_t i = from(c, start), first = c->head;
	uint64_t out = 0, in = 0;

	if (i - first > ANSWERED_MAX)
		first = i - ANSWERED_MAX;
	for (; i > first && !c->row[i - 1].to_device; i--)
		out += c->row[i - 1].bytes;
	for (; i > first && c->row[i - 1].to_device; i--)
		in += c->row[i - 1].bytes;
	return out >= ANSWER_BYTES && out >= in / 2;
}

struct ana_given ana_copied_given(const struct ana_copied *c, int64_t start, int64_t end,
				  bool at_once)
{
	return (struct ana_given){ at_once || is_fed(c, end), at_once, is_answer(c, start) };
}
