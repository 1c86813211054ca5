/* SPDX-License-Identifier: Apache-2.0 */
#include "copied.h"

#include <errno.h>
#include <stdlib.h>
#include "analysis/archive.h"
#include "analysis/window.h"

#define FED_NS INT64_C(60000000000) /* a copy as far back as this shows that the process feeds */
#define KEPT_NS (2 * FED_NS)
#define KEPT_MAX 65536u
#define ANSWERED_MAX 4096u /* copies looked at before a gap */
#define COMES_PART 4 /* of the gap: batches that are made in such gaps lie as far apart as that */
#define WORD_BYTES 4096u /* for each copy to the device: so few are no batch ... */
#define WORD_SHARE 16u /* ... if what was copied has so many times more */
#define ANSWER_BYTES 65536u /* fewer are a loss or a metric */
#define MADE_BYTES 1024u /* fewer are a setting of the step */
#define EXCHANGE_NS INT64_C(2000000000)

int ana_copied_add(struct ana_copied *c, int64_t start, uint64_t bytes, bool to_device)
{
	while (c->head < c->tail &&
	       (c->tail - c->head >= KEPT_MAX || c->row[c->head].start < start - KEPT_NS))
		c->head++;
	if (ana_window_room(&c->row, &c->head, &c->tail, &c->room, sizeof(*c->row)))
		return -ENOMEM;
	c->row[c->tail++] =
		(struct ana_copied_row){ start, bytes, to_device, to_device && c->computed };
	c->computed &= !to_device;
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
	if (out < ANSWER_BYTES)
		return false;
	for (; i > first && c->row[i - 1].to_device; i--)
		in += c->row[i - 1].bytes;
	return out >= in / 2;
}

/*
 * In the last seconds half as much came back as was given: what the CPU makes of it goes back
 * again.
 */
static bool is_exchange(const struct ana_copied *c, int64_t start)
{
	size_t i = from(c, start), last = i;
	uint64_t out = 0, in = 0;

	for (; i > c->head && last - i < ANSWERED_MAX && c->row[i - 1].start >= start - EXCHANGE_NS;
	     i--)
		*(c->row[i - 1].to_device ? &in : &out) += c->row[i - 1].bytes;
	return out >= ANSWER_BYTES && out >= in / 2;
}

/*
 * Whether at least every second batch of the last seconds had such a gap before it: others are no
 * batch's.
 */
static bool comes_often(const struct ana_copied *c, int64_t start, int64_t end)
{
	size_t i = from(c, start - EXCHANGE_NS), to = from(c, start), far = 0, all = 0;
	int64_t last = INT64_MIN;

	for (; i < to; i++) {
		if (!c->row[i].fresh)
			continue;
		if (last != INT64_MIN) {
			all++;
			far += (__int128)c->row[i].start - last >=
			       ((__int128)end - start) / COMES_PART;
		}
		last = c->row[i].start;
	}
	return 2 * far >= all;
}

struct ana_given ana_copied_given(const struct ana_copied *c, int64_t start, int64_t end,
				  bool at_once, uint64_t bytes)
{
	struct ana_given g = { .fed = at_once || is_fed(c, end),
			       .at_once = at_once,
			       .answer = is_answer(c, start) };

	g.made = at_once && bytes >= MADE_BYTES && !g.answer && !is_exchange(c, start) &&
		 comes_often(c, start, end);
	return g;
}

/* Whether @bytes read since @since are words beside the copies up to the gap. */
static enum ana_read judge(const struct ana_copied *c, uint64_t bytes, int64_t since, int64_t start)
{
	uint64_t copied = 0, copies = 0;
	size_t i = from(c, since);

	for (; i < c->tail && c->row[i].start < start; i++) {
		if (!c->row[i].to_device)
			continue;
		copied += c->row[i].bytes;
		copies++;
	}
	if (!copies)
		return ANA_READ_NOT_KNOWN;
	return bytes < copied / WORD_SHARE && bytes <= copies * WORD_BYTES ? ANA_READ_WORDS
									   : ANA_READ_DATA;
}

enum ana_read ana_copied_read(const struct ana_copied *c, const struct ana_thread_samples *s,
			      int64_t start, int64_t end)
{
	const struct wire_sample *first, *last;
	size_t i, k;

	if (!s || !s->reads)
		return ANA_READ_NOT_KNOWN;
	i = ana_samples_from(s, end - ANA_LOOK_BACK_NS);
	k = ana_samples_from(s, end);
	while (i < k && !s->sample[i].rchar_bytes)
		i++;
	while (k > i && !s->sample[k - 1].rchar_bytes)
		k--;
	if (i == k)
		return ANA_READ_NOT_KNOWN;
	first = &s->sample[i];
	last = &s->sample[k - 1];
	if (first == last || last->rchar_bytes < first->rchar_bytes)
		return ANA_READ_ONE_LOOK;
	return judge(c, last->rchar_bytes - first->rchar_bytes, first->t_ns, start);
}

void ana_copied_archive(struct ana_copied *c, struct ana_archive *a)
{
	ana_archive_window(a, c->row, c->head, c->tail, c->room, KEPT_MAX);
	for (size_t i = c->head; i < c->tail; i++) {
		ana_archive_time(a, &c->row[i].start);
		ana_archive_field(a, c->row[i].bytes);
		ana_archive_bool(a, &c->row[i].to_device);
		ana_archive_bool(a, &c->row[i].fresh);
	}
	ana_archive_bool(a, &c->computed);
}
