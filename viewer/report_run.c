/* SPDX-License-Identifier: Apache-2.0 */
#include "report_run.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "analyse.h"
#include "html.h"
#include "log.h"
#include "slurp.h"
#include "text.h"

#define OTHERS_SECONDS 10

typedef void page_writer(const struct view_summary *s, FILE *f);

static int save_page(const char *dir, const char *name, const struct view_summary *s,
		     page_writer *write_page)
{
	char *path = NULL, *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	int err = -ENOMEM;

	if (!f)
		goto out;
	write_page(s, f);
	if (fclose(f) || asprintf(&path, "%s/%s", dir, name) < 0)
		goto free_text;
	err = view_write_atomic(path, text, len);
	if (err)
		view_error("%s: %s; free some space and run gpustarve report", path,
			   strerror(-err));
	free(path);
free_text:
	free(text);
out:
	return err;
}

/* One write, so that it stands together even if others write to the terminal too. */
static void print_verdict(const struct view_summary *s, const char *report)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return;
	view_text_verdict(s, f, view_text_colour(stderr), report);
	if (!fclose(f))
		fwrite(text, 1, len, stderr);
	free(text);
}

static bool is_stream(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && (!strcmp(dot, ".gst") || !strcmp(dot, ".spool"));
}

bool view_run_has_streams(const char *dir)
{
	DIR *d = opendir(dir);
	bool any = false;

	for (struct dirent *e; d && !any && (e = readdir(d));)
		any = is_stream(e->d_name);
	if (d)
		closedir(d);
	return any;
}

/* A stream of a process that may still write: no last word, and nobody can tell it is dead. */
static bool goes_on(const struct view_stream *s, const char *here)
{
	if (s->bye || !s->hello)
		return false;
	if (strcmp(s->hello->host, here) != 0)
		return true;
	return !kill((pid_t)s->hello->pid, 0) || errno == EPERM;
}

static bool others_go_on(const char *dir, const char *here)
{
	struct view_trace *t = NULL;
	const char *why;
	bool any = false;

	if (view_trace_open(&t, dir, &why))
		return false;
	for (size_t i = 0; i < t->streams; i++)
		any |= goes_on(&t->stream[i], here);
	view_trace_close(t);
	return any;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/*
 * Ranks under other wrappers end at about the same time; they get a while. Opening a large trace
 * takes long itself, so the time counts, not the tries.
 */
static void wait_for_others(const char *dir)
{
	struct timespec nap = { .tv_nsec = 200000000 };
	int64_t until = now_ms() + OTHERS_SECONDS * 1000;
	char here[256] = "";

	gethostname(here, sizeof(here) - 1);
	while (now_ms() < until && others_go_on(dir, here))
		nanosleep(&nap, NULL);
}

int view_run_report(const struct view_run_report *o)
{
	struct view_analysis a = { .window = ANA_WINDOW_JOB,
				   .rates = o->rates,
				   .quiet_when_empty = true };
	struct view_summary *s;
	char *report = NULL;
	wait_for_others(o->dir);
	int err = view_analyse(o->dir, &a, &s);

	if (err == -ENODATA && !o->quiet)
		view_note("the job never touched a GPU: there is nothing to report");
	if (err)
		return 1;
	save_page(o->dir, "summary.json", s, view_summary_write);
	err = save_page(o->dir, "report.html", s, view_html_write);
	if (!o->quiet && asprintf(&report, "%s/%s", o->shown, err ? "" : "report.html") >= 0)
		print_verdict(s, report);
	free(report);
	view_summary_free(s);
	return err ? 1 : 0;
}
