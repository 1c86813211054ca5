/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is made of a run that was fetched: children, one after another, write summary and page
 * where they are asked for, and the digest, into its store as well; then what waits for that store
 * is sent. They read what others made, so they are confined, with limits on time and memory. The
 * first that fails is the last, and says whose fault that was. The loop's thread, but for
 * coll_work_steps_put.
 */
#ifndef COLL_WORK_WORK_STEPS_H
#define COLL_WORK_WORK_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include "claim.h"
#include "core/child.h"
#include "retain/digests.h"

#define COLL_WORK_RESULT_MAX ((size_t)64 << 20) /* bytes of a page, or of a summary */

enum coll_work_result {
	COLL_WORK_MADE,
	COLL_WORK_FAILED, /* by the run's own fault */
	COLL_WORK_LET_GO /* by another's: of a store, or of this machine */
};

struct coll_work_steps {
	/* to be set first; borrowed */
	struct coll_children *children;
	const struct coll_digest_to *to;
	const struct coll_work_claim *claim; /* of the run */
	const char *dir; /* where it was fetched to; results lie there, too */
	bool reports; /* pages and summaries, too */
	void (*done)(struct coll_work_steps *s); /* result and why are there; in the loop */

	enum coll_work_result result;
	char why[400]; /* "": it was made */
	/* of ours */
	char program[COLL_CHILD_PATH_BYTES];
	int step;
};

/* 0, or -ENOENT: the program is not beside ours. */
int coll_work_steps_init(struct coll_work_steps *s);

/* The first; done is called once, maybe from here. */
void coll_work_steps_start(struct coll_work_steps *s);

/* Ends what runs; done is not called. */
void coll_work_steps_stop(struct coll_work_steps *s);

/*
 * Puts what was made beside the run, by the claim @c. Any thread; the calls block. 0 or negative
 * errno: -EFBIG is COLL_WORK_RESULT_MAX; of a store *t says why.
 */
int coll_work_steps_put(const struct coll_work_steps *s, struct coll_work_claim *c,
			struct objects_trouble *t);

#endif
