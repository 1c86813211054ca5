/* SPDX-License-Identifier: Apache-2.0 */
#include "base/options.h"
#include "check_options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/log.h"
#include "core/values.h"
#include "check/check_out.h"
#include "choices.h"
#include "trace/newest.h"

#define AT_STEP_LEAST 50 /* a few of them are warm-up */

static bool add_budget(void *into, char *text)
{
	struct check_opts *o = into;
	const char *why;

	if (o->budgets == CHECK_BUDGETS_MAX) {
		view_error("--budget: more than %d of them; leave some out", CHECK_BUDGETS_MAX);
		return false;
	}
	if (check_budget_parse(text, &o->budget[o->budgets], &why)) {
		view_error("--budget '%s': %s", text, why);
		return false;
	}
	o->budgets++;
	return true;
}

/* "junit=gate.xml". */
static bool add_also(void *into, char *text)
{
	struct check_opts *o = into;
	const char *file = strchr(text, '=');

	if (!file || !file[1]) {
		view_error("--also %s: no file; give a format and a file, such as junit=gate.xml",
			   text);
		return false;
	}
	if (o->alsos == CHECK_ALSO_MAX) {
		view_error("--also: more than %d of them; leave some out", CHECK_ALSO_MAX);
		return false;
	}
	o->also[o->alsos].format = check_out_format("--also", text, (size_t)(file - text));
	o->also[o->alsos].file = file + 1;
	return o->also[o->alsos++].format;
}

static bool number(const char *option, const char *text, double least, double most, double *v)
{
	char *end;

	errno = 0;
	*v = strtod(text, &end);
	if (end != text && !*end && !errno && isfinite(*v) && *v >= least && *v <= most)
		return true;
	view_error("%s %s: not a number from %g to %g; correct it", option, text, least, most);
	return false;
}

static bool set_alpha(void *into, char *text)
{
	struct check_opts *o = into;
	double v;

	if (!number("--alpha", text, 0.001, 0.5, &v))
		return false;
	o->limits.alpha = v;
	return true;
}

static bool set_min_effect(void *into, char *text)
{
	struct check_opts *o = into;
	double v;

	if (!number("--min-effect", text, 0, 1000, &v))
		return false;
	o->limits.min_effect = v / 100;
	return true;
}

static bool set_run_spread(void *into, char *text)
{
	struct check_opts *o = into;
	double v;

	if (!number("--run-spread", text, 0, 100, &v))
		return false;
	o->limits.run_spread = v / 100;
	return true;
}

static bool set_warmup(void *into, char *text)
{
	struct check_opts *o = into;
	double v;

	if (!number("--warmup", text, 0, 1e9, &v))
		return false;
	o->warmup = (int64_t)v;
	return true;
}

static bool set_at_step(void *into, char *text)
{
	struct check_opts *o = into;
	double v;

	if (!number("--at-step", text, AT_STEP_LEAST, CHECK_ITEMS_KEPT, &v))
		return false;
	o->at_step = (uint64_t)v;
	o->limits.later_half = true;
	return true;
}

static bool set_faster(void *into, char *text)
{
	struct check_opts *o = into;
	double v;

	if (!number("--faster", text, 0.01, 1000, &v))
		return false;
	o->scale.faster_ppm = llround(v * 1e6);
	o->has_scale = true;
	return true;
}

static bool set_ranks(void *into, char *text)
{
	struct check_opts *o = into;
	double v;

	if (!number("--scale-to", text, 1, 1e6, &v))
		return false;
	o->scale.ranks = (int64_t)v;
	o->has_scale = true;
	return true;
}

static bool add_to_baseline(void *into, char *text)
{
	struct check_opts *o = into;

	(void)text;
	o->update = o->add = true;
	return true;
}

static bool set_window(void *into, char *text)
{
	struct check_opts *o = into;

	return view_option_window(text, &o->analysis.window);
}

