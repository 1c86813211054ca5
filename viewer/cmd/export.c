/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpustarve export RUN --format FORMAT [-o FILE]
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/values.h"
#include "base/options.h"
#include "summary/analyse.h"
#include "choices.h"
#include "cmd.h"
#include "export/export.h"
#include "core/log.h"
#include "core/progress.h"
#include "trace/newest.h"
#include "core/interrupt.h"

struct options {
	const struct view_export_format *format;
	const char *run, *file, *table;
	struct view_rate_options rates;
	bool has_window, quiet;
	enum ana_window window;
};

/* --- progress --- */

struct watch {
	struct view_progress progress;
	const struct view_export *x;
};

static void show_progress(void *arg, double done)
{
	struct watch *w = arg;

	view_progress_set(&w->progress, w->x->seen, done);
}

/* --- the work --- */

/*
 * The summary that report shows: where the run has a summary.json, with its window, waste set and
 * rates, unless other ones are asked for now.
 */
static int summarise(const struct options *o, struct view_summary **made)
{
	struct view_analysis a = { .window = o->has_window ? o->window : ANA_WINDOW_JOB,
				   .rates = o->rates,
				   .progress = !o->quiet };
	struct view_summary *stored = NULL;
	bool waste[ANA_CLASSES];
	const char *why;
	char *path;
	int err;

	if (asprintf(&path, "%s/summary.json", o->run) < 0)
		return -ENOMEM;
	if (!view_summary_read(&stored, path, &why)) {
		a.window = o->has_window ? o->window : stored->window;
		view_waste_of(stored, waste);
		a.waste = waste;
		a.fixed = o->rates.price || o->rates.model ? NULL : &stored->cost;
	}
	free(path);
	err = view_analyse(o->run, &a, made);
	view_summary_free(stored);
	return err;
}

static bool ends_in_gz(const char *file)
{
	size_t n = file ? strlen(file) : 0;

	return n > 3 && !strcmp(file + n - 3, ".gz");
}

static int write_out(struct view_export *x, const struct options *o)
{
	int err, end;

	if (x->folder && mkdir(o->file, 0777) && errno != EEXIST)
		return -errno;
	if (x->folder || o->format->own_file)
		return o->format->write(x);
	err = view_out_open(&x->out, o->file, o->format->gzip || ends_in_gz(o->file));
	if (err)
		return err;
	err = o->format->write(x);
	end = view_out_close(&x->out, !err);
	return err ? err : end;
}

static bool names_folder(const char *file)
{
	size_t n = file ? strlen(file) : 0;
	struct stat st;

	return n && (file[n - 1] == '/' || (!stat(file, &st) && S_ISDIR(st.st_mode)));
}

static int open_trace(struct view_export *x, const struct options *o)
{
	const char *why = "";
	int err = view_trace_open(&x->trace, o->run, &why);

	if (!err)
		err = view_export_init(x);
	x->expected *= o->format->passes;
	return err;
}

static void show_caveat(void *arg, const char *text)
{
	view_note("%s: %s", (const char *)arg, text);
}

static int complain(const struct view_export *x, int err)
{
	const char *where = x->file ? x->file : "stdout";

	if (err == -EPIPE)
		return VIEW_EXIT_ERROR; /* whoever reads has enough */
	if (err == -ENODATA)
		return VIEW_EXIT_ERROR; /* said already */
	view_error("%s: %s; %s", where, strerror(-err),
		   err == -ENOSPC   ? "free some space and try again"
		   : err == -ENOMEM ? "free some memory and try again"
				    : "see gpustarve export --help");
	return VIEW_EXIT_ERROR;
}

static int export(const struct options *o)
{
	struct view_export x = { .path = o->run,
				 .file = o->file,
				 .table = o->table,
				 .folder = names_folder(o->file),
				 .progress = show_progress };
	struct watch watch = { .x = &x };
	int err;

	if (summarise(o, &x.summary))
		return VIEW_EXIT_ERROR; /* said already */
	x.progress_arg = &watch;
	view_progress_begin(&watch.progress, "exporting", o->quiet);
	watch.progress.name = o->run;
	watch.progress.unit = "events";
	x.stop = view_interrupt_watch();
	signal(SIGPIPE, SIG_IGN);
	err = open_trace(&x, o);
	if (!err)
		err = write_out(&x, o);
	if (!err && view_trace_trouble(x.trace)) {
		view_error("%s: %s", o->run, view_trace_trouble(x.trace));
		err = -ENODATA; /* said */
	}
	view_progress_end(&watch.progress);
	if (!err && !o->quiet)
		view_export_caveats(&x, show_caveat, (void *)o->run);
	view_export_fini(&x);
	view_trace_close(x.trace);
	view_summary_free(x.summary);
	if (err == -EINTR)
		view_interrupt_die();
	return err ? complain(&x, err) : VIEW_EXIT_OK;
}

