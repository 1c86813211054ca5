/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays that rows enter at the tail and leave at the head, in the order of time: [head, tail) is
 * alive. What has left makes room before more memory is asked for.
 */
#ifndef ANALYSIS_WINDOW_H
#define ANALYSIS_WINDOW_H

#include <stddef.h>

/* Room for one more element of @each bytes at the tail of *(element **)@array. 0 or -ENOMEM. */
int ana_window_room(void *array, size_t *head, size_t *tail, size_t *room, size_t each);

#endif
