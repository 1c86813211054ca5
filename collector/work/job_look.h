/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lies in the object store of a scheduler's job: what its hooks wrote (CLUSTER-JOB.job/), and
 * its runs beside that, told by their names (slurm-CLUSTER-JOB.*): two lists, however many runs
 * there are. A third, of what workers wrote of them, tells whether one is gone, as the bucket's
 * lifecycle may have it: then nobody knows any more what it did with the job's GPUs. Names are
 * hostile. Calls block; one thread at a time.
 */
#ifndef COLL_WORK_JOB_LOOK_H
#define COLL_WORK_JOB_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include "look.h"
#include "place.h"

#define COLL_WORK_JOB_RUNS_MAX 4096u /* as many as a report of a job reads */

struct coll_work_job { /* zero-initialise it */
	struct coll_work_job_run {
		char name[COLL_RUN_BYTES];
		struct coll_work_look look;
	} * run; /* in order of their keys */
	size_t runs, room;
	bool lost; /* one was there that is not any more */
};

/*
 * Of the job at @p, or the run, which has no such runs. *l is of the job's own folder, but for
 * content, revision, times, segments and bytes: these are of its runs, too. Errors as
 * coll_work_look. *j is for coll_work_job_fini in any case.
 */
int coll_work_job_look(struct coll_work_look *l, struct coll_work_job *j, struct objects *o,
		       const struct coll_work_place *p, struct objects_trouble *t);
void coll_work_job_fini(struct coll_work_job *j);

#endif
