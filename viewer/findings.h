/* SPDX-License-Identifier: Apache-2.0 */
/* What stands out in a summary, and what to do about it. Fills the summary's own arrays. */
#ifndef VIEW_FINDINGS_H
#define VIEW_FINDINGS_H

#include "summary.h"

/* Every class of waste or doubt that took time, the most first. */
void view_findings_add(struct view_summary *s);

/* What to do about the findings: one piece of advice per cause, the largest saving first. */
void view_advice_add(struct view_summary *s);

/* One sentence on a class: what the GPU waited for. Static. */
const char *view_class_meaning(enum ana_class c);

#endif