/* --- options --- */

static bool take_format(void *into, char *name)
{
	struct options *o = into;
	const struct view_export_format *f;

	o->format = view_export_find(name);
	if (o->format)
		return true;
	fprintf(stderr, "gpustarve: export: unknown format %s; there are", name);
	for (f = view_export_formats; f->name; f++)
		fprintf(stderr, " %s", f->name);
	fputc('\n', stderr);
	return false;
}

static bool take_output(void *into, char *text)
{
	struct options *o = into;

	o->file = strcmp(text, "-") != 0 ? text : NULL;
	return true;
}

static bool take_window(void *into, char *text)
{
	struct options *o = into;

	o->has_window = true;
	return view_option_window(text, &o->window);
}

static const char *format_word(size_t i)
{
	return view_export_formats[i].name;
}

static const char *format_what(size_t i)
{
	return view_export_formats[i].what;
}

static void show_formats(FILE *out)
{
	for (const struct view_export_format *f = view_export_formats; f->name; f++)
		fprintf(out, "      %-10s     %s\n", f->name, f->what);
}

static const char usage[] =
	"usage: gpustarve export RUN --format FORMAT [-o FILE]\n"
	"\n"
	"Writes a run for other tools. Every total is the one that report shows.\n"
	"\n";

static const char usage_tail[] =
	"\n"
	"examples:\n"
	"  gpustarve export gpustarve-runs/RUN.gst --format perfetto -o run.pftrace\n"
	"  gpustarve export RUN.gst --format sqlite -o run.sqlite && sqlite3 run.sqlite\n"
	"  gpustarve export RUN.gst --format prometheus -o /var/lib/node_exporter/job.prom\n";

static const struct base_opt opt[] = {
	{ "format", 0, "FORMAT", NULL, .take = take_format, .word = format_word,
	  .what = format_what, .more = show_formats },
	{ "output", 'o', "FILE",
	  "where to (default: stdout); FILE appears when it is complete;\n"
	  ".gz compresses; FOLDER/ (kineto): a file for each process",
	  .take = take_output, .words = BASE_WORDS_FILE },
	{ "table", 0, "TABLE", "of csv: gaps (default), classes, gpus, steps or outcomes",
	  BASE_TEXT(struct options, table), .words = "gaps classes gpus steps outcomes" },
	{ "price", 0, "USD", "per GPU-hour", BASE_TEXT(struct options, rates.price) },
	{ "price-model", 0, "M", "on-demand, spot, reserved or owned",
	  BASE_TEXT(struct options, rates.model), .good = view_option_price_model,
	  .words = VIEW_PRICE_MODELS },
	{ "window", 0, "WINDOW",
	  "job (all time the job held the GPUs) or device (first to last\n"
	  "operation); default: as summary.json, else job",
	  .take = take_window, .words = VIEW_WINDOWS },
	{ "quiet", 'q', NULL, "no progress, no remarks", BASE_FLAG(struct options, quiet) },
	{ "help", 'h', NULL, "this text", .kind = BASE_OPT_HELP },
	{ 0 },
};

const struct base_options view_export_options = {
	.command = "export",
	.usage = usage,
	.column = 21,
	.opt = opt,
	.tail = usage_tail,
	.error = view_error,
};

static bool fits(const struct options *o)
{
	if (!o->format) {
		view_error("export: no format given; add --format, see gpustarve export --help");
		return false;
	}
	if (o->table && strcmp(o->format->name, "csv") != 0) {
		view_error("export: --table is for csv only; leave it out");
		return false;
	}
	if (!o->format->folders && names_folder(o->file)) {
		view_error("export: %s is a folder; %s needs a file", o->file, o->format->name);
		return false;
	}
	if (o->format->own_file && !o->file) {
		view_error("export: %s needs a file of its own; add -o FILE", o->format->name);
		return false;
	}
	if (o->format->binary && !o->file && isatty(STDOUT_FILENO)) {
		view_error("export: %s is not for a terminal; add -o FILE", o->format->name);
		return false;
	}
	return true;
}

/* 1: go on, 0: help was shown, -1: error. */
static int parse(int argc, char **argv, struct options *o)
{
	int go = base_options_parse(&view_export_options, argc, argv, o);

	if (go <= 0)
		return go;
	if (optind == argc) {
		view_say_no_run("export");
		return -1;
	}
	if (optind != argc - 1) {
		view_error("export: name one run; see gpustarve export --help");
		return -1;
	}
	o->run = argv[optind];
	return fits(o) ? 1 : -1;
}

int view_cmd_export(int argc, char **argv)
{
	struct options o = { .rates.price_from = "--price" };
	int go = parse(argc, argv, &o);

	if (go <= 0)
		return go ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
	return export(&o);
}
