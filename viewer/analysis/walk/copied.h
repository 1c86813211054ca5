/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The copies of one process between host and devices, of the last minutes: what tells whether a
 * wait may have been for data (LEDGER 6.3). Caller-owned; zero-initialise. One thread.
 */
#ifndef ANALYSIS_COPIED_H
#define ANALYSIS_COPIED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "analysis/evidence/cause.h"

struct ana_copied_row {
	int64_t start;
	uint64_t bytes;
	bool to_device;
	bool fresh; /* the first one to the device since the GPU computed */
};

struct ana_copied {
	struct ana_copied_row *row; /* [head, tail) by start */
	size_t head, tail, room;
	bool computed; /* since the last copy to the device */
};

/* A copy from host to device or from device to host; starts do not go back. 0 or -ENOMEM. */
int ana_copied_add(struct ana_copied *c, int64_t start, uint64_t bytes, bool to_device);
/* Something else than a copy ran: the next copy to the device begins another batch. */
static inline void ana_copied_computed(struct ana_copied *c)
{
	c->computed = true;
}

void ana_copied_fini(struct ana_copied *c);

struct ana_archive; /* archive.h */
void ana_copied_archive(struct ana_copied *c, struct ana_archive *a);

/*
 * Around a gap [start, end) whose copies up to its end are known. @at_once: one of @bytes ends it.
 */
struct ana_given ana_copied_given(const struct ana_copied *c, int64_t start, int64_t end,
				  bool at_once, uint64_t bytes);

/* How much the thread read in the 2 s up to the gap's end; NULL: not known. */
enum ana_read ana_copied_read(const struct ana_copied *c, const struct ana_thread_samples *s,
			      int64_t start, int64_t end);

#endif
