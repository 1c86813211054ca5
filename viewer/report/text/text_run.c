/* SPDX-License-Identifier: Apache-2.0 */
/* Which run it was: command, kind, job, restarts, labels, alerts, GPUs. */
#include <inttypes.h>
#include <string.h>
#include "base/units.h"
#include "text_priv.h"

#define ATTEMPTS_SHOWN 8
#define ENDS_SHOWN 8

static bool name_seen(const struct ana_result *r, size_t upto)
{
	for (size_t i = 0; i < upto; i++)
		if (!strcmp(r->gpu[i].name, r->gpu[upto].name))
			return true;
	return false;
}

const char *view_text_gpus(const struct view_summary *s, struct base_arena *mem)
{
	const struct ana_result *r = s->result;
	const char *all = "";

	for (size_t i = 0; i < r->gpus; i++) {
		size_t n = 0;
		base_unit count;
		if (name_seen(r, i))
			continue;
		for (size_t k = i; k < r->gpus; k++)
			n += !strcmp(r->gpu[k].name, r->gpu[i].name);
		all = base_arena_printf(mem, "%s%s%sx %s", all, *all ? " + " : "",
					base_count(count, n),
					r->gpu[i].name[0] ? r->gpu[i].name : "GPU");
	}
	return all;
}

static const char *add_fact(struct base_arena *mem, const char *all, const char *what,
			    const char *text)
{
	return text ? base_arena_printf(mem, "%s, %s %s", all, what, text) : all;
}

/* "4711 train on c1, user anna, account ml, ...": the scheduler's job, which must be known. */
static const char *job_line(const struct view_summary *s, struct base_arena *mem)
{
	const int64_t *n = s->job.number;
	const char *const *t = s->job.text;
	const char *all = base_arena_printf(mem, "%" PRId64, n[VIEW_JOB_ID]);

	if (n[VIEW_JOB_ARRAY] >= 0 && n[VIEW_JOB_ARRAY_TASK] >= 0)
		all = base_arena_printf(mem, "%s (%" PRId64 "_%" PRId64 ")", all, n[VIEW_JOB_ARRAY],
					n[VIEW_JOB_ARRAY_TASK]);
	if (t[VIEW_JOB_NAME])
		all = base_arena_printf(mem, "%s %s", all, t[VIEW_JOB_NAME]);
	if (t[VIEW_JOB_CLUSTER])
		all = base_arena_printf(mem, "%s on %s", all, t[VIEW_JOB_CLUSTER]);
	all = add_fact(mem, all, "user", s->user);
	all = add_fact(mem, all, "account", t[VIEW_JOB_ACCOUNT]);
	all = add_fact(mem, all, "partition", t[VIEW_JOB_PARTITION]);
	all = add_fact(mem, all, "qos", t[VIEW_JOB_QOS]);
	for (size_t i = 0; i < s->steps; i++)
		all = base_arena_printf(mem, "%s%s%s", all,
					i	       ? ", "
					: s->steps > 1 ? ", steps "
						       : ", step ",
					s->step[i]);
	if (n[VIEW_JOB_RESTART] > 0)
		all = base_arena_printf(mem, "%s, requeued %" PRId64 " time%s", all,
					n[VIEW_JOB_RESTART], n[VIEW_JOB_RESTART] == 1 ? "" : "s");
	return add_fact(mem, all, "nodes", t[VIEW_JOB_NODES]);
}

/* What became of an alert's command, if that is worth a word. */
static const char *exec_words(struct page *p, const struct view_alert *a)
{
	if (a->exec_status > 0)
		return base_arena_printf(&p->mem, "; its command ended with %d", a->exec_status);
	return "";
}

