/* SPDX-License-Identifier: Apache-2.0 */
#include "check_options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/log.h"
#include "core/options.h"
#include "check/check_out.h"
#include "choices.h"
#include "trace/newest.h"

static const char usage_head[] =
	"usage: gpustarve check RUN... [--budget 'METRIC<=VALUE']...\n"
	"           [--baseline FILE|RUN [--update-baseline|--add-to-baseline] [--require-baseline]]\n"
	"           [--faster K] [--scale-to N] [--format F] [-o FILE] [--fail-on-warn]\n"
	"       gpustarve check --replay BASELINE [options] -- COMMAND\n"
	"\n"
	"Holds runs against budgets and against a baseline, for CI. A regression is a\n"
	"change of step time, or of the time spent waiting for the loader, that is both\n"
	"sure (its interval leaves out zero) and greater than --min-effect.\n"
	"\n"
	"  --budget B           METRIC<=VALUE or METRIC>=VALUE; may be given several times\n"
	"  --baseline F         a file made by --update-baseline, or a run\n"
	"  --update-baseline    write the runs to the --baseline file\n"
	"  --add-to-baseline    the same, beside the runs that are there; the last 16 stay\n"
	"  --require-baseline   a missing baseline is an error, not a warning\n"
	"  --alpha A            how sure: 0.01 (default) leaves one in a hundred to chance\n"
	"  --min-effect PCT     smaller changes pass; percent of a step (default 1.5)\n"
	"  --run-spread PCT     by how much runs of the same code differ (default 0.5 % of a\n"
	"                       step); with several runs it is estimated, too\n"
	"  --warmup N           steps to drop in front (default: what looks like it)\n"
	"  --faster K           predict a GPU K times as fast; budgets hold for that\n"
	"  --scale-to N         predict N ranks on the same cores; budgets hold for that\n"
	"  --replay F           no run: COMMAND goes through its loader, paced as the GPU of\n"
	"                       the recorded run F (or baseline file) would\n"
	"  --price USD          dollars per GPU-hour, for every GPU\n"
	"  --price-model M      on-demand (default), spot, reserved or owned\n"
	"  --window W           job (default) or device\n"
	"  --waste LIST         classes that count as waste\n"
	"  --fail-on-warn       exit 3 instead of 0 after a warning\n"
	"  -o, --output F       write to a file\n"
	"  --also F=FILE        write the same in format F to FILE, too; may be given several\n"
	"                       times\n"
	"  --format F           text (default) or one of\n";

static const char usage_tail[] =
	"\n"
	"exit status: 0 pass, 1 usage or tool error, 2 regression or budget broken,\n"
	"             3 warning with --fail-on-warn, 4 not comparable\n"
	"\n"
	"  gpustarve check RUN.gst --budget 'starved_pct<=10'\n"
	"  gpustarve check RUN.gst --baseline gpustarve-baseline.json --format github\n"
	"  gpustarve check RUN.gst --faster 2 --budget 'starved_pct<=20'\n";

static void usage(void)
{
	fputs(usage_head, stdout);
	for (const struct check_format *f = check_formats + 1; f->name; f++)
		printf("      %-10s       %s\n", f->name, f->what);
	fputs("\nMETRIC is a class of GPU time with _pct behind it (input.fetch_pct), or\n",
	      stdout);
	for (const struct check_metric *m = check_metrics; m->name; m++)
		printf("      %-24s %s\n", m->name, m->what);
	fputs(usage_tail, stdout);
}

static bool add_budget(struct check_opts *o, const char *text)
{
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
static bool add_also(struct check_opts *o, const char *text)
{
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
	view_error("%s %s: no number from %g to %g; correct it", option, text, least, most);
	return false;
}

static bool set_number(struct check_opts *o, int c, const char *text)
{
	double v;

	switch (c) {
	case 'a':
		return number("--alpha", text, 0.001, 0.5, &o->limits.alpha);
	case 'e':
		if (!number("--min-effect", text, 0, 1000, &v))
			return false;
		o->limits.min_effect = v / 100;
		return true;
	case 's':
		if (!number("--run-spread", text, 0, 100, &v))
			return false;
		o->limits.run_spread = v / 100;
		return true;
	case 'n':
		if (!number("--warmup", text, 0, 1e9, &v))
			return false;
		o->warmup = (int64_t)v;
		return true;
	case 'K':
		if (!number("--faster", text, 0.01, 1000, &v))
			return false;
		o->scale.faster_ppm = llround(v * 1e6);
		o->has_scale = true;
		return true;
	default:
		if (!number("--scale-to", text, 1, 1e6, &v))
			return false;
		o->scale.ranks = (int64_t)v;
		o->has_scale = true;
		return true;
	}
}

/* 1: go on, 0: help was shown, -1: error. */
static int parse(int argc, char **argv, struct check_opts *o)
{
	static const struct option longs[] = {
		{ "budget", required_argument, NULL, 'b' },
		{ "baseline", required_argument, NULL, 'B' },
		{ "update-baseline", no_argument, NULL, 'u' },
		{ "add-to-baseline", no_argument, NULL, 'A' },
		{ "require-baseline", no_argument, NULL, 'r' },
		{ "alpha", required_argument, NULL, 'a' },
		{ "min-effect", required_argument, NULL, 'e' },
		{ "run-spread", required_argument, NULL, 's' },
		{ "warmup", required_argument, NULL, 'n' },
		{ "faster", required_argument, NULL, 'K' },
		{ "scale-to", required_argument, NULL, 'N' },
		{ "replay", required_argument, NULL, 'R' },
		{ "price", required_argument, NULL, 'p' },
		{ "price-model", required_argument, NULL, 'm' },
		{ "window", required_argument, NULL, 'w' },
		{ "waste", required_argument, NULL, 'W' },
		{ "fail-on-warn", no_argument, NULL, 'x' },
		{ "format", required_argument, NULL, 'f' },
		{ "also", required_argument, NULL, 'F' },
		{ "output", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	bool ok = true;
	int c;

	while (ok && (c = view_getopt(argc, argv, ":o:h", longs)) != -1) {
		switch (c) {
		case 'b':
			ok = add_budget(o, optarg);
			break;
		case 'B':
			o->baseline = optarg;
			break;
		case 'u':
			o->update = true;
			break;
		case 'A':
			o->update = o->add = true;
			break;
		case 'r':
			o->require = true;
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
		case 'R':
			o->replay = optarg;
			break;
		case 'x':
			o->fail_on_warn = true;
			break;
		case 'f':
			o->format = check_out_format("--format", optarg, strlen(optarg));
			ok = o->format;
			break;
		case 'F':
			ok = add_also(o, optarg);
			break;
		case 'o':
			o->out = optarg;
			break;
		case 'h':
			usage();
			return 0;
		case '?':
			ok = false;
			break;
		default:
			ok = set_number(o, c, optarg);
		}
	}
	return ok ? 1 : -1;
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
	if (!o->replay && argc - optind > CHECK_RUNS_MAX) {
		view_error("check: more than %d runs; name fewer", CHECK_RUNS_MAX);
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
	int go = parse(argc, argv, o);

	return go > 0 && !agree(o, argc) ? -1 : go;
}
