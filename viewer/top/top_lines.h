/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots as lines, where there is no terminal to draw on. */
#ifndef VIEW_TOP_LINES_H
#define VIEW_TOP_LINES_H

#include <stdio.h>
#include "source.h"

/* One snapshot as a whole: sums, alerts, every row. 0 or negative errno. */
int top_lines_once(struct top_source *s, enum top_sort sort, FILE *f);

/*
 * A line per interval until the run is over or nobody reads; each alert once. 0 or negative errno.
 */
int top_lines_run(struct top_source *s, int interval_ms, FILE *f);

#endif
