/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots on a terminal, by ncurses: q quits, s sorts by the next column, p pauses, arrows and
 * page keys move through the rows. Follows the terminal's size; no colour with NO_COLOR. The
 * terminal is given back as it was, also at Ctrl-C, TERM and Ctrl-Z.
 */
#ifndef VIEW_TOP_SCREEN_H
#define VIEW_TOP_SCREEN_H

#include "source.h"

/*
 * Until the user quits: 0. -ENOTTY: nothing can be drawn here; else negative errno of the source.
 */
int top_screen_run(struct top_source *s, int interval_ms, enum top_sort sort);

#endif
