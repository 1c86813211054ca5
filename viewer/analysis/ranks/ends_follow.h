/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether two who end together leave the later, the later they come: how much later one left than
 * the other, against how much later it came, over many of their ends. Who meets leaves together,
 * whenever it came: then nothing follows.
 */
#ifndef ANALYSIS_ENDS_FOLLOW_H
#define ANALYSIS_ENDS_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

struct ana_follow { /* zero-initialise; sums */
	double n, came, left, came2, left2, both;
};

/* Of one end: @came, @left: how much later the one was than the other, in ns. */
void ana_follow_add(struct ana_follow *f, int64_t came, int64_t left);

/* More of the same, of others, each about its own mean. */
void ana_follow_join(struct ana_follow *all, const struct ana_follow *f);

/* Ends follow by more than an eighth, and by more than chance would have it. */
bool ana_follow_is(const struct ana_follow *f);

/* They follow by half or more, beyond chance: each leaves when its own last one has come. */
bool ana_follow_is_apart(const struct ana_follow *f);

/* Of what was joined: ends follow by an eighth or less, and it would have been seen if they did. */
bool ana_follow_is_none(const struct ana_follow *all);

#endif
