/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weeks that cost far more than was usual, for the whole and for each team. A week is held against
 * the weeks before it, those without a run included, from the first that had one: at most
 * FLEET_SPIKE_HISTORY, at least FLEET_SPIKE_LEAST of them, else nothing is said. It is a spike if
 * it costs at least 2.5 times their median and lies above it by more than 5 x 1.4826 x their median
 * absolute deviation, which is five standard deviations where weeks scatter normally. Medians do
 * not move by a spike that came before. Weeks that are spikes stay in the history of later ones.
 */
#ifndef FLEET_SPIKE_H
#define FLEET_SPIKE_H

#include "fleet.h"

#define FLEET_SPIKE_HISTORY 26
#define FLEET_SPIKE_LEAST 8

/* Fills f->spike for the weeks within the query; history may lie before it. 0 or -errno. */
int fleet_spikes_find(struct fleet *f, struct fleet_store *s);

/* Is @week[n] a spike against the weeks before it? Amounts >= 0. Pure. */
bool fleet_is_spike(const base_wide *week, size_t n, struct fleet_spike *spike);

#endif
