/* SPDX-License-Identifier: Apache-2.0 */
/* run.user and run.slurm: whose job the run was. */
#include <stdlib.h>
#include <string.h>
#include "summary.h"
#include "summary_priv.h"
#include "job/peek.h"

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
		s->step[s->steps++] = base_arena_text(&s->mem, step);
	view_job_add(&s->job, id);
	view_job_keep(&s->job, &s->mem);
	s->job.text[VIEW_JOB_STEP] = NULL;
}

/* A run by itself: what its wrapper told, else what its processes tell. */
static void fill_part(struct view_summary *s, struct view_job_part *part,
		      const struct view_trace *t, size_t at)
{
	const struct view_run_part *from = &t->part[at];
	struct view_job_identity id = VIEW_JOB_NONE;

	*part = (struct view_job_part){ .restart = -1,
					.start_unix_ns = from->start_unix_ns,
					.wall_ns = from->wall_ns,
					.has_exit_status = from->has_exit_status,
					.exit_status = from->exit_status };
	part->id = base_arena_text(&s->mem, from->id);
	for (size_t i = 0; i < t->streams; i++) {
		Wire__Hello *h = t->stream[i].hello;

		if (t->stream[i].part != at || !h)
			continue;
		if (!part->id && *h->run_id)
			part->id = base_arena_text(&s->mem, h->run_id);
		view_job_from(&id, view_hello_variable, h);
		break;
	}
	if (!part->id)
		part->id = summary_id_from_path(s, from->path);
	part->restart = id.number[VIEW_JOB_RESTART];
	part->step = base_arena_text(&s->mem, id.text[VIEW_JOB_STEP]);
}

static int by_start(const void *a, const void *b)
{
	const struct view_job_part *x = a, *y = b;

	if (x->start_unix_ns != y->start_unix_ns)
		return x->start_unix_ns < y->start_unix_ns ? -1 : 1;
	return strcmp(x->id, y->id);
}

static void make_parts(struct view_summary *s, const struct view_trace *t)
{
	if (!t->joined)
		return;
	if (!view_job_known(
		    &t->run.job)) { /* a label joins them: no scheduler's job is all of it */
		s->job = VIEW_JOB_NONE;
		s->steps = 0;
	}
	s->part = base_arena_array(&s->mem, t->parts, sizeof(*s->part));
	for (s->parts = 0; s->parts < t->parts; s->parts++)
		fill_part(s, &s->part[s->parts], t, s->parts);
	if (s->parts)
		qsort(s->part, s->parts, sizeof(*s->part), by_start);
}

void summary_make_job(struct view_summary *s, const struct view_trace *t)
{
	struct view_job_identity id;

	s->job = VIEW_JOB_NONE;
	s->step = base_arena_array(&s->mem, t ? t->streams + 1 : 0, sizeof(*s->step));
	if (!t)
		return;
	take(s, &t->run.job);
	for (size_t i = 0; i < t->allocs; i++)
		take(s, &t->alloc[i].id);
	for (size_t i = 0; i < t->streams; i++) {
		Wire__Hello *h = t->stream[i].hello;

		if (!h)
			continue;
		if (!s->user && *h->user)
			s->user = base_arena_text(&s->mem, h->user);
		view_job_from(&id, view_hello_variable, h);
		take(s, &id);
	}
	if (s->job.text[VIEW_JOB_USER])
		s->user = s->job.text[VIEW_JOB_USER];
	else if (!s->user)
		s->user = base_arena_text(&s->mem, t->run.user);
	make_parts(s, t);
}

static void put_part(struct base_jsonout *j, const struct view_job_part *p)
{
	base_json_flat_object(j, NULL);
	base_json_string(j, "id", p->id);
	base_json_string(j, "step", p->step);
	if (p->restart >= 0)
		base_json_int(j, "restart", p->restart);
	else
		base_json_null(j, "restart");
	base_json_int(j, "start_unix_ns", p->start_unix_ns);
	base_json_int(j, "wall_ns", p->wall_ns);
	if (p->has_exit_status)
		base_json_int(j, "exit_status", p->exit_status);
	else
		base_json_null(j, "exit_status");
	base_json_end(j);
}

static void put_parts(struct base_jsonout *j, const struct view_summary *s)
{
	base_json_array(j, "runs");
	for (size_t i = 0; i < s->parts; i++)
		put_part(j, &s->part[i]);
	base_json_end(j);
}

