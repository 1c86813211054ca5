/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run is: training, evaluation, inference, or whatever a notebook does; LEDGER.md has the
 * rule. Where nothing tells it is unknown.
 */
#ifndef SUMMARY_KIND_H
#define SUMMARY_KIND_H

#include "model/model.h"
#include "trace/trace.h"

/* Fills s->kind. @t: the trace; NULL: none. */
void summary_make_kind(struct view_summary *s, const struct view_trace *t);

#endif
