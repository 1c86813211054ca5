/* SPDX-License-Identifier: Apache-2.0 */
/* gpustarve report: a run as text, JSON or HTML. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/browser.h"
#include "core/confine.h"
#include "core/local.h"
#include "core/values.h"
#include "base/options.h"
#include "summary/analyse.h"
#include "choices.h"
#include "cmd.h"
#include "compare/compare.h"
#include "findings/own_line.h"
#include "report/html/html.h"
#include "report/markdown/markdown.h"
#include "core/log.h"
#include "job/ask.h"
#include "base/files.h"
#include "report/text/text.h"
#include "trace/newest.h"
#include "trace/remote.h"

enum format {
	TEXT,
	JSON,
	HTML,
	MARKDOWN
};

struct opts {
	const char *job, *cluster, *dir; /* --job; where its runs are; NULL: not given */
	enum format format;
	const char *out; /* NULL: stdout */
	bool waste[ANA_CLASSES], has_waste, has_window;
	bool open, has_format;
	int64_t runs_per_month; /* -1: not given */
	struct view_unit unit[VIEW_UNITS_MAX];
	size_t units;
	struct view_analysis analysis;
};

static bool set_format(void *into, char *text)
{
	struct opts *o = into;
	static const char *const name[] = { "text", "json", "html", "markdown" };

	for (int i = 0; i < 4; i++) {
		if (!strcmp(text, name[i])) {
			o->format = (enum format)i;
			o->has_format = true;
			return true;
		}
	}
	view_error("--format %s: no such format; one of text, json, html, markdown", text);
	return false;
}

static bool set_rate(void *into, char *text)
{
	struct opts *o = into;
	char *end;

	errno = 0;
	long long n = strtoll(text, &end, 10);
	if (text[0] >= '0' && text[0] <= '9' && !*end && !errno && n <= VIEW_COMPARE_MONTH_MAX) {
		o->runs_per_month = n;
		return true;
	}
	view_error("--runs-per-month %s: not a whole number up to %d", text,
		   VIEW_COMPARE_MONTH_MAX);
	return false;
}

static bool set_window(void *into, char *text)
{
	struct opts *o = into;

	o->has_window = true;
	return view_option_window(text, &o->analysis.window);
}

static bool add_unit(void *into, char *text)
{
	struct opts *o = into;

	return view_option_unit(o->unit, &o->units, text);
}

static bool set_waste(void *into, char *text)
{
	struct opts *o = into;

	o->has_waste = true;
	return view_option_waste(text, o->waste);
}

static const char usage[] =
	"usage: gpustarve report [RUN] [--format text|json|html|markdown] [-o FILE]\n"
	"                        [options]\n"
	"       gpustarve report RUN RUN... [--runs-per-month N] [options]\n"
	"       gpustarve report --job ID [--dir OUT] [--cluster NAME] [options]\n"
	"\n"
	"Shows where the GPU time of a run went and what it cost. RUN is a run directory\n"
	"(gpustarve-runs/<run id>.gst), one of its files, a summary.json, or -1 for the newest,\n"
	"-2 for the one before (gpustarve runs); without RUN it is the newest. Of several runs\n"
	"each later one is compared with the first: cost, classes, steps, loader, what came\n"
	"and went, and what the first one's advice predicted beside what was realised.\n"
	"With --job it shows a whole Slurm job: all its runs below OUT, of every step and\n"
	"every requeue, and the GPUs that it was given and that nobody used.\n"
	"\n";

