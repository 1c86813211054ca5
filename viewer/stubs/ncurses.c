/* SPDX-License-Identifier: Apache-2.0 */
/* In place of top/screen.c where there is no ncurses to build with: top goes on with lines. */
#include <errno.h>
#include "top/screen.h"

int top_screen_run(struct top_source *s, int interval_ms, enum top_sort sort)
{
	(void)s;
	(void)interval_ms;
	(void)sort;
	return -ENOTTY;
}
