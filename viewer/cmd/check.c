/* SPDX-License-Identifier: Apache-2.0 */
/* gpustarve check: the gate. Budgets, a baseline, and what a faster GPU would do. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "choices.h"
#include "cmd.h"
#include "check/out.h"
#include "base/log.h"
#include "base/options.h"
#include "summary/analyse.h"
#include "trace/newest.h"

#define BUDGETS_MAX 64
#define ALSO_MAX 16

struct opts {
	struct check_budget budget[BUDGETS_MAX];
	size_t budgets;
	const char *baseline, *out, *replay;
	bool update, add, require, fail_on_warn, has_waste, has_scale;
	bool waste[ANA_CLASSES];
	const struct check_format *format;
	struct {
		const struct check_format *format;
		const char *file;
	} also[ALSO_MAX]; /* what is written beside */
	size_t alsos;
	struct check_options limits;
	struct check_scale scale;
	int64_t warmup; /* -1: found */
	struct view_analysis analysis;
};

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

static bool add_budget(struct opts *o, const char *text)
{
	const char *why;

	if (o->budgets == BUDGETS_MAX) {
		view_error("--budget: more than %d of them; leave some out", BUDGETS_MAX);
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
static bool add_also(struct opts *o, const char *text)
{
	const char *file = strchr(text, '=');

	if (!file || !file[1]) {
		view_error("--also %s: no file; give a format and a file, such as junit=gate.xml",
			   text);
		return false;
	}
	if (o->alsos == ALSO_MAX) {
		view_error("--also: more than %d of them; leave some out", ALSO_MAX);
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

static bool set_number(struct opts *o, int c, const char *text)
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
static int parse(int argc, char **argv, struct opts *o)
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

/* A run with its steps; @keep_summary: for the prediction, the caller frees it. */
static int load_run(const struct opts *o, const char *path, struct view_arena *mem,
		    struct check_run *run, struct view_summary **keep_summary)
{
	struct check_collect *collect = check_collect_new(o->warmup);
	struct view_analysis a = o->analysis;
	struct check_series series = { 0 };
	struct view_summary *s = NULL;
	int err = collect ? 0 : -ENOMEM;

	a.waste = o->has_waste ? o->waste : NULL;
	a.on_step = check_collect_step;
	a.arg = collect;
	if (err)
		view_error("%s: out of memory; use a machine with more", path);
	else
		err = view_analyse(path, &a, &s);
	if (!err) {
		int no_steps = check_collect_end(collect, s->result, &series);
		if (no_steps && no_steps != -ENODATA)
			err = no_steps;
		check_run_make(run, mem, s, &series);
	}
	if (keep_summary && !err)
		*keep_summary = s;
	else if (s)
		view_summary_free(s);
	check_collect_free(collect);
	return err;
}

/* -- the baseline ------------------------------------------------------------------------------- */

struct baseline {
	struct check_run run[CHECK_RUNS_MAX];
	size_t runs;
	bool missing;
};

static bool is_file_of_ours(const char *path)
{
	struct stat st;
	size_t len = strlen(path);

	return !stat(path, &st) && S_ISREG(st.st_mode) && len > 5 &&
	       !strcmp(path + len - 5, ".json");
}

static int load_baseline(const struct opts *o, const char *path, struct view_arena *mem,
			 struct baseline *b)
{
	struct stat st;
	const char *why;
	int err;

	if (stat(path, &st) && errno == ENOENT) {
		b->missing = true;
		return 0;
	}
	if (!is_file_of_ours(path)) {
		err = load_run(o, path, mem, &b->run[0], NULL);
		b->runs = !err;
		return err;
	}
	err = check_baseline_read(path, mem, b->run, &b->runs, &why);
	if (err)
		view_error("%s: %s; make it anew with --update-baseline", path, why);
	return err;
}

static void baseline_fini(struct baseline *b)
{
	while (b->runs)
		check_run_fini(&b->run[--b->runs]);
}

/* -- judging ------------------------------------------------------------------------------------ */

static void judge_run(const struct opts *o, struct check_result *r, const struct check_run *run,
		      const struct view_summary *s)
{
	check_judge_whole(r, run);
	if (o->has_scale) {
		check_judge_prediction(r, run, s, &o->scale, o->budget, o->budgets);
		return;
	}
	for (size_t i = 0; i < o->budgets; i++)
		check_judge_budget(r, &o->budget[i], run);
}

static int judge_baseline(const struct opts *o, struct check_result *r, const struct baseline *b,
			  const struct check_run *run, size_t runs)
{
	if (!o->baseline || o->update)
		return 0;
	if (b->missing && o->require) {
		view_error("%s: no such baseline; make it with --update-baseline", o->baseline);
		return -ENOENT;
	}
	if (b->missing)
		check_result_add(r, CHECK_WARN, "baseline", run[0].id,
				 "there is no baseline yet; make it with --update-baseline");
	else
		check_judge_change(r, b->run, b->runs, run, runs, &o->limits);
	return 0;
}

static int write_result(const struct opts *o, const struct check_result *r)
{
	int err = check_out_write(r, o->format, o->out);

	for (size_t i = 0; i < o->alsos && !err; i++)
		err = check_out_write(r, o->also[i].format, o->also[i].file);
	return err;
}

static bool among(const struct check_run *one, const struct check_run *run, size_t runs)
{
	for (size_t i = 0; i < runs; i++)
		if (!strcmp(one->id, run[i].id))
			return true;
	return false;
}

/* What the baseline is to hold: with --add-to-baseline the runs that are there, then the new ones. */
static int merge(const struct opts *o, const struct baseline *b, const struct check_run *run,
		 size_t runs, struct view_arena *mem, struct check_run *all, size_t *count)
{
	*count = 0;
	for (size_t i = 0; i < b->runs && o->add; i++) {
		const char *why = check_run_differ(mem, &b->run[i], &run[0]);
		if (why) {
			view_error("%s: %s; make it anew with --update-baseline", o->baseline, why);
			return -EINVAL;
		}
		if (!among(&b->run[i], run, runs))
			all[(*count)++] = b->run[i];
	}
	size_t most = runs > CHECK_RUNS_ADDED ? runs : CHECK_RUNS_ADDED;
	size_t gone = *count + runs > most ? *count + runs - most : 0;
	memmove(all, all + gone, (*count - gone) * sizeof(*all));
	*count -= gone;
	memcpy(all + *count, run, runs * sizeof(*all));
	*count += runs;
	return 0;
}

static int update(const struct opts *o, const struct baseline *b, const struct check_run *run,
		  size_t runs, struct check_result *r)
{
	struct check_run all[2 * CHECK_RUNS_MAX];
	size_t count;
	int err;

	if (!o->update)
		return 0;
	for (size_t i = 0; i < runs; i++) {
		if (run[i].complete)
			continue;
		view_error("%s: the run did not end as a run does; a baseline wants whole ones",
			   run[i].id);
		return -EINVAL;
	}
	err = merge(o, b, run, runs, r->mem, all, &count);
	if (err)
		return err;
	err = check_baseline_write(o->baseline, all, count);
	if (err)
		view_error("%s: %s; name a file in a folder you may write to", o->baseline,
			   strerror(-err));
	else
		check_result_add(r, CHECK_PASS, "baseline", run[runs - 1].id,
				 view_arena_printf(r->mem, "%s holds %zu run%s now", o->baseline,
						   count, count == 1 ? "" : "s"));
	return err;
}

static int check_runs(const struct opts *o, char **path, size_t paths, struct check_result *r,
		      struct check_run *run, size_t *runs)
{
	for (size_t i = 0; i < paths; i++) {
		struct view_summary *s = NULL;
		int err = load_run(o, path[i], r->mem, &run[i], &s);
		if (err)
			return err;
		(*runs)++;
		judge_run(o, r, &run[i], s);
		view_summary_free(s);
	}
	return 0;
}

/* The command's loader as a run of the recorded GPU. */
static int check_command(const struct opts *o, char **command, struct check_result *r,
			 struct check_run *run, size_t *runs)
{
	struct baseline *recorded = calloc(1, sizeof(*recorded));
	struct check_replay replay = { 0 };
	int err = recorded ? load_baseline(o, o->replay, r->mem, recorded) : -ENOMEM;

	if (!err && recorded->missing) {
		view_error("%s: no such run or baseline; record one with gpustarve run", o->replay);
		err = -ENOENT;
	}
	if (!err)
		err = check_replay(&recorded->run[0], command, r->mem, &replay);
	if (!err) {
		check_judge_replay(r, &replay);
		run[(*runs)++] = replay.run;
		for (size_t i = 0; i < o->budgets; i++)
			check_judge_budget(r, &o->budget[i], &replay.run);
	}
	if (recorded)
		baseline_fini(recorded);
	free(recorded);
	return err;
}

static int check(const struct opts *o, char **operand, size_t operands)
{
	struct check_run run[CHECK_RUNS_MAX] = { 0 };
	struct baseline *base = calloc(1, sizeof(*base));
	struct view_arena mem = { 0 };
	struct check_result r;
	size_t runs = 0;
	int err = base ? 0 : -ENOMEM;

	check_result_init(&r, &mem);
	if (!err && o->replay)
		err = check_command(o, operand, &r, run, &runs);
	else if (!err)
		err = check_runs(o, operand, operands, &r, run, &runs);
	if (!err && o->baseline && (!o->update || o->add))
		err = load_baseline(o, o->baseline, &mem, base);
	if (!err)
		err = judge_baseline(o, &r, base, run, runs);
	if (!err)
		err = update(o, base, run, runs, &r);
	if (!err)
		err = write_result(o, &r);
	int status = err ? CHECK_EXIT_ERROR : check_result_exit(&r, o->fail_on_warn);
	while (runs)
		check_run_fini(&run[--runs]);
	if (base)
		baseline_fini(base);
	free(base);
	view_arena_fini(&mem);
	return status;
}

int view_cmd_check(int argc, char **argv)
{
	struct opts o = {
		.analysis.rates.price_from = "--price",
		.format = check_formats,
		.limits = { .alpha = 0.01, .min_effect = 0.015, .run_spread = CHECK_SPREAD },
		.scale = { .faster_ppm = 1000000 },
		.warmup = -1
	};
	int go = parse(argc, argv, &o);

	if (go <= 0)
		return go ? CHECK_EXIT_ERROR : CHECK_EXIT_PASS;
	if (optind == argc && o.replay) {
		view_error("check: --replay needs a command that goes through the loader, such as "
			   "-- python loader_loop.py");
		return CHECK_EXIT_ERROR;
	}
	if (optind == argc) {
		view_say_no_run("check");
		return CHECK_EXIT_ERROR;
	}
	if (!o.replay && argc - optind > CHECK_RUNS_MAX) {
		view_error("check: more than %d runs; name fewer", CHECK_RUNS_MAX);
		return CHECK_EXIT_ERROR;
	}
	if (o.replay && o.has_scale) {
		view_error("check: --replay predicts from a loader that runs, --faster and "
			   "--scale-to from a recorded one; leave one out");
		return CHECK_EXIT_ERROR;
	}
	if ((o.update || o.require) && !o.baseline) {
		view_error("check: --%s needs --baseline FILE", o.add	   ? "add-to-baseline"
								: o.update ? "update-baseline"
									   : "require-baseline");
		return CHECK_EXIT_ERROR;
	}
	return check(&o, argv + optind, (size_t)(argc - optind));
}
