/* SPDX-License-Identifier: Apache-2.0 */
/* gpustarve check: the gate. Budgets, a baseline, and what a faster GPU would do. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "core/log.h"
#include "check_base.h"
#include "check_options.h"
#include "cmd.h"

static void judge_run(const struct check_opts *o, struct check_result *r,
		      const struct check_run *run, const struct view_summary *s)
{
	check_judge_whole(r, run);
	if (run->series.steps < o->at_step)
		check_result_add(r, CHECK_WARN, "steps", run->id,
				 base_arena_printf(r->mem,
						   "it took %" PRIu64 " steps%s, not the %" PRIu64
						   " of --at-step",
						   run->series.steps,
						   run->partly ? " that were recorded" : "",
						   o->at_step));
	if (o->has_scale) {
		check_judge_prediction(r, run, s, &o->scale, o->budget, o->budgets);
		return;
	}
	for (size_t i = 0; i < o->budgets; i++)
		check_judge_budget(r, &o->budget[i], run);
}

static int judge_baseline(const struct check_opts *o, struct check_result *r,
			  const struct check_base *b, const struct check_run *run, size_t runs)
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

static int write_result(const struct check_opts *o, const struct check_result *r)
{
	int err = check_out_write(r, o->format, o->out);

	for (size_t i = 0; i < o->alsos && !err; i++)
		err = check_out_write(r, o->also[i].format, o->also[i].file);
	return err;
}

static int check_runs(const struct check_opts *o, char **path, size_t paths, struct check_result *r,
		      struct check_run *run, size_t *runs)
{
	for (size_t i = 0; i < paths; i++) {
		struct view_summary *s = NULL;
		int err = check_await_run(o, path[i], r->mem, &run[i], &s);
		if (err)
			return err;
		(*runs)++;
		judge_run(o, r, &run[i], s);
		view_summary_free(s);
	}
	return 0;
}

/* The command's loader as a run of the recorded GPU. */
static int check_command(const struct check_opts *o, char **command, struct check_result *r,
			 struct check_run *run, size_t *runs)
{
	struct check_base *recorded = calloc(1, sizeof(*recorded));
	struct check_replay replay = { 0 };
	int err = recorded ? check_base_load(o, o->replay, r->mem, recorded) : -ENOMEM;

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
		check_base_fini(recorded);
	free(recorded);
	return err;
}

static int check(const struct check_opts *o, char **operand, size_t operands)
{
	struct check_run run[CHECK_RUNS_MAX] = { 0 };
	struct check_base *base = calloc(1, sizeof(*base));
	struct base_arena mem = { 0 };
	struct check_result r;
	size_t runs = 0;
	int err = base ? 0 : -ENOMEM;

	check_result_init(&r, &mem);
	if (!err && o->replay)
		err = check_command(o, operand, &r, run, &runs);
	else if (!err)
		err = check_runs(o, operand, operands, &r, run, &runs);
	if (!err && o->baseline && (!o->update || o->add))
		err = check_base_load(o, o->baseline, &mem, base);
	if (!err)
		err = judge_baseline(o, &r, base, run, runs);
	if (!err)
		err = check_base_update(o, base, run, runs, &r);
	if (!err)
		err = write_result(o, &r);
	int status = err ? CHECK_EXIT_ERROR : check_result_exit(&r, o->fail_on_warn);
	while (runs)
		check_run_fini(&run[--runs]);
	if (base)
		check_base_fini(base);
	free(base);
	base_arena_fini(&mem);
	return status;
}

int view_cmd_check(int argc, char **argv)
{
	struct check_opts o = {
		.analysis.rates.price_from = "--price",
		.format = check_formats,
		.limits = { .alpha = 0.01, .min_effect = 0.015, .run_spread = CHECK_SPREAD },
		.scale = { .faster_ppm = 1000000 },
		.warmup = -1
	};
	int go = check_options(argc, argv, &o);

	if (go <= 0)
		return go ? CHECK_EXIT_ERROR : CHECK_EXIT_PASS;
	if (o.baselines)
		return check_training(&o, argv[optind]);
	return check(&o, argv + optind, (size_t)(argc - optind));
}
