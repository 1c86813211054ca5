/* SPDX-License-Identifier: Apache-2.0 */
/* run.user and run.slurm: whose job the run was. */
#include <string.h>
#include "summary.h"
#include "priv.h"

static const char *of_hello(void *arg, const char *name)
{
	const Wire__Hello *h = arg;

	for (size_t i = 0; i < h->n_environment; i++)
		if (!strcmp(h->environment[i]->key, name))
			return h->environment[i]->value;
	return NULL;
}

static bool step_known(const struct view_summary *s, const char *step)
{
	for (size_t i = 0; i < s->steps; i++)
		if (!strcmp(s->step[i], step))
			return true;
	return false;
}

/* Of several steps and restarts each step is listed once, and the last restart counts. */
static void take(struct view_summary *s, const struct view_job_identity *id)
{
	const char *step = id->text[VIEW_JOB_STEP];
	int64_t *last = &s->job.number[VIEW_JOB_RESTART], restart = id->number[VIEW_JOB_RESTART];

	if (!view_job_known(id))
		return;
	if (restart > *last)
		*last = restart;
	if (step && !step_known(s, step))
		s->step[s->steps++] = view_arena_text(&s->mem, step);
	view_job_add(&s->job, id);
	view_job_keep(&s->job, &s->mem);
	s->job.text[VIEW_JOB_STEP] = NULL;
}

void summary_make_job(struct view_summary *s, const struct view_trace *t)
{
	struct view_job_identity id;

	s->job = VIEW_JOB_NONE;
	s->step = view_arena_array(&s->mem, t ? t->streams + 1 : 0, sizeof(*s->step));
	if (!t)
		return;
	take(s, &t->run.job);
	for (size_t i = 0; i < t->streams; i++) {
		Wire__Hello *h = t->stream[i].hello;

		if (!h)
			continue;
		if (!s->user && *h->user)
			s->user = view_arena_text(&s->mem, h->user);
		view_job_from(&id, of_hello, h);
		take(s, &id);
	}
	if (s->job.text[VIEW_JOB_USER])
		s->user = s->job.text[VIEW_JOB_USER];
	else if (!s->user)
		s->user = view_arena_text(&s->mem, t->run.user);
}

void summary_put_job(struct view_jsonout *j, const struct view_summary *s)
{
	view_json_string(j, "user", s->user);
	if (!view_job_known(&s->job)) {
		view_json_null(j, "slurm");
		return;
	}
	view_json_object(j, "slurm");
	view_job_put_text(j, &s->job, VIEW_JOB_CLUSTER);
	view_job_put_number(j, &s->job, VIEW_JOB_ID);
	view_job_put_number(j, &s->job, VIEW_JOB_RESTART);
	view_job_put_number(j, &s->job, VIEW_JOB_ARRAY);
	view_job_put_number(j, &s->job, VIEW_JOB_ARRAY_TASK);
	view_json_flat_array(j, "steps");
	for (size_t i = 0; i < s->steps; i++)
		view_json_string(j, NULL, s->step[i]);
	view_json_end(j);
	view_job_put_text(j, &s->job, VIEW_JOB_NAME);
	view_job_put_number(j, &s->job, VIEW_JOB_UID);
	view_job_put_text(j, &s->job, VIEW_JOB_ACCOUNT);
	view_job_put_text(j, &s->job, VIEW_JOB_PARTITION);
	view_job_put_text(j, &s->job, VIEW_JOB_QOS);
	view_job_put_text(j, &s->job, VIEW_JOB_NODES);
	view_json_end(j);
}

void summary_read_job(struct view_summary *s, const struct view_json *run)
{
	const struct view_json *slurm = view_json_get(run, "slurm");
	const struct view_json *steps = view_json_get(slurm, "steps");

	s->user = summary_text(s, run, "user");
	view_job_from_json(&s->job, slurm);
	s->step = view_arena_array(&s->mem, view_json_count(steps), sizeof(*s->step));
	for
		EACH(n, steps)
	if (n->type == VIEW_JSON_STRING)
		s->step[s->steps++] = n->text;
}
