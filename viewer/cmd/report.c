/* SPDX-License-Identifier: Apache-2.0 */
/* gpustarve report: a run as text, JSON or HTML. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "summary/analyse.h"
#include "cmd.h"
#include "report/html.h"
#include "base/log.h"
#include "base/options.h"
#include "base/slurp.h"
#include "report/text.h"

enum format {
	TEXT,
	JSON,
	HTML
};

struct opts {
	enum format format;
	const char *out; /* NULL: stdout */
	bool waste[ANA_CLASSES], has_waste;
	struct view_analysis analysis;
};

static const char usage[] =
	"usage: gpustarve report RUN... [--format text|json|html] [-o FILE]\n"
	"           [--price USD | --price-model on-demand|spot|reserved|owned]\n"
	"           [--window job|device] [--waste CLASS,...]\n"
	"\n"
	"Shows where the GPU time of a run went and what it cost. RUN is a run directory\n"
	"(gpustarve-runs/<run id>.gst) or one of its files. Several runs are shown one\n"
	"after the other.\n"
	"\n"
	"  --format F       text (default), json (one summary per run) or html\n"
	"  -o, --output F   write to a file instead of the terminal\n"
	"  --price USD      dollars per GPU-hour, for every GPU\n"
	"  --price-model M  which price of the lists: on-demand (default), spot, ...\n"
	"  --window W       job (default): the time the GPUs were held; device: from the\n"
	"                   first to the last operation of each GPU\n"
	"  --waste LIST     classes that count as waste, such as input.*,host.sync\n"
	"\n"
	"  gpustarve report gpustarve-runs/20261109-140211-train-4f2a.gst\n"
	"  gpustarve report RUN --format html -o report.html\n";

static bool set_format(const char *text, enum format *format)
{
	static const char *const name[] = { "text", "json", "html" };

	for (int i = 0; i < 3; i++) {
		if (!strcmp(text, name[i])) {
			*format = (enum format)i;
			return true;
		}
	}
	view_error("--format %s: no such format; one of text, json, html", text);
	return false;
}

/* 1: go on, 0: help was shown, -1: error. */
static int parse(int argc, char **argv, struct opts *o)
{
	static const struct option longs[] = {
		{ "format", required_argument, NULL, 'f' },
		{ "output", required_argument, NULL, 'o' },
		{ "price", required_argument, NULL, 'p' },
		{ "price-model", required_argument, NULL, 'm' },
		{ "window", required_argument, NULL, 'w' },
		{ "waste", required_argument, NULL, 'W' },
		{ "job", required_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	bool ok = true;
	int c;

	while (ok && (c = view_getopt(argc, argv, ":o:h", longs)) != -1) {
		switch (c) {
		case 'f':
			ok = set_format(optarg, &o->format);
			break;
		case 'o':
			o->out = optarg;
			break;
		case 'p':
			o->analysis.rates.price = optarg;
			break;
		case 'm':
			o->analysis.rates.model = optarg;
			ok = view_option_price_model(optarg);
			break;
		case 'w':
			ok = view_option_window(optarg, &o->analysis.window);
			break;
		case 'W':
			o->has_waste = true;
			ok = view_option_waste(optarg, o->waste);
			break;
		case 'j':
			view_error("--job %s: this version does not look up scheduler jobs; name "
				   "the run directory",
				   optarg);
			ok = false;
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			ok = false;
		}
	}
	return ok ? 1 : -1;
}

static void show(const struct opts *o, const struct view_summary *s, FILE *f, bool again)
{
	switch (o->format) {
	case TEXT:
		if (again)
			fputc('\n', f);
		view_text_report(s, f, view_text_colour(f));
		break;
	case JSON:
		view_summary_write(s, f);
		break;
	case HTML:
		view_html_write(s, f);
		break;
	}
}

static int show_runs(const struct opts *o, char **run, int runs, FILE *f)
{
	int failed = 0;

	for (int i = 0; i < runs; i++) {
		struct view_summary *s;
		if (view_analyse(run[i], &o->analysis, &s)) {
			failed++;
			continue;
		}
		show(o, s, f, i > failed);
		view_summary_free(s);
	}
	return failed;
}

static int to_stdout(const struct opts *o, char **run, int runs)
{
	int failed = show_runs(o, run, runs, stdout);

	if (fflush(stdout) || ferror(stdout)) {
		view_error("standard output: %s; nothing more is written", strerror(errno));
		failed++;
	}
	return failed;
}

/* Devices and pipes are written to; files are replaced as a whole. */
static int save(const char *path, const char *text, size_t len)
{
	struct stat st;

	if (stat(path, &st) || S_ISREG(st.st_mode))
		return view_write_atomic(path, text, len);
	FILE *f = fopen(path, "w");
	if (!f)
		return -errno;
	bool ok = fwrite(text, 1, len, f) == len;
	if (fclose(f) || !ok)
		return errno ? -errno : -EIO;
	return 0;
}

static int to_file(const struct opts *o, char **run, int runs)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	int failed, err;

	if (!f) {
		view_error("out of memory: %s; use a machine with more", strerror(errno));
		return 1;
	}
	failed = show_runs(o, run, runs, f);
	err = fclose(f) ? -ENOMEM : 0;
	if (!err && failed < runs)
		err = save(o->out, text, len);
	if (err) {
		view_error("%s: %s; name a file in a folder you may write to", o->out,
			   strerror(-err));
		failed++;
	}
	free(text);
	return failed;
}

int view_cmd_report(int argc, char **argv)
{
	struct opts o = { .analysis.rates.price_from = "--price" };
	int go = parse(argc, argv, &o);

	if (go <= 0)
		return go ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
	if (optind == argc) {
		view_error("report: no run named; give a run directory, such as "
			   "gpustarve-runs/<run id>.gst");
		return VIEW_EXIT_ERROR;
	}
	if (o.format == HTML && argc - optind > 1) {
		view_error("report: --format html shows one run; name one");
		return VIEW_EXIT_ERROR;
	}
	o.analysis.waste = o.has_waste ? o.waste : NULL;
	bool file = o.out && strcmp(o.out, "-") != 0;
	int failed = (file ? to_file : to_stdout)(&o, argv + optind, argc - optind);
	return failed ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
}
