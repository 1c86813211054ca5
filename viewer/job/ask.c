/* SPDX-License-Identifier: Apache-2.0 */
#include "ask.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/log.h"

#define NAMED_MAX 8 /* of several jobs, so many by name */

const char *view_job_out(const char *dir)
{
	const char *env = getenv("GPUSTARVE_OUT");

	return dir ? dir : env && env[0] ? env : "gpustarve-runs";
}

/* "c1 4711, c2 4711", or tasks "4700_1 (4701), ..." */
static const char *list(struct view_jobs *j)
{
	const char *all = "";

	for (size_t i = 0; i < j->jobs && i < NAMED_MAX; i++) {
		const struct view_job_identity *id = &j->job[i].id;
		const int64_t *n = id->number;

		all = base_arena_printf(&j->mem, "%s%s", all, i ? ", " : "");
		if (n[VIEW_JOB_ARRAY] >= 0 && n[VIEW_JOB_ARRAY_TASK] >= 0)
			all = base_arena_printf(&j->mem, "%s%" PRId64 "_%" PRId64 " on %s", all,
						n[VIEW_JOB_ARRAY], n[VIEW_JOB_ARRAY_TASK],
						id->text[VIEW_JOB_CLUSTER]);
		else
			all = base_arena_printf(&j->mem, "%s%" PRId64 " on %s", all, n[VIEW_JOB_ID],
						id->text[VIEW_JOB_CLUSTER]);
	}
	return j->jobs > NAMED_MAX ? base_arena_printf(&j->mem, "%s and others", all) : all;
}

static bool several_clusters(const struct view_jobs *j)
{
	for (size_t i = 1; i < j->jobs; i++)
		if (strcmp(j->job[i].id.text[VIEW_JOB_CLUSTER],
			   j->job[0].id.text[VIEW_JOB_CLUSTER]) != 0)
			return true;
	return false;
}

/* sbatch tells an array's number, which is that of one of its tasks, too. */
static void say_if_one_task(const struct view_job *job, const char *id)
{
	const int64_t *n = job->id.number;

	if (!job->label && n[VIEW_JOB_ARRAY] == n[VIEW_JOB_ID] && n[VIEW_JOB_ARRAY_TASK] >= 0 &&
	    !strchr(id, '_'))
		view_note("--job %s: this is one task of an array, %s_%" PRId64
			  "; gpustarve job list names the others",
			  id, id, n[VIEW_JOB_ARRAY_TASK]);
}

struct view_job *view_job_or_say(struct view_jobs *j, const char *dir, const char *id,
				 const char *cluster)
{
	const char *out = view_job_out(dir);
	struct view_job *job;
	int err = view_job_named(j, out, id, cluster, &job);

	switch (err) {
	case 0:
		say_if_one_task(job, id);
		return job;
	case -EINVAL:
		view_error(
			"--job %s: not a number; give a job's, or ARRAY_TASK, or label:KEY=VALUE",
			id);
		break;
	case -ENOTUNIQ:
		view_error("--job %s: there are %zu in %s: %s; %s", id, j->jobs, out, list(j),
			   several_clusters(j) ? "name one with --cluster" : "name one of them");
		break;
	case -ENOENT:
		if (!strncmp(out, "s3://", 5)) { /* what reads those lies above */
			view_error("--job %s: jobs are found in a folder, not in an object store; "
				   "gpustarve report %s/RUN reads one run there",
				   id, out);
			break;
		}
		view_error("--job %s: %s %s; name the folder of its runs with --dir", id,
			   access(out, F_OK) ? "there is no folder" : "nothing of it is in", out);
		break;
	default:
		view_error("%s: %s; name the folder of the job's runs with --dir", out,
			   strerror(-err));
	}
	return NULL;
}
