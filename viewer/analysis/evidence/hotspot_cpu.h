/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who had a CPU while a thread could run and had none: of the threads of the job that were looked
 * at, those that ran most; those of one name (their outermost function) count together. What others
 * than the job run nobody looks at. One thread.
 */
#ifndef ANALYSIS_HOTSPOT_CPU_H
#define ANALYSIS_HOTSPOT_CPU_H

#include "shares.h"

/*
 * Of the threads of one name that ran for a third of [a, b) or more, but @starved, the one that ran
 * longest, and at *sample a sample that shows it run, or its last one. NULL: there are none.
 */
const struct ana_thread_samples *ana_hotspot_cpu_of(struct ana_evidence *e,
						    const struct ana_thread_samples *starved,
						    int64_t a, int64_t b, size_t *sample);

#endif
