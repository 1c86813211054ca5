/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs of a job beside each other (LEDGER 9): each is insured by itself, and what a GPU was held is
 * of those whose processes had it then. Pure functions over integers; every input is hostile.
 */
#ifndef VIEW_SAVES_BESIDE_H
#define VIEW_SAVES_BESIDE_H

#include "insurance.h"

/*
 * Where in some segment of @o processes of several runs held a GPU: makes what became of the held
 * time, segments, kills and failures those of its runs; its chain is then not known. 0 or negative
 * errno, and @o is as it was.
 */
int saves_beside(const struct saves_input *in, struct view_insurance *o);

#endif