static const struct base_opt opt[] = {
	{ "format", 0, "F", "text (default), json, html or, for a ticket, markdown",
	  .take = set_format, .words = "text json html markdown" },
	{ "output", 'o', "F", "write to a file instead of the terminal",
	  BASE_TEXT(struct opts, out), .words = BASE_WORDS_FILE },
	{ "open", 0, NULL,
	  "write the page (--format html; without -o report.html into the\n"
	  "run) and show it in a browser, if stderr is a terminal",
	  BASE_FLAG(struct opts, open) },
	{ "price", 0, "USD", "dollars per GPU-hour, for every GPU of every run",
	  BASE_TEXT(struct opts, analysis.rates.price) },
	{ "price-model", 0, "M", "which price of the lists: on-demand (default), spot, ...",
	  BASE_TEXT(struct opts, analysis.rates.model), .good = view_option_price_model,
	  .words = VIEW_PRICE_MODELS },
	{ "window", 0, "W",
	  "job (default): the time the GPUs were held; device: from the\n"
	  "first to the last operation of each GPU",
	  .take = set_window, .words = VIEW_WINDOWS },
	{ "waste", 0, "LIST", "classes that count as waste, such as input.*,host.sync",
	  .take = set_waste, .words = BASE_WORDS_LIST, .word = view_class_word },
	{ "unit", 0, "NAME=COUNT",
	  "what the run brought forth, such as tokens=1048576, for the cost\n"
	  "of each; may be repeated",
	  .take = add_unit, .repeats = true },
	{ "job", 0, "ID", "the job's number, ARRAY_TASK, or label:KEY=VALUE: all runs of a label",
	  BASE_TEXT(struct opts, job) },
	{ "dir", 0, "OUT",
	  "the folder of its runs; default: GPUSTARVE_OUT, else\n"
	  "./gpustarve-runs",
	  BASE_TEXT(struct opts, dir), .words = BASE_WORDS_FOLDER },
	{ "cluster", 0, "NAME", "which cluster's, where several have a job of that number",
	  BASE_TEXT(struct opts, cluster) },
	{ "runs-per-month", 0, "N", "of a comparison: what the difference is per month at N runs",
	  .take = set_rate },
	{ "no-projection", 0, NULL,
	  "sums of the run alone: nothing per GPU-hour, day, month or\n"
	  "thousand steps",
	  BASE_FLAG(struct opts, analysis.no_projection) },
	{ BASE_HELP },
	{ 0 },
};

const struct base_options view_report_options = {
	.command = "report",
	.usage = usage,
	.column = 19,
	.opt = opt,
	.tail = "\n"
		"  gpustarve report gpustarve-runs/20261109-140211-train-4f2a.gst\n"
		"  gpustarve report RUN --format html -o report.html\n"
		"  gpustarve report -2 -1 --runs-per-month 120\n"
		"  gpustarve report --job 4711 --dir /shared/gpustarve\n",
	.error = view_error,
};

/* A summary that was stored: a file that begins like a JSON object, which no trace does. */
static bool is_summary(const char *path)
{
	struct stat st;
	int c = EOF;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	FILE *f = fopen(path, "re");
	while (f && (c = getc(f)) != EOF && strchr(" \t\r\n", c))
		;
	if (f)
		fclose(f);
	return c == '{';
}

/* What a summary was made with cannot be changed any more. */
static bool fits(const struct opts *o, const char *path, const struct view_summary *s)
{
	const char *option = o->analysis.rates.price				? "--price"
			     : o->analysis.rates.model				? "--price-model"
			     : o->has_waste					? "--waste"
			     : o->has_window && o->analysis.window != s->window ? "--window"
										: NULL;

	if (option)
		view_error("%s: %s cannot change a stored summary; name the run directory", path,
			   option);
	return !option;
}

static int read_summary(const struct opts *o, const char *path, struct view_summary **s)
{
	const char *why;
	int err = view_summary_read(s, path, &why);

	if (err) {
		view_error("%s: %s; make one with gpustarve report RUN --format json", path, why);
		return err;
	}
	(*s)->no_projection = o->analysis.no_projection;
	if (fits(o, path, *s))
		return 0;
	view_summary_free(*s);
	*s = NULL;
	return -EINVAL;
}

/*
 * A summary whose classes other rules gave, made anew from the trace that lies beside it. Without
 * one, or where that fails, it stays as it is.
 */
static void judge_anew(const char *path, struct view_summary **s)
{
	struct view_summary *stored = *s, *made = NULL;
	bool waste[ANA_CLASSES];
	struct view_analysis a = { .window = stored->window,
				   .fixed = &stored->cost,
				   .waste = waste };
	char *folder = strdup(path), *slash = folder ? strrchr(folder, '/') : NULL;

	if (slash)
		*slash = '\0';
	view_waste_of(stored, waste);
	if (folder && view_last_written(slash ? folder : ".") >= 0 &&
	    !view_analyse(slash ? folder : ".", &a, &made)) {
		view_summary_free(stored);
		*s = made;
	}
	free(folder);
}

/* 0 and *s; an error has been said. */
static int load(const struct opts *o, const char *path, struct view_summary **s)
{
	int err;

	if (o->job)
		err = view_analyse(o->job, &o->analysis, s);
	else if (is_summary(path))
		err = read_summary(o, path, s);
	else
		err = view_analyse(path, &o->analysis, s);
	if (!err)
		view_summary_set_units(*s, o->unit, o->units);
	return err;
}

