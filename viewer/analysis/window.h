/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays that rows enter at the tail and leave at the head, in the order of time: [head, tail) is
 * alive. What has left makes room before more memory is asked for.
 */
#ifndef ANALYSIS_WINDOW_H
#define ANALYSIS_WINDOW_H

#include <stddef.h>

int ana_window_make_room(void *array, size_t *head, size_t *tail, size_t *room, size_t each);

/* Room for one more element of @each bytes at the tail of *(element **)@array. 0 or -ENOMEM. */
static inline int ana_window_room(void *array, size_t *head, size_t *tail, size_t *room,
				  size_t each)
{
	return *tail < *room ? 0 : ana_window_make_room(array, head, tail, room, each);
}

#endif
