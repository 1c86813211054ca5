/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of several loaders train: those of which alone a batch came before steps of an optimizer
 * (docs/LEDGER.md, 10). One that validates gives its batches between some steps, beside another
 * one's. They are told apart by what they go over, even where their settings are the same.
 */
#ifndef ANALYSIS_TRAINS_H
#define ANALYSIS_TRAINS_H

#include "analysis/ledger.h"
#include "trace/trace.h"

/*
 * Sets trains, learnt and learners of r->loader[], and how many there are, of a run with two
 * loaders or more that marks its optimizer's steps; nothing where of one it is not known. Reads
 * ranges and batches of the trace once more. 0 or -ENOMEM.
 */
int ana_trains_find(struct view_trace *t, struct ana_result *r);

#endif
