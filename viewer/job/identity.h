/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose job it was, as the scheduler tells: cluster, job, step, user, account and what else a bill
 * or an admin asks for. It is told by environment variables (SLURM_*), which run.json, Hello and
 * alloc-*.json keep; each of them knows a part. Any thread.
 */
#ifndef VIEW_JOB_IDENTITY_H
#define VIEW_JOB_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/jsondoc.h"
#include "base/jsonout.h"

enum view_job_text {
	VIEW_JOB_CLUSTER,
	VIEW_JOB_STEP, /* "0", "batch"; of a process, never of an allocation */
	VIEW_JOB_NAME,
	VIEW_JOB_USER,
	VIEW_JOB_ACCOUNT,
	VIEW_JOB_PARTITION,
	VIEW_JOB_QOS,
	VIEW_JOB_NODES, /* as the scheduler writes it: n[1-4,7] */
	VIEW_JOB_TEXTS
};

enum view_job_number {
	VIEW_JOB_ID,
	VIEW_JOB_RESTART, /* how often it was requeued before */
	VIEW_JOB_ARRAY, /* the array's job id */
	VIEW_JOB_ARRAY_TASK,
	VIEW_JOB_UID,
	VIEW_JOB_NUMBERS
};

struct view_job_identity {
	const char *text[VIEW_JOB_TEXTS]; /* NULL: not known */
	int64_t number[VIEW_JOB_NUMBERS]; /* -1: not known */
};

/* Members of JSON objects, and the variables that tell them. */
extern const char *const view_job_text_names[VIEW_JOB_TEXTS];
extern const char *const view_job_number_names[VIEW_JOB_NUMBERS];

#define VIEW_JOB_NONE ((struct view_job_identity){ .number = { -1, -1, -1, -1, -1 } })
#define VIEW_JOB_NUMBER_MAX INT64_C(0xffffffff)

/* What @get says of each variable (NULL or "": nothing); the texts are borrowed from it. */
void view_job_from(struct view_job_identity *id, const char *(*get)(void *arg, const char *name),
		   void *arg);
void view_job_from_environment(struct view_job_identity *id); /* this process's */

/* Members of an object, checked; the texts are borrowed from the document. */
void view_job_from_json(struct view_job_identity *id, const struct base_json *object);

/* Takes from @more what @id does not know. */
void view_job_add(struct view_job_identity *id, const struct view_job_identity *more);

/* Copies the texts into @mem. */
void view_job_keep(struct view_job_identity *id, struct base_arena *mem);

/* A job at all: its id is known. */
static inline bool view_job_known(const struct view_job_identity *id)
{
	return id->number[VIEW_JOB_ID] >= 0;
}

/* A number or null, a text or null, under its name. */
void view_job_put_text(struct base_jsonout *j, const struct view_job_identity *id,
		       enum view_job_text what);
void view_job_put_number(struct base_jsonout *j, const struct view_job_identity *id,
			 enum view_job_number what);
void view_job_put(struct base_jsonout *j, const struct view_job_identity *id); /* all of them */

#endif
