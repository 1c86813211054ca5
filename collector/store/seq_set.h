/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which frames of a stream are stored: all of 1 to top, and some ranges above it. Bounded: when
 * there are more ranges than fit, the lowest is forgotten, which at worst stores a frame twice
 * (readers drop duplicates) and never loses one. Plain data; what is not in use is never touched.
 */
#ifndef COLL_SEQ_SET_H
#define COLL_SEQ_SET_H

#include <stdbool.h>
#include <stdint.h>

#define COLL_SEQ_SET_RANGES 256

struct coll_seq_range {
	uint64_t first, last;
};

struct coll_seq_set {
	uint64_t top; /* 1..top are there; 0: not even 1 */
	unsigned int ranges;
	struct coll_seq_range
		above[COLL_SEQ_SET_RANGES]; /* in order, apart from each other and from top */
};

/* *to = *from, without what is not in use. */
void coll_seq_set_copy(struct coll_seq_set *to, const struct coll_seq_set *from);

bool coll_seq_set_has(const struct coll_seq_set *s, uint64_t seq);
void coll_seq_set_add(struct coll_seq_set *s, uint64_t seq); /* @seq >= 1 */

#endif
