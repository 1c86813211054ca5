/* SPDX-License-Identifier: Apache-2.0 */
/* Gaps that need no rules to be asked, for these would only ever say the same of them. */
#ifndef ANALYSIS_PLAIN_GAP_H
#define ANALYSIS_PLAIN_GAP_H

#include "analysis/walk/walk.h"

/* Decides the gap, whose emptiness @call ends. False: it is another one, and nothing was done. */
bool ana_plain_gap_decide(struct ana_walk *w, struct ana_gpu_state *g,
			  const struct ana_open_gap *gap, const struct ana_call *call);

#endif
