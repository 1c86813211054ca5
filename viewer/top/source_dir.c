/* SPDX-License-Identifier: Apache-2.0 */
/* A run directory, followed as it grows. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/units.h"
#include "core/log.h"
#include "findings/lead.h"
#include "findings/unused.h"
#include "live/hook.h"
#include "run/follow.h"
#include "run/serving.h"
#include "source.h"
#include "summary/analyse.h"
#include "trace/newest.h"
#include "trace/runjson.h"

struct source_dir {
	struct top_source source;
	struct view_follow follow;
	struct view_run_price price;
	struct view_rate_options rates;
	struct view_summary *made; /* by us, of a run without a summary; NULL: none */
	bool looked; /* there was a first look */
	bool asks; /* whether it is inference */
	struct view_serving serving;
	char dir[PATH_MAX];
};

/* Beside a collector's socket: its number, and in a second line where its runs go. */
static bool base_of_socket(const char *socket, char *out, size_t room)
{
	char path[PATH_MAX];
	FILE *f = NULL;
	bool ok;

	if (snprintf(path, sizeof(path), "%s.pid", socket) < (int)sizeof(path))
		f = fopen(path, "re");
	ok = f && fgets(out, (int)room, f) && fgets(out, (int)room, f);
	if (f)
		fclose(f);
	if (ok)
		out[strcspn(out, "\n")] = '\0';
	if (ok && out[0] == '/')
		return true;
	view_error("%s: no collector's file says where its runs go; give that folder instead",
		   path);
	return false;
}

static bool find(const struct top_source_options *o, char *dir, size_t room)
{
	const char *base = o->what ? o->what : view_runs_folder();
	char folder[PATH_MAX];

	if (o->what && !strncmp(o->what, "unix:", 5)) {
		if (!base_of_socket(o->what + 5, folder, sizeof(folder)))
			return false;
		base = folder;
	}
	if (o->run) {
		if (snprintf(dir, room, "%s/%s.gst", base, o->run) >= (int)room)
			dir[0] = '\0';
		if (!strchr(o->run, '/') && view_last_written(dir) >= 0)
			return true;
	} else if (view_last_written(base) >= 0) {
		snprintf(dir, room, "%s", base);
		return true;
	} else if (view_newest_run(base, dir, room)) {
		return true;
	}
	view_error("%s: no run with a trace is there; give a run directory, a folder of them, or "
		   "a collector's address",
		   base);
	return false;
}

static void take_alert(void *arg, const struct live_fired *f)
{
	top_take_alert(arg, f);
}

static void take_judgement(struct top_snapshot *l, const struct view_summary *sum)
{
	struct view_lead lead = view_lead_of(sum);
	struct base_arena mem = { 0 };

	l->judged = true;
	l->judged_priced = sum->cost.known;
	top_tame(l->verdict, sizeof(l->verdict), view_verdict_words(sum, &mem));
	if (lead.known)
		top_tame(l->lead, sizeof(l->lead), view_lead_words(&lead, &mem));
	l->judged_nano_usd = sum->cost.total;
	base_arena_fini(&mem);
}

/*
 * Of a run that is over. Its trace may be judged while somebody looks on; that of one which was
 * over before, and has no summary, is judged here, so that it is told as its report would.
 */
static void read_judgement(struct source_dir *s, struct top_snapshot *l)
{
	struct view_analysis a = { .window = ANA_WINDOW_JOB,
				   .rates = s->rates,
				   .quiet_when_empty = true };
	struct view_summary *sum = NULL;
	char path[PATH_MAX];
	const char *why;

	if (snprintf(path, sizeof(path), "%s/summary.json", s->dir) < (int)sizeof(path) &&
	    !view_summary_read(&sum, path, &why)) {
		take_judgement(l, sum);
		view_summary_free(sum);
		return;
	}
	if (!s->looked && view_small_trace(s->dir) && view_analyse(s->dir, &a, &s->made))
		s->made = NULL;
	if (s->made)
		take_judgement(l, s->made);
}

/* Of inference a kill loses no work. */
static void leave_unsaved(struct source_dir *s, struct top_snapshot *l)
{
	l->totals.serving = s->asks && !l->over && l->totals.unsaved_ns > 0 &&
			    view_serving_look(&s->serving, &s->follow);
	for (size_t i = 0; l->totals.serving && i < l->rows; i++)
		l->row[i].unsaved_ns = -1;
}

static int fetch_snapshot(struct top_source *source, struct top_snapshot *l)
{
	struct source_dir *s = (struct source_dir *)source;
	const char *slash = strrchr(s->dir, '/');

	*l = (struct top_snapshot){ 0 };
	view_follow_look(&s->follow);
	l->totals = s->follow.totals;
	top_tame(l->run, sizeof(l->run), slash && slash[1] ? slash + 1 : s->dir);
	size_t len = strlen(l->run);
	if (len > 4 && !strcmp(l->run + len - 4, ".gst"))
		l->run[len - 4] = '\0';
	top_take_run(l, &s->follow.tail.run, s->follow.when.now_ns);
	live_alerts_each_anywhere(s->dir, take_alert, l);
	/* A trace without pulses, such as an import: over once nothing more is written. */
	if (!l->rows)
		l->over = s->follow.when.wall_ns - view_last_written(s->dir) > LIVE_SILENT_NS;
	top_snapshot_close(l);
	leave_unsaved(s, l);
	l->exit_status = l->over ? view_run_exit_read(s->dir) : -1;
	if (l->over)
		read_judgement(s, l);
	s->looked = true;
	return 0;
}

static void source_free(struct top_source *source)
{
	struct source_dir *s = (struct source_dir *)source;

	view_follow_fini(&s->follow);
	view_summary_free(s->made);
	free(s);
}

static struct top_source *open_dir(const struct top_source_options *o)
{
	struct source_dir *s = calloc(1, sizeof(*s));
	struct view_rate_options rates = o->rates;

	if (!s || !find(o, s->dir, sizeof(s->dir))) {
		free(s);
		return NULL;
	}
	for (size_t n = strlen(s->dir); n > 1 && s->dir[n - 1] == '/'; n--)
		s->dir[n - 1] = '\0';
	/* As its report will: the price given to `run` holds, unless another is given here. */
	view_run_price_read(s->dir, &s->price);
	if (!rates.price && s->price.price[0]) {
		rates.price = s->price.price;
		rates.price_from = s->price.from;
	}
	if (!rates.model && s->price.model[0])
		rates.model = s->price.model;
	s->rates = rates;
	s->asks = o->kind;
	s->source = (struct top_source){ fetch_snapshot, source_free };
	if (!view_follow_init(&s->follow, s->dir, &rates))
		return &s->source;
	view_error("top: out of memory; end some processes");
	free(s);
	return NULL;
}

struct top_source *top_source_open(const struct top_source_options *o)
{
	if (o->store)
		return top_source_store(o);
	if (o->what && (!strncmp(o->what, "http://", 7) || !strncmp(o->what, "https://", 8)))
		return top_source_http(o);
	return open_dir(o);
}
