/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The terminal's last row, kept free of the command's output by the scrolling region, so that what
 * the command writes is neither touched nor waited for. The cursor, its column and what stands
 * under it are left as they are. Nothing of termios is changed. Writes to standard error; one
 * thread.
 */
#ifndef VIEW_LIVE_ROW_H
#define VIEW_LIVE_ROW_H

#include <stdbool.h>

struct view_row {
	int rows, columns; /* of the terminal when the row was taken; 0: it is not ours */
};

/* False: there is no room for it, or another job has the terminal. */
bool view_row_take(struct view_row *r);

/* Takes the row again after the terminal's size changed, if it was ours. */
void view_row_resized(struct view_row *r);

void view_row_show(const struct view_row *r, const char *line); /* ASCII */

/* Clears the row and gives it back. */
void view_row_give_back(struct view_row *r);

#endif