/* A requeued job held its GPUs several times. */
static void put_attempts(struct page *p)
{
	const struct ana_result *r = p->s->result;
	base_unit began, lasted, gpu_time;

	if (r->attempts < 2)
		return;
	for (size_t i = 0; i < r->attempts && i < ATTEMPTS_SHOWN; i++) {
		const struct ana_attempt *a = &r->attempt[i];

		fprintf(p->f, "  restart %" PRId64 ": ", a->restart);
		text_wrap(p, 13, 13,
			  base_arena_printf(&p->mem, "%s, %s, %" PRIu32 " GPU%s, %s of GPU time%s",
					    base_moment(began, a->start_ns),
					    base_duration(lasted, a->end_ns - a->start_ns), a->gpus,
					    a->gpus == 1 ? "" : "s",
					    base_duration(gpu_time, a->held_ns),
					    a->open ? ", still running" : ""));
	}
	if (r->attempts > ATTEMPTS_SHOWN)
		fprintf(p->f, "  and %zu further restarts\n", r->attempts - ATTEMPTS_SHOWN);
}

/* "137 (signal 9)": a shell's word for an end by a signal; "not known". */
static const char *part_end(const struct view_job_part *p, struct base_arena *mem)
{
	if (!p->has_exit_status)
		return "not known";
	if (p->exit_status > 128 && p->exit_status <= 128 + 64)
		return base_arena_printf(mem, "%d (signal %d)", p->exit_status,
					 p->exit_status - 128);
	return base_arena_printf(mem, "%d", p->exit_status);
}

/* How it ended: of joined runs each, as they began, the last ones where there are many. */
static const char *end_words(const struct view_summary *s, struct base_arena *mem)
{
	size_t from = s->parts > ENDS_SHOWN ? s->parts - ENDS_SHOWN : 0;
	const char *all =
		from ? base_arena_printf(mem, "of %zu runs the last %d: ", s->parts, ENDS_SHOWN)
		     : "";

	if (s->parts < 2)
		return s->has_exit_status ? base_arena_printf(mem, "%d", s->exit_status) : "";
	for (size_t i = from; i < s->parts; i++)
		all = base_arena_printf(mem, "%s%s%s", all, i > from ? ", then " : "",
					part_end(&s->part[i], mem));
	return all;
}

/* "training: steps of an optimizer, kernels of backward passes" */
static const char *kind_words(const struct view_kind *k, struct base_arena *mem)
{
	const char *all = facts_run_kinds[k->kind];

	for (size_t i = 0; i < k->signs; i++)
		all = base_arena_printf(mem, "%s%s%s", all, i ? ", " : ": ",
					facts_run_sign_words[k->sign[i]]);
	if (k->kind == FACTS_RUN_UNKNOWN)
		all = base_arena_printf(mem, "%s; called %s here", all, view_work_word(k));
	return all;
}

void text_identity(struct page *p)
{
	const struct view_summary *s = p->s;
	const char *command = "", *ends;
	base_unit when;

	for (size_t i = 0; i < s->commands; i++)
		command =
			base_arena_printf(&p->mem, "%s%s%s", command, i ? " " : "", s->command[i]);
	fputs("\nrun ", p->f);
	text_wrap(p, 4, 4,
		  base_arena_printf(&p->mem, "%s, %s%s", s->id, base_moment(when, s->start_unix_ns),
				    s->window == ANA_WINDOW_DEVICE ? ", window: device" : ""));
	if (*command) {
		fputs("  command: ", p->f);
		text_wrap(p, 11, 11, command);
	}
	ends = end_words(s, &p->mem);
	if (*ends) {
		fputs("  exit status: ", p->f);
		text_wrap(p, 15, 15, ends);
	}
	fputs("  kind: ", p->f);
	text_wrap(p, 8, 8, kind_words(&s->kind, &p->mem));
	if (view_job_known(&s->job)) {
		fputs("  job: ", p->f);
		text_wrap(p, 7, 7, job_line(s, &p->mem));
	}
	put_attempts(p);
	for (size_t i = 0; i < s->labels; i++) {
		fputs("  label: ", p->f);
		text_wrap(p, 9, 9,
			  base_arena_printf(&p->mem, "%s=%s", s->label[i].key, s->label[i].value));
	}
	for (size_t i = 0; i < s->alerts; i++) {
		const struct view_alert *a = &s->alert[i];
		fputs("  alert: ", p->f);
		text_wrap(p, 9, 9,
			  base_arena_printf(&p->mem, "%s, %s%s", base_moment(when, a->t_unix_ns),
					    a->text, exec_words(p, a)));
	}
}
