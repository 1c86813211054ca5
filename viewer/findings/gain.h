/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What following a piece of advice would bring, as every page says it: the work of an hour, and
 * what the loader would then be. All of it comes from the training time and the advice's own
 * saving. Any thread.
 */
#ifndef VIEW_GAIN_H
#define VIEW_GAIN_H

#include "model/model.h"

/*
 * Of @saved, which is what following @a saves or, without one, of class @c, what can be of the time
 * in which steps were made: nothing that lay behind the last kernel, which comes once. A bound.
 */
int64_t view_gain_of_steps(const struct view_summary *s, const struct view_advice *a,
			   enum ana_class c, int64_t saved);

/*
 * "at most 1.42 times the steps per hour", "1.20 to 1.42 times" where something is sure; whole from
 * ten on. Rounded outwards, for these are bounds. Of the time that was recorded, and then it says
 * so, up to the last kernel (@saved: view_gain_of_steps). NULL: next to nothing, or all of the time
 * is saved.
 */
const char *view_gain_words(const struct view_summary *s, struct base_arena *mem, int64_t saved,
			    int64_t least);

/*
 * "The training time of 30.4 s, 203 ms for each step, would be at least 4.2 s, 28.0 ms for each
 * step": what view_gain_words says, as lengths. NULL where it says nothing.
 */
const char *view_gain_lengths(const struct view_summary *s, struct base_arena *mem, int64_t saved);

/*
 * What dollars or GPU time saved are of: " of this run", or of what was recorded of it, where a
 * saving in the rest is not known.
 */
const char *view_of_run_words(const struct view_summary *s);

/*
 * "16 workers, all that the 2 cores here carry (each waits for 94 % of its time), would bring", "4
 * workers, and 5 cores where there are 2 now (each computes all the time), would hide it:", "max_workers=6
 * would bring". What follows is the gain.
 */
const char *view_gain_by(const struct view_summary *s, struct base_arena *mem,
			 const struct view_advice *a);

/* "each waits for 94 % of its time", "each computes for 99 % of its time"; NULL: not known. */
const char *view_gain_busy(const struct view_summary *s, struct base_arena *mem);

#endif
