/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a GPU is as far as it is: what it did that was no computing since it last waited for another,
 * and before that what the other did, and so on. So what one did before it waited anyway counts for
 * nothing. Paths that come from the same place share what lies before it: two GPUs are compared by
 * what is theirs alone.
 *
 * Bounded: the oldest is forgotten.
 */
#ifndef ANALYSIS_PATH_H
#define ANALYSIS_PATH_H

#include <stdint.h>
#include "skew_shares.h"

struct ana_paths;

/* @least_ns: what is less is not kept. NULL: no memory. */
struct ana_paths *ana_paths_new(size_t gpus, int64_t least_ns);
void ana_paths_free(struct ana_paths *p);

/* The GPU comes somewhere. @cum: its time by class up to then. */
void ana_paths_arrive(struct ana_paths *p, uint32_t gpu, const int64_t cum[ANA_CLASSES]);

/* Just then it waited for @late in a collective, and goes on because that one came. */
void ana_paths_follow(struct ana_paths *p, uint32_t gpu, uint32_t late);

/*
 * The same in a send or receive, where the two do not go on together: at last it waited for @ns
 * with nothing else to do. Where what is @late's alone held that one up for longer, only so much
 * of it held the GPU up, and the rest may still do so.
 */
void ana_paths_follow_pair(struct ana_paths *p, uint32_t gpu, uint32_t late, int64_t ns);

/*
 * Adds to @s what is on @late's path and not on @waiting's, by culprit and class; of each class as
 * much as there is more of it.
 */
void ana_paths_compare(const struct ana_paths *p, uint32_t late, uint32_t waiting,
		       struct ana_skew_shares *s);

#endif
