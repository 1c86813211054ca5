/* SPDX-License-Identifier: Apache-2.0 */
#include "identity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 4096 /* longer than any list of nodes that is worth showing */

const char *const view_job_text_names[VIEW_JOB_TEXTS] = {
	[VIEW_JOB_CLUSTER] = "cluster", [VIEW_JOB_STEP] = "step",
	[VIEW_JOB_NAME] = "job_name",	[VIEW_JOB_USER] = "user",
	[VIEW_JOB_ACCOUNT] = "account", [VIEW_JOB_PARTITION] = "partition",
	[VIEW_JOB_QOS] = "qos",		[VIEW_JOB_NODES] = "nodes",
};

const char *const view_job_number_names[VIEW_JOB_NUMBERS] = {
	[VIEW_JOB_ID] = "job",		[VIEW_JOB_RESTART] = "restart",
	[VIEW_JOB_ARRAY] = "array_job", [VIEW_JOB_ARRAY_TASK] = "array_task",
	[VIEW_JOB_UID] = "uid",
};

static const char *const text_variable[VIEW_JOB_TEXTS] = {
	[VIEW_JOB_CLUSTER] = "SLURM_CLUSTER_NAME", [VIEW_JOB_STEP] = "SLURM_STEP_ID",
	[VIEW_JOB_NAME] = "SLURM_JOB_NAME",	   [VIEW_JOB_USER] = "SLURM_JOB_USER",
	[VIEW_JOB_ACCOUNT] = "SLURM_JOB_ACCOUNT",  [VIEW_JOB_PARTITION] = "SLURM_JOB_PARTITION",
	[VIEW_JOB_QOS] = "SLURM_JOB_QOS",	   [VIEW_JOB_NODES] = "SLURM_JOB_NODELIST",
};

static const char *const number_variable[VIEW_JOB_NUMBERS] = {
	[VIEW_JOB_ID] = "SLURM_JOB_ID",		 [VIEW_JOB_RESTART] = "SLURM_RESTART_COUNT",
	[VIEW_JOB_ARRAY] = "SLURM_ARRAY_JOB_ID", [VIEW_JOB_ARRAY_TASK] = "SLURM_ARRAY_TASK_ID",
	[VIEW_JOB_UID] = "SLURM_JOB_UID",
};

/* Digits and nothing else; -1: it is none, or too large. */
static int64_t number(const char *text)
{
	char *end;

	if (!text || text[0] < '0' || text[0] > '9')
		return -1;
	errno = 0;
	long long v = strtoll(text, &end, 10);
	return *end || errno || v > VIEW_JOB_NUMBER_MAX ? -1 : v;
}

static const char *text_or_null(const char *text)
{
	return text && *text && strnlen(text, TEXT_MAX + 1) <= TEXT_MAX ? text : NULL;
}

void view_job_from(struct view_job_identity *id, const char *(*get)(void *arg, const char *name),
		   void *arg)
{
	for (int i = 0; i < VIEW_JOB_TEXTS; i++)
		id->text[i] = text_or_null(get(arg, text_variable[i]));
	for (int i = 0; i < VIEW_JOB_NUMBERS; i++)
		id->number[i] = number(get(arg, number_variable[i]));
}

static const char *from_getenv(void *arg, const char *name)
{
	(void)arg;
	return getenv(name);
}

void view_job_from_environment(struct view_job_identity *id)
{
	view_job_from(id, from_getenv, NULL);
}

void view_job_from_json(struct view_job_identity *id, const struct base_json *object)
{
	for (int i = 0; i < VIEW_JOB_TEXTS; i++)
		id->text[i] =
			text_or_null(base_json_get_text(object, view_job_text_names[i], NULL));
	for (int i = 0; i < VIEW_JOB_NUMBERS; i++) {
		int64_t v = base_json_get_int(object, view_job_number_names[i], -1);

		id->number[i] = v < 0 || v > VIEW_JOB_NUMBER_MAX ? -1 : v;
	}
}

void view_job_add(struct view_job_identity *id, const struct view_job_identity *more)
{
	for (int i = 0; i < VIEW_JOB_TEXTS; i++)
		if (!id->text[i])
			id->text[i] = more->text[i];
	for (int i = 0; i < VIEW_JOB_NUMBERS; i++)
		if (id->number[i] < 0)
			id->number[i] = more->number[i];
}

void view_job_keep(struct view_job_identity *id, struct base_arena *mem)
{
	for (int i = 0; i < VIEW_JOB_TEXTS; i++)
		id->text[i] = base_arena_text(mem, id->text[i]);
}

void view_job_put_text(struct base_jsonout *j, const struct view_job_identity *id,
		       enum view_job_text what)
{
	base_json_string(j, view_job_text_names[what], id->text[what]);
}

void view_job_put_number(struct base_jsonout *j, const struct view_job_identity *id,
			 enum view_job_number what)
{
	if (id->number[what] < 0)
		base_json_null(j, view_job_number_names[what]);
	else
		base_json_int(j, view_job_number_names[what], id->number[what]);
}

void view_job_put(struct base_jsonout *j, const struct view_job_identity *id)
{
	for (int i = 0; i < VIEW_JOB_NUMBERS; i++)
		view_job_put_number(j, id, (enum view_job_number)i);
	for (int i = 0; i < VIEW_JOB_TEXTS; i++)
		view_job_put_text(j, id, (enum view_job_text)i);
}
