/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of several loaders trains: the one of which a batch came before each step of an optimizer
 * (docs/LEDGER.md, 10). A loader that validates gives its batches between some steps alone.
 */
#ifndef ANALYSIS_TRAINS_H
#define ANALYSIS_TRAINS_H

#include "analysis/ledger.h"
#include "trace/trace.h"

/*
 * Sets r->loader[].trains of that one, of a run with two loaders or more that marks its optimizer's
 * steps; none where there is no such loader, or another one is as good. Reads ranges and batches of
 * the trace once more. 0 or -ENOMEM.
 */
int ana_trains_find(struct view_trace *t, struct ana_result *r);

#endif