static void show(const struct opts *o, const struct view_summary *s, FILE *f)
{
	struct view_text_style style = view_text_style_of(f);
	struct view_text_ascii ascii;

	switch (o->format) {
	case TEXT:
		view_text_report(s, view_text_begin(&ascii, f, &style), &style);
		view_text_end(&ascii);
		break;
	case JSON:
		view_summary_write(s, f);
		break;
	case HTML:
		view_html_write(s, f);
		break;
	case MARKDOWN:
		view_markdown_write(s, f);
		break;
	}
}

/* Whether all of them can be compared. */
static bool show_comparison(const struct opts *o, const struct view_summary *const *s,
			    const char *const *path, size_t n, FILE *f)
{
	struct view_text_style style = view_text_style_of(f);
	struct view_text_ascii ascii;
	struct view_comparison c;
	bool comparable = true;

	view_compare(&c, s, path, n, o->runs_per_month);
	switch (o->format) {
	case TEXT:
		view_compare_text(&c, view_text_begin(&ascii, f, &style), &style);
		view_text_end(&ascii);
		break;
	case JSON:
		view_compare_json(&c, f);
		break;
	case HTML:
		view_compare_html(&c, f);
		break;
	case MARKDOWN: /* refused before */
		break;
	}
	for (size_t i = 0; i + 1 < c.runs; i++)
		comparable &= !c.pair[i].other_rules;
	view_comparison_fini(&c);
	return comparable;
}

/* Loads all, so that each broken one is named; shows nothing unless all are there. */
static int show_runs(const struct opts *o, char **run, int runs, FILE *f, bool *comparable)
{
	struct view_summary *s[VIEW_COMPARE_RUNS_MAX] = { NULL };
	int failed = 0;

	for (int i = 0; i < runs; i++) {
		failed += load(o, run[i], &s[i]) != 0;
		if (runs > 1 && s[i] && s[i]->rules != ANA_RULES)
			judge_anew(run[i], &s[i]);
	}
	if (failed && runs > 1) {
		view_error("report: %d of %d runs cannot be used, so nothing is compared; leave "
			   "them out",
			   failed, runs);
	} else if (!failed && runs == 1) {
		if (o->format != JSON)
			view_own_lines_add(s[0]);
		show(o, s[0], f);
	} else if (!failed) {
		*comparable = show_comparison(o, (const struct view_summary *const *)s,
					      (const char *const *)run, (size_t)runs, f);
	}
	for (int i = 0; i < runs; i++)
		view_summary_free(s[i]);
	return failed;
}

static int to_stdout(const struct opts *o, char **run, int runs, bool *comparable)
{
	int failed = show_runs(o, run, runs, stdout, comparable);

	if (fflush(stdout) || ferror(stdout)) {
		view_error("standard output: %s; nothing more is written", strerror(errno));
		failed++;
	}
	return failed;
}

static int to_file(const struct opts *o, char **run, int runs, bool *comparable)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	int failed, err;

	if (!f) {
		view_error("out of memory: %s; use a machine with more", strerror(errno));
		return 1;
	}
	failed = show_runs(o, run, runs, f, comparable);
	err = fclose(f) ? -ENOMEM : 0;
	if (!err && !failed)
		err = base_file_write(o->out, text, len);
	if (err) {
		view_error("%s: %s; name a file in a folder you may write to", o->out,
			   strerror(-err));
		failed++;
	}
	free(text);
	return failed;
}

static bool sensible(const struct opts *o, int runs)
{
	if (o->job && runs)
		view_error("report: --job %s and a run; name one of them", o->job);
	else if (o->open && (o->format != HTML || (o->out && !strcmp(o->out, "-"))))
		view_error("report: --open is for a page in a file; leave out %s",
			   o->format != HTML ? "--format" : "-o -");
	else if (!o->job && (o->cluster || o->dir))
		view_error("report: %s is for --job", o->dir ? "--dir" : "--cluster");
	else if (o->job && o->runs_per_month >= 0)
		view_error("report: --runs-per-month is for a comparison; name two runs");
	else if (o->units && runs > 1)
		view_error("report: --unit is of one run; give gpustarve run the same");
	else if (o->job)
		return true;
	else if (runs > 1 && o->format == MARKDOWN)
		view_error("report: --format markdown is for one run; text, json and html compare");
	else if (runs > VIEW_COMPARE_RUNS_MAX)
		view_error("report: %d runs; compare at most %d at once", runs,
			   VIEW_COMPARE_RUNS_MAX);
	else if (runs == 1 && o->runs_per_month >= 0)
		view_error("report: --runs-per-month is for a comparison; name a second run");
	else
		return true;
	return false;
}

