/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks a centre that is new, or was started anew, about what is not here any more (gone.h). For
 * upstream.c alone.
 */
#ifndef COLL_GONE_CHECK_H
#define COLL_GONE_CHECK_H

#include "forward.h"

/* The next question. 1; 0: all is asked; -ENOMEM. */
int coll_gone_next(struct coll_upstream *u, struct coll_request *r);

/* What the centre says. False: that is no answer to it. */
bool coll_gone_answer(struct coll_upstream *u, const struct coll_answer *a);

/* Another one answered than was asked, or none: it begins anew. */
void coll_gone_again(struct coll_gone *g);

void coll_gone_fini(struct coll_gone *g);

#endif
