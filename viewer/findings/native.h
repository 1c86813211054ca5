/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the native frames that findings carry. */
#ifndef VIEW_NATIVE_H
#define VIEW_NATIVE_H

#include "model/model.h"

/* From the libraries of this machine, if the run was one of this host. */
void view_native_add(struct view_summary *s);

/*
 * For verify: names are not in the trace. Where only one of the two found the library of the same
 * frame, here and now or where and when @stored was made, what @stored says stands. @stored must
 * live as long as @s.
 */
void view_native_keep(struct view_summary *s, const struct view_summary *stored);

#endif
