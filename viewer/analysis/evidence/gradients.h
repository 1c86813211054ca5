/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether backward passes were seen running, and where none was, whether one would have been
 * (docs/LEDGER.md, 10): kernels need not be named after them. Pure but for what is said.
 */
#ifndef ANALYSIS_GRADIENTS_H
#define ANALYSIS_GRADIENTS_H

#include "analysis/ledger.h"
#include "trace/trace.h"

/* A Python stack's text has a frame of a framework's backward pass that no compiler makes. */
bool ana_gradients_in_stack(const char *text, size_t len);

/* The links of a sample (wire/evidence.h) name a thread in which torch's engine runs them. */
bool ana_gradients_in_links(const char *text, size_t len);

/*
 * Sets ANA_HINT_GRADIENTS or ANA_HINT_WATCHED of r->hints, of a run of which no kernel or range
 * tells that it trains: of another one there is nothing left to ask. Reads samples and batches of
 * the trace once more. 0 or -ENOMEM.
 */
int ana_gradients_find(struct view_trace *t, struct ana_result *r);

#endif
