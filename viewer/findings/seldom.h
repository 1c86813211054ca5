/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks that were late too seldom to tell whether that was chance (LEDGER, CAUSES: who). Any thread. */
#ifndef VIEW_SELDOM_H
#define VIEW_SELDOM_H

#include "model/model.h"

/* The others waited for the rank of ranks.row[@i] for a part of the training time that matters, in fewer events than name one. */
bool view_rank_is_seldom(const struct view_summary *s, size_t i);

#define VIEW_SELDOM_WORDS "too few to tell whether it is late again and again"

#endif
