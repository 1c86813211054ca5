/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where in a stream's file stands what is told of a run that goes on (live/): Hello, Bye and some
 * of its pulses, whose sums go on from one to the next. The last COLL_MARKS_RECENT pulses are all
 * there; of those before, COLL_MARKS_THIN at most, as far apart as they have to be. Plain data,
 * bounded.
 */
#ifndef COLL_MARKS_H
#define COLL_MARKS_H

#include <stddef.h>
#include <stdint.h>
#include "wire/frame.h"

#define COLL_MARKS_RECENT 32 /* one a second: what "now" is an average over */
#define COLL_MARKS_THIN 16
#define COLL_MARKS_MAX (COLL_MARKS_RECENT + COLL_MARKS_THIN + 3)

struct coll_marks { /* offsets; 0 where there is none is told by the counts, and by `has` */
	uint64_t last, first_hello, last_hello, bye;
	enum {
		COLL_MARKS_LAST = 1 << 0, /* last: where the last frame begins */
		COLL_MARKS_HELLO = 1 << 1,
		COLL_MARKS_BYE = 1 << 2,
	} has;
	uint64_t pulses; /* so many have come */
	uint32_t stride; /* of those before the recent ones, each so manieth is kept; 0: 1 */
	uint32_t thin;
	uint64_t thin_at[COLL_MARKS_THIN];
	uint64_t recent_at[COLL_MARKS_RECENT]; /* pulse number n in n % COLL_MARKS_RECENT, from 0 */
};

/* A frame of the stream begins at @offset. */
void coll_marks_add(struct coll_marks *m, const struct wire_frame *f, uint64_t offset);

/* All but the last frame, in order of the file, into @out[COLL_MARKS_MAX]: how many. */
size_t coll_marks_list(const struct coll_marks *m, uint64_t *out);

#endif
