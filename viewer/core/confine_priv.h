/* SPDX-License-Identifier: Apache-2.0 */
/* The two ways of confine.c. Both for good, and after PR_SET_NO_NEW_PRIVS. */
#ifndef VIEW_CONFINE_PRIV_H
#define VIEW_CONFINE_PRIV_H

#include "confine.h"

/* False: the kernel cannot, or forbids it to us. */
bool view_confine_files(const struct view_confine *c);
bool view_confine_calls(void);

#endif