static bool set_waste(void *into, char *text)
{
	struct check_opts *o = into;

	o->has_waste = true;
	return view_option_waste(text, o->waste);
}

static bool set_format(void *into, char *text)
{
	struct check_opts *o = into;

	o->format = check_out_format("--format", text, strlen(text));
	return o->format;
}

static const char *format_word(size_t i)
{
	return check_formats[i].name;
}

static const char *format_what(size_t i)
{
	return check_formats[i].what;
}

/* The formats, and what a budget may be of. */
static void show_words(FILE *out)
{
	for (const struct check_format *f = check_formats + 1; f->name; f++)
		fprintf(out, "      %-10s       %s\n", f->name, f->what);
	fputs("\nMETRIC is a class of GPU time with _pct after it (input.fetch_pct), or\n", out);
	for (const struct check_metric *m = check_metrics; m->name; m++)
		fprintf(out, "      %-24s %s\n", m->name, m->what);
}

static const char usage[] =
	"usage: gpustarve check RUN... [--budget 'METRIC<=VALUE']...\n"
	"           [--baseline FILE|RUN [--update-baseline|--add-to-baseline] [--require-baseline]]\n"
	"           [--faster K] [--scale-to N] [--format F] [-o FILE] [--fail-on-warn]\n"
	"       gpustarve check --replay BASELINE [options] -- COMMAND\n"
	"\n"
	"Holds runs against budgets and against a baseline, for CI. A regression is a\n"
	"change of step time, or of the time spent waiting for the loader, that is both\n"
	"sure (its interval leaves out zero) and greater than --min-effect.\n"
	"\n";

static const struct base_opt opt[] = {
	{ "budget", 0, "B", "METRIC<=VALUE or METRIC>=VALUE; may be repeated", .take = add_budget,
	  .repeats = true },
	{ "baseline", 0, "F", "a file made by --update-baseline, or a run",
	  BASE_TEXT(struct check_opts, baseline), .words = BASE_WORDS_FILE },
	{ "update-baseline", 0, NULL, "write the runs to the --baseline file",
	  BASE_FLAG(struct check_opts, update) },
	{ "add-to-baseline", 0, NULL, "the same, beside the runs that are there; the last 16 stay",
	  .take = add_to_baseline },
	{ "require-baseline", 0, NULL, "a missing baseline is an error, not a warning",
	  BASE_FLAG(struct check_opts, require) },
	{ "alpha", 0, "A", "how sure: 0.01 (default) leaves one in a hundred to chance",
	  .take = set_alpha },
	{ "min-effect", 0, "PCT", "smaller changes pass; percent of a step (default 1.5)",
	  .take = set_min_effect },
	{ "run-spread", 0, "PCT",
	  "by how much runs of the same code differ (default 0.5 % of a\n"
	  "step); with several runs it is estimated, too",
	  .take = set_run_spread },
	{ "warmup", 0, "N", "steps to drop in front (default: what looks like it)",
	  .take = set_warmup },
	{ "at-step", 0, "N",
	  "wait until the run has taken N steps (50 to 4096), and compare\n"
	  "these with as many of the baseline's runs",
	  .take = set_at_step },
	{ "baselines", 0, "DIR",
	  "hold the run's first N steps (--at-step) against those of the last\n"
	  "runs of its training, which DIR keeps, and keep them there, too",
	  BASE_TEXT(struct check_opts, baselines), .words = BASE_WORDS_FOLDER },
	{ "faster", 0, "K", "predict a GPU K times as fast; budgets hold for that",
	  .take = set_faster },
	{ "scale-to", 0, "N", "predict N ranks on the same cores; budgets hold for that",
	  .take = set_ranks },
	{ "replay", 0, "F",
	  "no run: COMMAND goes through its loader, paced as the GPU of\n"
	  "the recorded run F (or baseline file) would",
	  BASE_TEXT(struct check_opts, replay), .words = BASE_WORDS_FILE },
	{ "price", 0, "USD", "dollars per GPU-hour, for every GPU",
	  BASE_TEXT(struct check_opts, analysis.rates.price) },
	{ "price-model", 0, "M", "on-demand (default), spot, reserved or owned",
	  BASE_TEXT(struct check_opts, analysis.rates.model), .good = view_option_price_model,
	  .words = VIEW_PRICE_MODELS },
	{ "window", 0, "W", "job (default) or device", .take = set_window, .words = VIEW_WINDOWS },
	{ "waste", 0, "LIST", "classes that count as waste", .take = set_waste,
	  .words = BASE_WORDS_LIST, .word = view_class_word },
	{ "fail-on-warn", 0, NULL, "exit 3 instead of 0 after a warning",
	  BASE_FLAG(struct check_opts, fail_on_warn) },
	{ "output", 'o', "F", "write to a file", BASE_TEXT(struct check_opts, out),
	  .words = BASE_WORDS_FILE },
	{ "also", 0, "F=FILE", "write the same in format F to FILE, too; may be repeated",
	  .take = add_also, .repeats = true },
	{ "format", 0, "F", "text (default) or one of", .take = set_format, .word = format_word,
	  .what = format_what },
	{ BASE_HELP },
	{ 0 },
};