static void put_attempts(struct base_jsonout *j, const struct ana_result *r)
{
	base_json_array(j, "attempts");
	for (size_t i = 0; i < r->attempts; i++) {
		const struct ana_attempt *a = &r->attempt[i];

		base_json_flat_object(j, NULL);
		base_json_int(j, "restart", a->restart);
		base_json_int(j, "start_ns", a->start_ns);
		base_json_int(j, "end_ns", a->end_ns);
		base_json_bool(j, "open", a->open);
		base_json_uint(j, "gpus", a->gpus);
		base_json_int(j, "gpu_ns", a->held_ns);
		base_json_end(j);
	}
	base_json_end(j);
}

void summary_put_job(struct base_jsonout *j, const struct view_summary *s)
{
	base_json_string(j, "user", s->user);
	if (!view_job_known(&s->job)) {
		base_json_null(j, "slurm");
		if (s->parts)
			put_parts(j, s);
		return;
	}
	base_json_object(j, "slurm");
	view_job_put_text(j, &s->job, VIEW_JOB_CLUSTER);
	view_job_put_number(j, &s->job, VIEW_JOB_ID);
	view_job_put_number(j, &s->job, VIEW_JOB_RESTART);
	view_job_put_number(j, &s->job, VIEW_JOB_ARRAY);
	view_job_put_number(j, &s->job, VIEW_JOB_ARRAY_TASK);
	base_json_flat_array(j, "steps");
	for (size_t i = 0; i < s->steps; i++)
		base_json_string(j, NULL, s->step[i]);
	base_json_end(j);
	view_job_put_text(j, &s->job, VIEW_JOB_NAME);
	view_job_put_number(j, &s->job, VIEW_JOB_UID);
	view_job_put_text(j, &s->job, VIEW_JOB_ACCOUNT);
	view_job_put_text(j, &s->job, VIEW_JOB_PARTITION);
	view_job_put_text(j, &s->job, VIEW_JOB_QOS);
	view_job_put_text(j, &s->job, VIEW_JOB_NODES);
	if (s->parts)
		base_json_bool(j, "runs_apart", s->result->runs_apart);
	put_parts(j, s);
	put_attempts(j, s->result);
	base_json_end(j);
}

static void read_parts(struct view_summary *s, const struct base_json *runs)
{
	int64_t status;

	s->part = base_arena_array(&s->mem, base_json_count(runs), sizeof(*s->part));
	BASE_JSON_EACH(n, runs) {
		struct view_job_part *p = &s->part[s->parts++];

		p->id = summary_text_or_empty(s, n, "id");
		p->step = summary_text(s, n, "step");
		p->restart = summary_within(n, "restart", -1, -1, VIEW_JOB_NUMBER_MAX);
		p->start_unix_ns = summary_stamp(n, "start_unix_ns");
		p->wall_ns = summary_span(n, "wall_ns");
		p->has_exit_status = base_json_to_int(base_json_get(n, "exit_status"), &status);
		p->exit_status = p->has_exit_status ? (int)status : 0;
	}
}

static void read_attempts(struct view_summary *s, const struct base_json *attempts)
{
	struct ana_result *r = s->result;

	r->attempt = base_arena_array(&s->mem, base_json_count(attempts), sizeof(*r->attempt));
	BASE_JSON_EACH(n, attempts)
		r->attempt[r->attempts++] = (struct ana_attempt){
			.restart = summary_within(n, "restart", 0, 0, VIEW_JOB_NUMBER_MAX),
			.start_ns = summary_stamp(n, "start_ns"),
			.end_ns = summary_stamp(n, "end_ns"),
			.held_ns = summary_total(n, "gpu_ns"),
			.gpus = summary_u32(n, "gpus"),
			.open = base_json_get_bool(n, "open", false),
		};
}

void summary_read_job(struct view_summary *s, const struct base_json *run)
{
	const struct base_json *slurm = base_json_get(run, "slurm");
	const struct base_json *steps = base_json_get(slurm, "steps");

	s->user = summary_text(s, run, "user");
	view_job_from_json(&s->job, slurm);
	s->step = base_arena_array(&s->mem, base_json_count(steps), sizeof(*s->step));
	BASE_JSON_EACH(n, steps)
		if (n->type == BASE_JSON_STRING)
			s->step[s->steps++] = n->text;
	read_parts(s, base_json_get(view_job_known(&s->job) ? slurm : run, "runs"));
	read_attempts(s, base_json_get(slurm, "attempts"));
	s->result->runs_apart = base_json_get_bool(slurm, "runs_apart", false);
}
