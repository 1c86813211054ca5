/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which runs in a folder belong to which job of a scheduler, told by names and run.json: a folder
 * of ten thousand runs is looked through without opening a trace. Where neither tells, the first
 * frames of a run do (Hello), if that is asked for. What lies in the folder may be hostile.
 */
#ifndef VIEW_JOB_FIND_H
#define VIEW_JOB_FIND_H

#include "alloc.h"

#define VIEW_JOB_RUNS_MAX 4096u /* of one job */

struct view_job { /* what was found of one */
	struct view_job_identity id; /* cluster as paths have it; array where it is known */
	bool unnamed; /* of no run is the cluster known: @id has "cluster" */
	const char *folder; /* <out>/<cluster>-<job>.job; NULL: nobody made one */
	const char **run; /* paths of its runs, by name */
	size_t runs, run_room;
	struct view_alloc *alloc; /* by node and restart; filled by view_job_allocations */
	size_t allocs;
	const char **note; /* what could not be used, and why */
	size_t notes, note_room;
	const char *label; /* KEY=VALUE that made runs one job; NULL: a scheduler did */
};

struct view_jobs {
	struct base_arena mem; /* all below */
	struct view_job *job; /* by cluster, then number */
	size_t jobs, job_room;
};

enum view_job_depth {
	VIEW_JOB_BY_NAME, /* names, and run.json of runs whose names do not tell */
	VIEW_JOB_THOROUGH, /* run.json of all, allocations, and Hello where these do not tell */
};

/*
 * Looks through @out. Only jobs of this number are kept if @job is not -1, so that the rest costs
 * no memory. 0, or the negative errno of reading the folder. Free with _fini in any case.
 */
int view_jobs_find(struct view_jobs *j, const char *out, int64_t job, enum view_job_depth depth);
void view_jobs_fini(struct view_jobs *j);

/* Reads the allocations of a job that has a folder; what is wrong is noted. */
void view_job_allocations(struct view_jobs *j, struct view_job *job);

/*
 * The one job that @text names ("4711", "4700_3") in @out, on @cluster (NULL: any), with its
 * allocations; or all runs with a label ("label:job=llama") as if they were one. 0 and *job; -EINVAL: @text names none; -ENOENT: there is none; -ENOTUNIQ: several,
 * which are j->job; or as view_jobs_find.
 */
int view_job_named(struct view_jobs *j, const char *out, const char *text, const char *cluster,
		   struct view_job **job);

/* The job whose folder this is: its runs lie beside it. As above; -EINVAL: no such name. */
int view_job_of_folder(struct view_jobs *j, const char *folder, struct view_job **job);

/* Whether a path is called like a job's folder. */
bool view_job_is_folder(const char *path);

/*
 * The folder that whoever reads a run, and no more, is to see: a job's runs lie beside it. To be
 * freed; NULL: no memory.
 */
char *view_job_reads(const char *run);

#endif
