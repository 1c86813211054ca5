/* SPDX-License-Identifier: Apache-2.0 */
#include "report_run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "summary/analyse.h"
#include "findings/own_line.h"
#include "report/html/html.h"
#include "core/browser.h"
#include "core/log.h"
#include "others.h"
#include "base/files.h"
#include "report/text/text.h"

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
	err = base_file_write(path, text, len);
	free(path);
free_text:
	free(text);
out:
	return err;
}

/* Both, or one line for what failed first: a full disk rarely takes the other one. */
static int save_pages(const struct view_run_report *o, const struct view_summary *s)
{
	int json = save_page(o->dir, "summary.json", s, view_summary_write);
	int html = save_page(o->dir, "report.html", s, view_html_write);
	int err = json ? json : html;

	if (err && !o->told)
		view_error("%s/%s: %s; free some space and run gpustarve report", o->shown,
			   json ? "summary.json" : "report.html", strerror(-err));
	return html;
}

/* One write, so that it stands together even if others write to the terminal too. */
static void print_verdict(const struct view_summary *s, const char *report)
{
	struct view_text_style style = view_text_style_of(stderr);
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return;
	view_text_verdict(s, f, &style, report);
	if (fclose(f)) {
		free(text);
		return;
	}
	if (style.box)
		view_text_fresh_line(stderr);
	fwrite(text, 1, len, stderr);
	free(text);
}

static void open_page(const struct view_run_report *o)
{
	char *path = NULL, *shown = NULL;

	if (asprintf(&path, "%s/report.html", o->dir) < 0)
		return;
	if (asprintf(&shown, "%s/report.html", o->shown) >= 0)
		view_browser_open(path, shown);
	free(shown);
	free(path);
}

void view_run_note_killed(int status)
{
	view_note("the job was killed (status %d) before anything that it did on a GPU was seen: "
		  "there is nothing to report",
		  status);
}

static int make_report(const struct view_run_report *o, bool quiet)
{
	struct view_analysis a = { .window = ANA_WINDOW_JOB,
				   .rates = o->rates,
				   .series = true, /* for the page */
				   .no_projection = o->no_projection,
				   .remedy = "make room for the trace, and see gpustarve doctor",
				   .quiet_when_empty = true };
	struct view_summary *s;
	char *report = NULL;
	int err = view_analyse(o->dir, &a, &s);

	if (err == -ENODATA && !quiet && o->killed)
		view_run_note_killed(o->killed);
	else if (err == -ENODATA && !quiet)
		view_note("the job never touched a GPU, as far as was seen: there is nothing to "
			  "report. If it should have, ask gpustarve doctor; gpustarve loader "
			  "measures, without a GPU, what its loader can feed");
	if (err)
		return 1;
	view_own_lines_add(s);
	err = save_pages(o, s);
	if (!quiet && asprintf(&report, "%s/%s", o->shown, err ? "" : "report.html") >= 0)
		print_verdict(s, report);
	free(report);
	view_summary_free(s);
	return err ? 1 : 0;
}

int view_run_report(const struct view_run_report *o)
{
	bool all = view_others_wait(o->dir, o->record, o->patience_s);
	int err = make_report(o, o->quiet);

	/* Whoever ended meanwhile found no files to bring up to date and left it to us. */
	if (!err && !all && !view_others_go_on(o->dir, o->record))
		err = make_report(o, true);
	if (!err && o->open)
		open_page(o);
	return err;
}
