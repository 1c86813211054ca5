/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the native frames that findings carry. */
#ifndef VIEW_NATIVE_H
#define VIEW_NATIVE_H

#include "summary.h"

/* From the libraries of this machine, if the run was one of this host. */
void view_native_add(struct view_summary *s);

/*
 * For verify: where the library is no longer here, the name that @stored has for the same frame
 * stands. @stored must live as long as @s.
 */
void view_native_keep(struct view_summary *s, const struct view_summary *stored);

#endif
