/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The status line of `gpustarve run`: elapsed time, GPUs, starved share, burn rate and dollars so
 * far, from the pulses in the growing trace. It stands in the terminal's last row, out of the
 * command's way. Only when stderr is a terminal and we are in its foreground. One thread.
 */
#ifndef VIEW_LIVE_H
#define VIEW_LIVE_H

#include <time.h>

struct view_live;

/* NULL if there is to be no line. @dir must stay. The price options may be NULL. */
struct view_live *view_live_new(const char *dir, const char *price, const char *price_model,
				const struct timespec *began);

void view_live_tick(void *live);

void view_live_resized(struct view_live *live); /* the terminal has another size */
void view_live_pause(struct view_live *live); /* gives the row back until the next tick */

/* Gives the row back. Accepts NULL. */
void view_live_free(struct view_live *live);

#endif
