/* SPDX-License-Identifier: Apache-2.0 */
/* The options of `gpustarve run`: each is checked here, so that nothing fails later. */
#include <stdio.h>
#include <string.h>
#include "base/options.h"
#include "cost/cost.h"
#include "core/log.h"
#include "core/values.h"
#include "run.h"

static bool add_label(void *into, char *text)
{
	struct view_run *r = into;
	char *equals = strchr(text, '=');

	if (!equals || equals == text || strchr(text, ',')) {
		view_error("--label %s: not a label; write KEY=VALUE without commas", text);
		return false;
	}
	if (r->labels == VIEW_RUN_LABELS) {
		view_error("--label %s: more than %d labels; leave some out", text,
			   VIEW_RUN_LABELS);
		return false;
	}
	*equals = '\0';
	r->label[r->labels++] = (struct view_run_label){ text, equals + 1 };
	return true;
}

static bool good_price(const char *text)
{
	int64_t nano;

	if (!view_cost_parse(text, &nano))
		return true;
	view_error("--price %s: not a price; give dollars per GPU-hour such as 6.88", text);
	return false;
}

static bool good_percent(const char *text)
{
	int64_t nano;

	if (!view_cost_parse(text, &nano) && nano <= 100 * VIEW_NANO_USD)
		return true;
	view_error("--max-overhead %s: not a percentage; give a number such as 1 or 0.5", text);
	return false;
}

static bool good_level(const char *text)
{
	if (text[0] >= '0' && text[0] <= '2' && !text[1])
		return true;
	view_error("--level %s: no such level; 0, 1 or 2", text);
	return false;
}

static bool good_size(const char *text)
{
	uint64_t bytes;

	if (view_option_size(text, &bytes))
		return true;
	view_error("--max-trace %s: not a size; write bytes, or a number with K, M, G or T", text);
	return false;
}

static bool add_alert(void *into, char *text)
{
	struct view_run *r = into;

	return view_alerts_condition(&r->alerts, text);
}

static bool set_budget(void *into, char *text)
{
	struct view_run *r = into;

	return view_alerts_budget(&r->alerts, text);
}

static bool set_exec(void *into, char *text)
{
	struct view_run *r = into;

	return view_alerts_exec(&r->alerts, text);
}

static bool add_unit(void *into, char *text)
{
	struct view_run *r = into;

	return view_option_unit(r->unit, &r->units, text);
}

static const char usage[] =
	"usage: gpustarve run [options] -- COMMAND...\n"
	"\n"
	"Runs COMMAND, records what its GPUs do, and ends with a diagnosis and a report.\n"
	"The exit status is COMMAND's own (127: not found, 126: not executable).\n"
	"\n";

static const char usage_tail[] =
	"\n"
	"  gpustarve run -- python train.py\n"
	"  gpustarve run --price 2.50 --label team=vision -- torchrun --nproc-per-node 8 train.py\n"
	"  gpustarve run --alert 'idle_for>15m' --exec 'mail -s idle me' -- python train.py\n";

static const struct base_opt opt[] = {
	{ "output", 'o', "DIR", "where run directories go (./gpustarve-runs)",
	  BASE_TEXT(struct view_run, out), .words = BASE_WORDS_FOLDER },
	{ "price", 0, "USD", "dollars per GPU-hour", BASE_TEXT(struct view_run, price),
	  .good = good_price },
	{ "price-model", 0, "M", "on-demand (default), spot, reserved or owned",
	  BASE_TEXT(struct view_run, price_model), .good = view_option_price_model,
	  .words = VIEW_PRICE_MODELS },
	{ "label", 0, "K=V", "a label of the run; may be repeated", .take = add_label,
	  .repeats = true },
	{ "no-identities", 0, NULL, "no labels of what W&B, MLflow, Hydra, git and containers tell",
	  BASE_FLAG(struct view_run, no_identities) },
	{ "unit", 0, "NAME=COUNT",
	  "what the run brings forth, such as tokens=1048576, for the cost of\n"
	  "each; may be repeated",
	  .take = add_unit, .repeats = true },
	{ "level", 0, "0|1|2", "how much to record (1)", BASE_TEXT(struct view_run, level),
	  .good = good_level, .words = "0 1 2" },
	{ "max-overhead", 0, "PCT", "step down rather than cost more than this (1)",
	  BASE_TEXT(struct view_run, max_overhead), .good = good_percent },
	{ "max-trace", 0, "SIZE", "stop recording beyond this size, such as 2G",
	  BASE_TEXT(struct view_run, max_trace), .good = good_size },
	{ "collector", 0, "ADDR",
	  "send to this collector's socket instead of starting one; or\n"
	  "forward to a central one at https://HOST:PORT",
	  BASE_TEXT(struct view_run, collector), .words = BASE_WORDS_FILE },
	{ "alert", 0, "COND",
	  "say so once when this holds, such as 'idle_for>15m' or\n"
	  "'starved_pct>20 for 10m'; may be repeated",
	  .take = add_alert, .repeats = true },
	{ "budget", 0, "USD", "say so at 80 % and at 100 % of it; nothing is stopped",
	  .take = set_budget },
	{ "exec", 0, "CMD", "run this, too, when the alert or budget before it fires",
	  .take = set_exec, .repeats = true },
	{ "no-projection", 0, NULL,
	  "sums of the run alone at the end: nothing per GPU-hour, day,\n"
	  "month or thousand steps",
	  BASE_FLAG(struct view_run, no_projection) },
	{ "open", 0, NULL,
	  "show the report's page in a browser at the end, if stderr is a\n"
	  "terminal",
	  BASE_FLAG(struct view_run, open) },
	{ "no-report", 0, NULL, "no diagnosis and no report at the end",
	  BASE_FLAG(struct view_run, no_report) },
	{ "quiet", 'q', NULL, "print nothing of our own but errors",
	  BASE_FLAG(struct view_run, quiet) },
	{ BASE_HELP },
	{ 0 },
};

const struct base_options view_run_options = {
	.command = "run",
	.usage = usage,
	.column = 22,
	.opt = opt,
	.tail = usage_tail,
	.wraps = true,
	.error = view_error,
};

int view_run_parse(int argc, char **argv, struct view_run *r)
{
	int go = base_options_parse(&view_run_options, argc, argv, r);

	if (go <= 0)
		return go;
	r->command = argv + optind;
	if (optind < argc)
		return 1;
	view_error("run: no command; write gpustarve run -- COMMAND...");
	return -1;
}
