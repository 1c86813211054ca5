/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of many processes comes next: a heap by the time of what is next of each. A time may be too
 * early, never too late: who is first is looked at, and waits for its turn if that is not yet.
 * Caller-owned; zero-initialise. One thread.
 */
#ifndef ANALYSIS_TURNS_H
#define ANALYSIS_TURNS_H

#include <stdint.h>

struct ana_turn {
	int64_t at;
	uint64_t then; /* of those at one time the lowest comes first, then the lowest process */
	uint32_t process;
};

struct ana_turns {
	struct ana_turn *turn; /* a heap */
	uint32_t count;
	uint64_t moved; /* places that were looked at in order to put one at its own, ever */
};

/* All of them, none of which was looked at: at INT64_MIN. 0 or -ENOMEM. */
int ana_turns_init(struct ana_turns *t, uint32_t processes);
void ana_turns_fini(struct ana_turns *t);

struct ana_archive; /* archive.h */
/* Read into one of as many processes. */
void ana_turns_archive(struct ana_turns *t, uint32_t processes, struct ana_archive *a);

/* The first's time, INT64_MAX: there is none any more. */
static inline int64_t ana_turns_at(const struct ana_turns *t)
{
	return t->count ? t->turn[0].at : INT64_MAX;
}

void ana_turns_sort_first(struct ana_turns *t); /* the first is no longer, perhaps */

/* The first's next is at @at. */
static inline void ana_turns_wait(struct ana_turns *t, int64_t at, uint64_t then)
{
	t->turn[0].at = at;
	t->turn[0].then = then;
	if (t->count > 1)
		ana_turns_sort_first(t);
}

/* The first has no more. */
void ana_turns_end(struct ana_turns *t);

#endif
