/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow: a pointer, how many are in use, and how many there is room for. */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <stdbool.h>
#include <stdlib.h>

/*
 * Whether @array, whose first @used elements count, has room for one more; it is made twice as
 * large if it has none. False: no memory, and all is as before. All three are lvalues of the
 * caller's, read more than once. New elements are not cleared.
 */
#define base_vec_more(array, used, room)                                                    \
	({                                                                                  \
		bool vec_ok = (used) < (room);                                              \
		if (!vec_ok) {                                                              \
			__typeof__(room) vec_want = (room) ? (room)*2 : 8;                  \
			void *vec_new = vec_want > (room) ? reallocarray((array), vec_want, \
									 sizeof(*(array)))  \
							  : NULL;                           \
			if (vec_new) {                                                      \
				(array) = vec_new;                                          \
				(room) = vec_want;                                          \
				vec_ok = true;                                              \
			}                                                                   \
		}                                                                           \
		vec_ok;                                                                     \
	})

#endif
