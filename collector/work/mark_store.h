/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks (work_marks.h) in the object store: those of one run, or of one job, at @place listed, put,
 * read and removed. What they mean is not known here. Calls block; any thread.
 */
#ifndef COLL_WORK_MARK_STORE_H
#define COLL_WORK_MARK_STORE_H

#include <stddef.h>
#include "objects/objects.h"
#include "place.h"
#include "work_marks.h"

#define COLL_WORK_MARK_TEXT 400 /* bytes that are read of a mark */

/* All as they are now. 0 or negative errno; coll_work_marks_fini in any case. */
int coll_work_marks_list(struct coll_work_marks *all, struct objects *store,
			 const struct coll_work_place *place, struct objects_trouble *t);

/* Also where it is there already: with these bytes. 0 or negative errno, here and below. */
int coll_work_mark_put(struct objects *store, const struct coll_work_place *place,
		       const struct coll_work_mark *m, const void *bytes, size_t len,
		       struct objects_trouble *t);
int coll_work_mark_remove(struct objects *store, const struct coll_work_place *place,
			  const struct coll_work_mark *m, struct objects_trouble *t);

/* Its text, one printable line; "": it cannot be read. */
void coll_work_mark_text(char *out, size_t room, struct objects *store,
			 const struct coll_work_place *place, const struct coll_work_mark *m);

#endif
