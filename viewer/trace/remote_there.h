/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lies in an object store where a run was looked for and none is: for whoever mistyped a
 * bucket or a prefix. Asks the store some times more; one thread.
 */
#ifndef VIEW_REMOTE_THERE_H
#define VIEW_REMOTE_THERE_H

#include "base/arena.h"
#include "objects/objects.h"

/*
 * A clause for the user, of @mem, fit for a terminal. @o: what @url named; @below: the name of a
 * run that was seen below it, or NULL.
 */
const char *view_remote_there(struct base_arena *mem, struct objects *o, const char *url,
			      const char *below);

#endif