const struct base_options view_check_options = {
	.command = "check",
	.usage = usage,
	.column = 23,
	.opt = opt,
	.tail = "\n"
		"exit status: 0 pass, 1 usage or tool error, 2 regression or budget broken,\n"
		"             3 warning with --fail-on-warn, 4 not comparable, 5 --baselines: not\n"
		"             so many steps yet\n"
		"\n"
		"  gpustarve check RUN.gst --budget 'starved_pct<=10'\n"
		"  gpustarve check RUN.gst --baseline gpustarve-baseline.json --format github\n"
		"  gpustarve check RUN.gst --faster 2 --budget 'starved_pct<=20'\n",
	.more = show_words,
	.error = view_error,
};

static bool agree_with_baselines(const struct check_opts *o, int argc)
{
	if (argc - optind == 1 && o->at_step && !o->budgets && !o->baseline && !o->has_scale &&
	    !o->replay && !o->update)
		return true;
	view_error("check: --baselines DIR takes one run and --at-step N, and no other budget or "
		   "baseline; leave the others out");
	return false;
}

/* Options that say something together only, or not together. */
static bool agree(const struct check_opts *o, int argc)
{
	if (optind == argc && o->replay) {
		view_error("check: --replay needs a command that goes through the loader, such as "
			   "-- python loader_loop.py");
		return false;
	}
	if (optind == argc) {
		view_say_no_run("check");
		return false;
	}
	if (o->baselines)
		return agree_with_baselines(o, argc);
	if (!o->budgets && !o->baseline && !o->has_scale && !o->replay) {
		view_error("check: nothing to judge the run by, so that it would always pass; "
			   "give --budget or --baseline");
		return false;
	}
	if (!o->replay && argc - optind > CHECK_RUNS_MAX) {
		view_error("check: more than %d runs; name fewer", CHECK_RUNS_MAX);
		return false;
	}
	if (o->replay && o->at_step) {
		view_error("check: --at-step waits for a recorded run, and --replay has none; "
			   "leave one out");
		return false;
	}
	if (o->replay && o->has_scale) {
		view_error("check: --replay predicts from a loader that runs, --faster and "
			   "--scale-to from a recorded one; leave one out");
		return false;
	}
	if ((o->update || o->require) && !o->baseline) {
		view_error("check: --%s needs --baseline FILE", o->add	    ? "add-to-baseline"
								: o->update ? "update-baseline"
									    : "require-baseline");
		return false;
	}
	return true;
}

int check_options(int argc, char **argv, struct check_opts *o)
{
	int go = base_options_parse(&view_check_options, argc, argv, o);

	return go > 0 && !agree(o, argc) ? -1 : go;
}
