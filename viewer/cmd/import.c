/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpustarve import FILE... -o RUN
 */
#include "base/options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cmd.h"
#include "import/import.h"
#include "core/log.h"
#include "core/progress.h"
#include "core/interrupt.h"

static void show_progress(void *arg, const char *file, double done, uint64_t rows)
{
	struct view_progress *p = arg;

	p->name = file;
	view_progress_set(p, rows, done);
}

static void show_note(void *arg, const char *file, const char *text)
{
	view_progress_end(arg);
	view_note("%s: %s", file, text);
}

static char *run_path(const char *name)
{
	size_t len = strlen(name);
	char *path = NULL;

	while (len > 1 && name[len - 1] == '/')
		len--;
	if (asprintf(&path, "%.*s%s", (int)len, name,
		     len > 4 && !strncmp(name + len - 4, ".gst", 4) ? "" : ".gst") < 0)
		return NULL;
	return path;
}

static void print_summary(const struct view_import_stats *s, const char *out)
{
	printf("%s: %" PRIu64 " GPU operations, %" PRIu64 " API calls, %" PRIu64
	       " ranges from %" PRIu64 " file%s, %" PRIu64 " process%s, %.1f MB\n",
	       out, s->ops, s->api, s->ranges, s->files, s->files == 1 ? "" : "s", s->streams,
	       s->streams == 1 ? "" : "es", (double)s->bytes / 1e6);
}

static int import(char *const files[], size_t n, const char *name, bool quiet)
{
	struct view_progress progress;
	struct view_import_options options = { .progress = show_progress,
					       .note = show_note,
					       .arg = &progress };
	struct view_import_stats stats;
	struct view_import_error error = { .file = NULL };
	char *out = run_path(name);
	int err;

	if (!out) {
		view_error("import: out of memory; free some and try again");
		return VIEW_EXIT_ERROR;
	}
	view_progress_begin(&progress, "importing", quiet);
	progress.unit = "rows";
	options.stop = view_interrupt_watch();
	err = view_import_files(files, n, out, &options, &stats, &error);
	view_progress_end(&progress);
	if (err == -EINTR)
		view_interrupt_die();
	if (err)
		view_error("%s: %s", error.file ? error.file : out, error.why);
	else if (!quiet)
		print_summary(&stats, out);
	free(out);
	return err ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
}

struct opts {
	const char *out;
	bool quiet;
};

static const char usage[] =
	"usage: gpustarve import FILE... -o RUN\n"
	"\n"
	"Turns traces of other tools into a run directory RUN.gst that report, verify, dump and\n"
	"export read like a recorded one.\n"
	"\n"
	"  FILE              Kineto or Chrome JSON (.json, .json.gz) or an nsys SQLite export\n"
	"                    (.sqlite, .sqlite.gz); told apart by content; several files make\n"
	"                    one run\n";

static const char usage_tail[] =
	"\n"
	"examples:\n"
	"  gpustarve import rank0.json.gz rank1.json.gz -o job    # job.gst\n"
	"  nsys export --type sqlite report.nsys-rep && gpustarve import report.sqlite -o job\n"
	"  gpustarve report job.gst\n";

static const struct base_opt opt[] = {
	{ "output", 'o', "RUN", "the run to make; .gst is added if it is missing",
	  BASE_TEXT(struct opts, out), .words = BASE_WORDS_FILE },
	{ "quiet", 'q', NULL, "no progress and no summary", BASE_FLAG(struct opts, quiet) },
	{ "help", 'h', NULL, "this text", .kind = BASE_OPT_HELP },
	{ 0 },
};

const struct base_options view_import_options = {
	.command = "import",
	.usage = usage,
	.column = 20,
	.opt = opt,
	.tail = usage_tail,
	.error = view_error,
};

int view_cmd_import(int argc, char **argv)
{
	struct opts o = { 0 };
	int go;

	optind = 0;
	go = base_options_parse(&view_import_options, argc, argv, &o);
	if (go <= 0)
		return go ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
	if (optind == argc) {
		view_error("import: no file given; see gpustarve import --help");
		return VIEW_EXIT_ERROR;
	}
	if (!o.out || !*o.out) {
		view_error("import: no run to write to; add -o RUN");
		return VIEW_EXIT_ERROR;
	}
	return import(argv + optind, (size_t)(argc - optind), o.out, o.quiet);
}
