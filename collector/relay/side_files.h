/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small files beside a run's streams on their way to the centre (store/side.h). For upstream.c
 * alone.
 */
#ifndef COLL_SIDE_FILES_H
#define COLL_SIDE_FILES_H

#include "forward.h"

/*
 * Reads the next one that is to go now and fills the request, but for whom it is for. 1; 0: none is
 * to go; -ENOMEM. What it read is given back by one of the calls below.
 */
int coll_side_files_next(struct coll_upstream *u, struct coll_request *r);

/* What the centre said of it. */
void coll_side_files_answer(struct coll_upstream *u, const struct coll_answer *a);

/* It was not sent, or is done. */
void coll_side_files_unsent(struct coll_upstream *u);

#endif
