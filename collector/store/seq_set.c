/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small sorted set of ranges. Frames come nearly always in order, so it is nearly always empty.
 */
#include "seq_set.h"

#include <string.h>

void coll_seq_set_copy(struct coll_seq_set *to, const struct coll_seq_set *from)
{
	to->top = from->top;
	to->ranges = from->ranges;
	memcpy(to->above, from->above, from->ranges * sizeof(from->above[0]));
}

/* The first range that ends at @seq or later. */
static unsigned int range_at(const struct coll_seq_set *s, uint64_t seq)
{
	unsigned int i = s->ranges;

	while (i && s->above[i - 1].last >= seq)
		i--;
	return i;
}

bool coll_seq_set_has(const struct coll_seq_set *s, uint64_t seq)
{
	unsigned int i;

	if (seq <= s->top)
		return true;
	i = range_at(s, seq);
	return i < s->ranges && s->above[i].first <= seq;
}

static void remove_range(struct coll_seq_set *s, unsigned int i)
{
	memmove(s->above + i, s->above + i + 1, (--s->ranges - i) * sizeof(s->above[0]));
}

static void insert_range(struct coll_seq_set *s, unsigned int i, uint64_t seq)
{
	if (s->ranges == COLL_SEQ_SET_RANGES) {
		if (!i) /* this one would be the lowest */
			return;
		remove_range(s, 0);
		i--;
	}
	memmove(s->above + i + 1, s->above + i, (s->ranges++ - i) * sizeof(s->above[0]));
	s->above[i] = (struct coll_seq_range){ seq, seq };
}

static void raise_top(struct coll_seq_set *s, uint64_t top)
{
	s->top = top;
	if (s->ranges && s->above[0].first == top + 1) {
		s->top = s->above[0].last;
		remove_range(s, 0);
	}
}

void coll_seq_set_add(struct coll_seq_set *s, uint64_t seq)
{
	unsigned int i;

	if (seq == s->top + 1) {
		raise_top(s, seq);
		return;
	}
	if (coll_seq_set_has(s, seq))
		return;
	i = range_at(s, seq);
	if (i && s->above[i - 1].last + 1 == seq) {
		s->above[i - 1].last = seq;
		if (i < s->ranges && s->above[i].first == seq + 1) {
			s->above[i - 1].last = s->above[i].last;
			remove_range(s, i);
		}
	} else if (i < s->ranges && s->above[i].first == seq + 1) {
		s->above[i].first = seq;
	} else {
		insert_range(s, i, seq);
	}
}
