/* SPDX-License-Identifier: Apache-2.0 */
/* A run that goes on, looked at now and then until it has taken the steps that were asked for. */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/minmax.h"
#include "check_base.h"
#include "trace/runjson.h"

#define SHARE 20 /* waited so many times as long as a look takes: a twentieth of a core at most */
#define LEAST_S 1
#define MOST_S 300
#define SILENT_S 600

static int64_t now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static bool goes_on(const struct check_run *run, const struct view_summary *s)
{
	return !run->complete && view_run_exit_read(s->path) < 0;
}

static bool is_trace(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && dot > name && (!strcmp(dot, ".gst") || !strcmp(dot, ".spool"));
}

/* A folder in which nothing is yet: the run has only just begun. */
static bool is_empty(const char *path)
{
	DIR *d = opendir(path);
	const struct dirent *e;
	bool empty = d != NULL;

	while (d && empty && (e = readdir(d)))
		empty = !is_trace(e->d_name);
	if (d)
		closedir(d);
	return empty;
}

static void await_trace(const struct check_opts *o, const char *path)
{
	int64_t begun = now_s();

	while (o->at_step && is_empty(path) && view_run_exit_read(path) < 0 &&
	       now_s() - begun <= SILENT_S)
		sleep(LEAST_S);
}

/* 1: it is to be looked at again, 0: it is as it is to be judged; or negative errno. */
static int look(const struct check_opts *o, const char *path, struct base_arena *mem,
		struct check_run *run, struct view_summary **s)
{
	struct check_opts quiet = *o;
	int err;

	quiet.analysis.quiet_when_empty = o->at_step > 0;
	err = check_load_run(&quiet, path, mem, run, s);
	if (err == -ENODATA && o->at_step) /* it has not touched a GPU yet, or never did */
		return view_run_exit_read(path) < 0 ? 1 : check_load_run(o, path, mem, run, s);
	if (err)
		return err;
	return run->series.steps < o->at_step && goes_on(run, *s);
}

int check_await_run(const struct check_opts *o, const char *path, struct base_arena *mem,
		    struct check_run *run, struct view_summary **keep_summary)
{
	int64_t known_ns = -1, heard = now_s();
	int again;

	await_trace(o, path);
	for (;;) {
		int64_t begun = now_s(), took;

		again = look(o, path, mem, run, keep_summary);
		if (again <= 0)
			break;
		if (run->gpu_ns != known_ns)
			heard = now_s();
		known_ns = run->gpu_ns;
		if (now_s() - heard > SILENT_S)
			break;
		check_run_fini(run);
		if (*keep_summary)
			view_summary_free(*keep_summary);
		*keep_summary = NULL;
		took = now_s() - begun;
		sleep((unsigned int)base_clamp(took * SHARE, LEAST_S, MOST_S));
	}
	if (again > 0 && !*keep_summary) /* it says nothing, and never touched a GPU */
		again = check_load_run(o, path, mem, run, keep_summary);
	if (again >= 0 && o->at_step)
		check_series_cut(&run->series, o->at_step);
	return (int)base_min(again, 0);
}
