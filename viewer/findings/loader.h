/* SPDX-License-Identifier: Apache-2.0 */
/* What a run's loader did and needs: fills view_summary.loader. */
#ifndef VIEW_LOADER_H
#define VIEW_LOADER_H

#include "model/model.h"

/* From the result, its hotspots, and the dollars. */
void view_loader_add(struct view_summary *s);

/* The facts of the loader that most time was spent in; NULL: it told nothing. */
const struct ana_loader_facts *view_loader_facts(const struct view_summary *s);

/* Its workers; -1: not known. */
int64_t view_loader_workers(const struct view_summary *s);

#endif
