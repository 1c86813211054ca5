/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The status line of `gpustarve run`: elapsed time, GPUs, starved share, burn rate and dollars so
 * far, from the pulses that are followed. It stands in the terminal's last row, out of the
 * command's way. Only when stderr is a terminal and we are in its foreground. One thread.
 */
#ifndef VIEW_LIVE_H
#define VIEW_LIVE_H

#include <time.h>
#include "follow.h"

struct view_live;

/* NULL if there is to be no line. */
struct view_live *view_live_new(const struct timespec *began);

/* Draws the run as it was followed last; @alert: what fired last, NULL: nothing has. */
void view_live_draw(struct view_live *live, const struct view_follow *f, const char *alert);

void view_live_resized(struct view_live *live); /* the terminal has another size */
void view_live_pause(struct view_live *live); /* gives the row back until the next tick */

/* Gives the row back. Accepts NULL. */
void view_live_free(struct view_live *live);

#endif
