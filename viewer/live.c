/* SPDX-License-Identifier: Apache-2.0 */
#include "live.h"
#include <stddef.h>
struct view_live *view_live_new(const char *dir, const char *price, const struct timespec *began)
{
	(void)dir;
	(void)price;
	(void)began;
	return NULL;
}
void view_live_tick(void *live)
{
	(void)live;
}
void view_live_free(struct view_live *live)
{
	(void)live;
}
