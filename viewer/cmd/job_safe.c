/* SPDX-License-Identifier: Apache-2.0 */
/* Each of its runs is looked at once, as `top` does; what a stop would lose is their sum. */
#include "job_safe.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/units.h"
#include "cmd.h"
#include "core/log.h"
#include "job/ask.h"
#include "live/condition.h"
#include "saves/insurance.h"
#include "summary/analyse.h"
#include "top/source.h"

#define LOSS "1m" /* of each GPU that may be lost, unless --lose says otherwise */

struct found { /* sums over the runs that go on */
	size_t on, untold; /* runs; those of which it is not known what would be lost */
	int64_t ns, most_ns, nano_usd; /* of all GPUs; of one; dollars */
	bool priced, unsaved, saving; /* unsaved: some run has no checkpoint */
	char grade; /* of the worst run; 0: none */
};

/* --lose as a condition of what is too much. */
static bool parse_loss(const char *text, struct live_condition *c)
{
	struct live_condition_error e;
	char condition[LIVE_CONDITION_BYTES];

	snprintf(condition, sizeof(condition), "%s>%.64s",
		 *text == '$' ? "unsaved_usd" : "unsaved_for", text);
	return !live_condition_parse(c, condition, &e) && !c->for_ns;
}

bool view_job_good_loss(const char *text)
{
	struct live_condition c;

	if (parse_loss(text, &c))
		return true;
	view_error("--lose %s: give a time of each GPU such as 90s, or dollars such as $2", text);
	return false;
}

/* A trace that can be judged at once has a grade. */
static char grade_of(const char *dir, const struct view_rate_options *rates)
{
	struct view_analysis a = { .window = ANA_WINDOW_JOB,
				   .rates = *rates,
				   .quiet_when_empty = true };
	struct view_summary *s = NULL;
	char grade = 0;

	if (!top_small_trace(dir) || view_analyse(dir, &a, &s))
		return 0;
	if (s->saves)
		grade = s->saves->grade;
	view_summary_free(s);
	return grade;
}

static void add_run(struct found *f, const struct top_snapshot *l)
{
	const struct live_totals *t = &l->totals;

	if (l->over || !t->alive)
		return;
	f->priced = t->priced && (!f->on || f->priced);
	f->on++;
	f->saving |= t->saving;
	if (t->unsaved_ns < 0) {
		f->untold++;
		return;
	}
	f->unsaved |= !t->saved;
	f->ns += t->unsaved_ns;
	f->most_ns = base_max(f->most_ns, t->unsaved_for_ns);
	f->nano_usd += t->unsaved_nano_usd;
}

/* False: it cannot be looked at, which was said. */
static bool look(struct found *f, const char *what, const struct view_job_choice *o)
{
	struct top_source_options options = {
		.what = what, .token_file = o->token_file, .ca_file = o->ca_file, .rates = o->rates
	};
	struct top_source *s = top_source_open(&options);
	struct top_snapshot l = { 0 };
	bool ok = s && !s->fetch(s, &l);
	size_t on = f->on;

	if (ok)
		add_run(f, &l);
	if (s && f->on > on && !strstr(what, "://"))
		f->grade = (char)base_max(f->grade, grade_of(what, &o->rates));
	top_snapshot_fini(&l);
	if (s)
		s->free(s);
	return ok;
}

static bool look_at_job(struct found *f, const char *id, const struct view_job_choice *o)
{
	struct view_jobs jobs;
	struct view_job *job = view_job_or_say(&jobs, o->dir, id, o->cluster);
	bool ok = job != NULL;

	for (size_t i = 0; ok && i < job->runs; i++)
		ok = look(f, job->run[i], o);
	view_jobs_fini(&jobs);
	return ok;
}

static bool is_folder(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static bool look_at_all(struct found *f, const char *id, const struct view_job_choice *o)
{
	char path[PATH_MAX];

	if (strstr(id, "://") || (strchr(id, '/') && is_folder(id)))
		return look(f, id, o);
	if (!strchr(id, '/') &&
	    snprintf(path, sizeof(path), "%s/%s.gst", view_job_out(o->dir), id) <
		    (int)sizeof(path) &&
	    is_folder(path))
		return look(f, path, o);
	return look_at_job(f, id, o);
}

static bool too_much(const struct found *f, const struct live_condition *c)
{
	return c->metric == LIVE_UNSAVED_USD ? f->nano_usd > c->value : f->most_ns > c->value;
}

static void put_loss(const struct found *f)
{
	base_unit all, most, usd;

	printf("%s of GPU time", base_duration(all, f->ns));
	if (f->priced)
		printf(" (%s)", base_money_ascii(usd, f->nano_usd));
	printf(", %s of one GPU", base_duration(most, f->most_ns));
	if (f->unsaved)
		printf("; no checkpoint is there");
	if (f->saving)
		printf("; a save is under way");
	if (f->grade)
		printf("; spot grade %c (%s)", f->grade, SAVES_GRADE_RULE);
	putchar('\n');
}

static int tell(const struct found *f, const char *id, const struct live_condition *c)
{
	bool costs = too_much(f, c);

	if (!f->on) {
		printf("%s: safe to stop: nothing of it holds a GPU\n", id);
		return VIEW_EXIT_OK;
	}
	if (f->untold) {
		printf("%s: not known: not all saves of it were read; ask again after the next "
		       "one\n",
		       id);
		return VIEW_EXIT_ERROR;
	}
	if (c->metric == LIVE_UNSAVED_USD && !f->priced) {
		printf("%s: not known: no price is known; give --price USD, or --lose a time\n", id);
		return VIEW_EXIT_ERROR;
	}
	printf("%s: %s ", id, costs ? "a stop now loses" : "safe to stop: it loses");
	put_loss(f);
	return costs ? VIEW_EXIT_COSTS : VIEW_EXIT_OK;
}

int view_job_stop(const char *id, const struct view_job_choice *o)
{
	struct live_condition loss;
	struct found f = { 0 };

	if (!parse_loss(o->lose ? o->lose : LOSS, &loss) || !look_at_all(&f, id, o))
		return VIEW_EXIT_ERROR;
	return tell(&f, id, &loss);
}
