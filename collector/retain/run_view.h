/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runs that a sweep or a list is about, as they are now: from the index (run_index.h), of which
 * those are looked at that may have changed; or, where there is none, it is not made yet, or there
 * are few runs, from the disk. Usually in a child that was forked. One thread.
 */
#ifndef COLL_RUN_VIEW_H
#define COLL_RUN_VIEW_H

#include "run_index.h"

#define COLL_RUN_VIEW_SMALL 1000 /* of no more runs all files are looked at: others write, too */

struct coll_run_view {
	struct coll_run_dir **run; /* in no order; valid until the index changes */
	size_t count;
	bool indexed; /* else each was just looked at */
	struct coll_run_dirs read; /* where they were read for it */
};

/*
 * Of @folder, which is the team's; with @team NULL of all teams, and @folder is BASE. @x may be
 * NULL. 0 or -errno; fini is right in both cases.
 */
int coll_run_view_make(struct coll_run_view *v, struct coll_run_index *x, const char *folder,
		       const char *team);
void coll_run_view_fini(struct coll_run_view *v);

#endif
