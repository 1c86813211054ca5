/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remarks on how good the record is, in words.
 */
#ifndef ANALYSIS_NOTE_H
#define ANALYSIS_NOTE_H

#include "ledger.h"

/* Adds a remark, each only once. 0 or -ENOMEM. */
int ana_quality_note(struct ana_quality *q, const char *text);

#endif
