/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/evidence/gradients.h"
#include "analysis/evidence/trains.h"
#include "core/log.h"
#include "core/progress.h"
#include "parts_file.h"
#include "trace/newest.h"
#include "trace/remote.h"
#include "trace/runjson.h"

#define TIMELINE_BUCKETS 240
#define TOP_GAPS 20

static const char *remedy(int err)
{
	switch (err) {
	case -ENOENT:
		return "name a run directory, such as gpustarve-runs/<run id>.gst";
	case -EACCES:
	case -EPERM:
		return "ask its owner for read access";
	case -ENODATA:
		return "name the folder that `gpustarve run` printed";
	case -EBADMSG:
		return "restore it from a copy, or record the run again";
	default:
		return "see gpustarve-report(1)";
	}
}

/* The folder of runs in the place of one of them, or a run's id without the folder. */
static bool say_what_was_meant(const char *path)
{
	char run[PATH_MAX];

	if (view_newest_run(path, run, sizeof(run))) {
		view_error("%s: it is a folder of runs; name one of them, the newest is %s", path,
			   run);
		return true;
	}
	for (int i = 0; i < 2 && !strchr(path, '/'); i++) {
		int n = snprintf(run, sizeof(run), "%s/%s%s", view_runs_folder(), path,
				 i ? ".gst" : "");
		if (n < (int)sizeof(run) && view_last_written(run) >= 0) {
			view_error("%s: no such file or directory; did you mean %s?", path, run);
			return true;
		}
	}
	return false;
}

static void say_no_gpu(const char *path)
{
	view_error("%s: the job never touched a GPU, as far as was seen, so there is nothing to "
		   "report; gpustarve loader measures, without a GPU, what its loader can feed",
		   path);
}

/* It used CUDA, but nothing could be recorded: libprof left a note that says why. */
static bool say_no_records(const struct view_trace *t, const char *path)
{
	for (size_t i = 0; i < t->streams; i++) {
		const Wire__Hello *h = t->stream[i].hello;

		for (size_t k = 0; h && k < h->n_notes; k++) {
			if (!strstr(h->notes[k], "no GPU record is written"))
				continue;
			view_error("%s: %s", path, h->notes[k]);
			return true;
		}
	}
	return false;
}

/* The rates that an earlier summary used, GPU by GPU; a GPU it did not know has none. */
static struct view_rate *fixed_rates(const struct view_cost *c, size_t gpus)
{
	struct view_rate *rate = calloc(gpus ? gpus : 1, sizeof(*rate));

	for (size_t i = 0; rate && i < gpus; i++) {
		if (i < c->gpus)
			rate[i] = c->rate[i];
		else
			rate[i].fraction_num = rate[i].fraction_den = 1;
	}
	return rate;
}

/* A price given to `gpustarve run` stays with the run; one given now comes before it. */
static int find_rates(const struct view_trace *t, const struct ana_result *r,
		      const struct view_analysis *o, struct view_rate **rate)
{
	struct view_rate_options ro = o->rates;
	struct view_run_price kept;

	if (o->fixed) {
		*rate = fixed_rates(o->fixed, r->gpus);
		return *rate ? 0 : -ENOMEM;
	}
	kept.price[0] = kept.model[0] = '\0';
	for (size_t i = 0; i < t->parts && !kept.price[0] && !kept.model[0]; i++)
		view_run_price_read(t->part[i].path, &kept);
	if (!ro.price && !ro.model) {
		ro.price = kept.price[0] ? kept.price : NULL;
		ro.model = kept.model[0] ? kept.model : NULL;
		ro.price_from = kept.from;
	}
	return view_rates_find(r, t, &ro, rate);
}

static void was_read(void *progress, uint64_t bytes)
{
	view_progress_add(progress, bytes);
}

/* @p, NULL: nobody, sees how much of the trace is read; it must live until it is nobody again. */
static void watch(struct view_trace *t, struct view_progress *p)
{
	t->on_read = p ? was_read : NULL;
	t->on_read_arg = p;
}

static int watched_run(struct view_trace *t, const char *path, const struct view_analysis *o,
		       const struct ana_options *ao, struct ana_result **r)
{
	struct view_progress progress;

	view_progress_begin(&progress, "analysing", !o->progress);
	progress.name = path;
	progress.total = view_trace_bytes(t);
	watch(t, &progress);
	int err = ana_run(t, ao, r);

	if (!err && !ao->held_only)
		err = ana_trains_find(t, *r);
	if (!err && !ao->held_only)
		err = ana_gradients_find(t, *r);
	watch(t, NULL);
	view_progress_end(&progress);
	return err;
}

static int engine(struct view_trace *t, const char *path, const struct view_analysis *o,
		  struct ana_result **r)
{
	struct ana_options ao = { .window = o->window,
				  .timeline_buckets = TIMELINE_BUCKETS,
				  .top_gaps = TOP_GAPS,
				  .series = o->series,
				  .held_only = o->held_only,
				  .keep_every = o->keep_every,
				  .on_step = o->on_step,
				  .arg = o->arg };
	struct view_parts_file *parts = o->keep ? view_parts_file_open(path) : NULL;

	if (parts)
		ao.keeper = view_parts_file_keeper(parts);
	else
		ao.keeper = o->keeper;
	int err = watched_run(t, path, o, &ao, r);

	view_parts_file_close(parts);
	if (err == -ENODATA && say_no_records(t, path))
		return -EBADMSG;
	if (err == -ENODATA && !o->quiet_when_empty)
		say_no_gpu(path);
	else if (err && err != -ENODATA)
		view_error("%s: analysis failed: %s; %s", path, strerror(-err), remedy(err));
	return err;
}

int view_analyse(const char *path, const struct view_analysis *o, struct view_summary **s)
{
	struct view_summary_options so = { .window = o->window, .waste = o->waste };
	struct view_trace *t = NULL;
	struct view_rate *rate = NULL;
	struct ana_result *r = NULL;
	const char *why = NULL;
	int err = o->job ? view_trace_open_job(&t, o->job, &why) : view_trace_open(&t, path, &why);

	if (err) {
		if (!o->job && view_is_remote(path))
			view_error("%s: %s", path, why ? why : strerror(-err));
		else if (o->job || !say_what_was_meant(path))
			view_error("%s: %s; %s", path, why ? why : strerror(-err),
				   o->remedy ? o->remedy : remedy(err));
		/* A folder with nothing of ours is not a job without a GPU. */
		return err == -ENODATA ? -EBADMSG : err;
	}
	if (o->on_trace)
		o->on_trace(o->arg, t);
	err = engine(t, path, o, &r);
	if (view_trace_trouble(t)) {
		view_error("%s: %s; try again", path, view_trace_trouble(t));
		err = -EIO;
	}
	if (!err)
		err = find_rates(t, r, o, &rate);
	if (!err) {
		err = view_summary_make(s, r, t, rate, &so);
		if (!err)
			(*s)->no_projection = o->no_projection;
		r = NULL;
		rate = NULL;
	}
	if (r)
		ana_result_free(r);
	free(rate);
	view_trace_close(t);
	return err;
}
