/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks that made others wait: which of them are named, and which were late too seldom to tell
 * whether that was chance (LEDGER, CAUSES: who). Any thread.
 */
#ifndef VIEW_SELDOM_H
#define VIEW_SELDOM_H

#include "model/model.h"

/*
 * The others waited for the rank of ranks.row[@i] for a part of the training time that matters, in
 * fewer events than name one.
 */
bool view_rank_is_seldom(const struct view_summary *s, size_t i);

/*
 * Others waited for the rank again and again; or at times, and then for a GPU that is slow, or for
 * VIEW_CHIEF_PCT of all that ranks were waited for, in enough events to name one. Findings and
 * advice are about such.
 */
#define VIEW_CHIEF_PCT 75
bool view_rank_leads(const struct view_summary *s, const struct ana_rank *r);

/*
 * The rows of the ranks that are late again and again or at times, and for which others waited for
 * VIEW_NAMED_PPM of the training time or more, the most costly first; how many they are. @rows:
 * from @mem.
 */
#define VIEW_NAMED_PPM 10
size_t view_ranks_named(const struct view_summary *s, struct base_arena *mem, size_t **rows);

#define VIEW_SELDOM_WORDS "too few to tell whether it is late again and again"

#endif
