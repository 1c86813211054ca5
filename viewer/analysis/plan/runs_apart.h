/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ANALYSIS_RUNS_APART_H
#define ANALYSIS_RUNS_APART_H

#include "plan.h"

/*
 * Whether no two runs of a job had a GPU at the same time: then what each held by itself (LEDGER 2)
 * and what no process used sum to what the job held, to the nanosecond. False of what is no job.
 * 0 or -ENOMEM.
 */
int ana_runs_apart(const struct ana_plan *p, bool *apart);

#endif