/* Where the page goes that nobody has named: beside the run's other files, else to TMPDIR. */
static char *page_of(char **run, int runs)
{
	const char *tmp = getenv("TMPDIR");
	struct stat st;
	char *page = NULL;
	int fd;

	if (runs == 1 && !stat(run[0], &st) && S_ISDIR(st.st_mode) && !access(run[0], W_OK))
		return asprintf(&page, "%s/report.html", run[0]) < 0 ? NULL : page;
	if (asprintf(&page, "%s/gpustarve-XXXXXX.html", tmp && tmp[0] ? tmp : "/tmp") < 0)
		return NULL;
	fd = mkostemps(page, strlen(".html"), O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return page;
}

static int report_runs(const struct opts *o, char **run, int runs);

/* The same as a page in a browser. Nothing is opened that could not be written. */
static int open_runs(const struct opts *o, char **run, int runs)
{
	struct opts page = *o;
	char *made = o->out ? NULL : page_of(run, runs);
	int status = VIEW_EXIT_ERROR;

	page.open = false;
	if (made)
		page.out = made;
	if (page.out)
		status = report_runs(&page, run, runs);
	else
		view_error("out of memory; use a machine with more");
	if (status != VIEW_EXIT_ERROR) {
		if (made)
			view_note("the page is %s", made);
		view_browser_open(page.out, page.out);
	}
	free(made);
	return status;
}

static int report_runs(const struct opts *o, char **run, int runs)
{
	if (o->open)
		return open_runs(o, run, runs);
	bool file = o->out && strcmp(o->out, "-") != 0;
	bool comparable = true;
	int failed = (file ? to_file : to_stdout)(o, run, runs, &comparable);

	if (failed)
		return VIEW_EXIT_ERROR;
	return comparable ? VIEW_EXIT_OK : VIEW_EXIT_NOT_COMPARABLE;
}

static int report_job(struct opts *o)
{
	struct view_jobs jobs;
	struct view_job *job = view_job_or_say(&jobs, o->dir, o->job, o->cluster);
	char *name = base_arena_text(&jobs.mem, o->job);
	int status = VIEW_EXIT_ERROR;

	if (job) {
		o->analysis.job = job;
		status = report_runs(o, &name, 1);
	}
	view_jobs_fini(&jobs);
	return status;
}

/*
 * Where traces of others are read, this process keeps the runs and the place of its output, and no
 * more.
 */
static void confine(const struct opts *o, char **run, int runs)
{
	bool file = o->out && strcmp(o->out, "-") != 0;
	char *read[VIEW_COMPARE_RUNS_MAX + 1] = { NULL };
	char *write = file ? view_confine_folder(o->out, true) : NULL;
	struct view_confine c = { .read = (const char *const *)read, .write = write };

	if (o->job)
		read[c.reads++] = strdup(view_job_out(o->dir));
	for (int i = 0; i < runs; i++)
		read[c.reads++] = view_job_reads(run[i]);
	view_confine(&c);
	for (size_t i = 0; i < c.reads; i++)
		free(read[i]);
	free(write);
}

/* Who is confined asks nobody. */
static bool names_remote(char **run, int runs)
{
	for (int i = 0; i < runs; i++) {
		if (!view_is_remote(run[i]))
			continue;
		view_error("%s: a report of others' traces (" VIEW_LOCAL_ENV
			   "=0) asks no object store; fetch the run, and name its folder",
			   run[i]);
		return true;
	}
	return false;
}

static int report(struct opts *o, char **run, int runs)
{
	if (o->open && !o->has_format)
		o->format = HTML;
	if (!sensible(o, runs))
		return VIEW_EXIT_ERROR;
	o->analysis.series = o->format == HTML;
	o->analysis.waste = o->has_waste ? o->waste : NULL;
	if (!view_local_files() && !o->open) {
		if (names_remote(run, runs))
			return VIEW_EXIT_ERROR;
		confine(o, run, runs);
	}
	return o->job ? report_job(o) : report_runs(o, run, runs);
}

int view_cmd_report(int argc, char **argv)
{
	struct opts o = { .analysis = { .rates.price_from = "--price", .progress = true },
			  .runs_per_month = -1 };
	int go = base_options_parse(&view_report_options, argc, argv, &o), status;
	char *newest;

	if (go <= 0)
		return go ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
	if (o.job || optind < argc)
		return report(&o, argv + optind, argc - optind);
	newest = view_newest_or_say("report");
	status = newest ? report(&o, &newest, 1) : VIEW_EXIT_ERROR;
	free(newest);
	return status;
}
