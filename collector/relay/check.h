/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the centre still has of what it has acknowledged. A centre that was started anew may have
 * been restored from a backup, another one may answer in its place: each says which store it has
 * (store/epoch.h), and before anything of a run goes to a store or a start of it that is new, it is
 * asked how long the run's streams are there (POST /v1/held). What is shorter than it was, or of a
 * store that is not known, is sent again from its beginning, where frames that the centre says it
 * has are left out. What was removed here meanwhile is lost: counted and said. For upstream.c and
 * frames_answer.c alone.
 */
#ifndef COLL_CHECK_H
#define COLL_CHECK_H

#include "forward.h"

/*
 * Takes notice of which store an answer is of. True: it is another one, or another start of it,
 * than was meant: what was acknowledged is what that store has acknowledged.
 */
bool coll_check_heard(struct coll_upstream *u, const struct coll_answer *a);

/* The same, of a centre whose answer is a collector's and does not say. */
void coll_check_heard_mute(struct coll_upstream *u);

/* The question about what is to be asked next. 1; 0: nothing is; -ENOMEM. */
int coll_check_next(struct coll_upstream *u, struct coll_request *r);

/* What it says. False: that is no answer to it. */
bool coll_check_answer(struct coll_upstream *u, const struct coll_answer *a);

/*
 * The centre has less of the stream than it has acknowledged: it goes again. @has: how much it has.
 */
void coll_check_fell_back(struct coll_upstream *u, struct coll_out_run *run,
			  const struct coll_out_file *f, uint64_t has);

/* Leaves out what the centre has: frames from f->at on, all numbers up to @top. */
void coll_check_leave_out(struct coll_out_run *run, struct coll_out_file *f, uint64_t top);

#endif
