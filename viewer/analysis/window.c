/* SPDX-License-Identifier: Apache-2.0 */
#include "window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int ana_window_make_room(void *array, size_t *head, size_t *tail, size_t *room, size_t each)
{
	char *p = *(char **)array;
	size_t want;

	if (*head > *room / 2) {
		memmove(p, p + *head * each, (*tail - *head) * each);
		*tail -= *head;
		*head = 0;
		return 0;
	}
	want = *room ? *room * 2 : 2; /* some are of a thread each, and most threads do little */
	char *more = reallocarray(p, want, each);
	if (!more)
		return -ENOMEM; /* what was there stays the caller's */
	*(char **)array = more;
	*room = want;
	return 0;
}
