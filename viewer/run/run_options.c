/* SPDX-License-Identifier: Apache-2.0 */
/* The options of `gpustarve run`: each is checked here, so that nothing fails later. */
#include <stdio.h>
#include <string.h>
#include "cost/cost.h"
#include "core/log.h"
#include "core/options.h"
#include "run.h"

static const char usage[] =
	"usage: gpustarve run [options] -- COMMAND...\n"
	"\n"
	"Runs COMMAND, records what its GPUs do, and ends with a verdict and a report.\n"
	"The exit status is COMMAND's own (127: not found, 126: not executable).\n"
	"\n"
	"  -o, --output DIR    where run directories go (./gpustarve-runs)\n"
	"  --price USD         dollars per GPU-hour\n"
	"  --price-model M     on-demand (default), spot, reserved or owned\n"
	"  --label K=V         a label of the run; may be given several times\n"
	"  --level 0|1|2       how much to record (1)\n"
	"  --max-overhead PCT  step down rather than cost more than this (1)\n"
	"  --max-trace SIZE    stop recording beyond this size, such as 2G\n"
	"  --collector ADDR    send to this collector's socket instead of starting one; or\n"
	"                      forward to a central one at https://HOST:PORT\n"
	"  --alert COND        say so, once, when this holds, such as 'idle_for>15m' or\n"
	"                      'starved_pct>20 for 10m'; may be given several times\n"
	"  --budget USD        say so at 80 % and at 100 % of it; nothing is stopped\n"
	"  --exec CMD          run this, too, when the alert or budget before it fires\n"
	"  --no-report         no verdict and no report at the end\n"
	"  -q, --quiet         print nothing of our own but errors\n"
	"\n"
	"  gpustarve run -- python train.py\n"
	"  gpustarve run --price 2.50 --label team=vision -- torchrun --nproc-per-node 8 train.py\n"
	"  gpustarve run --alert 'idle_for>15m' --exec 'mail -s idle me' -- python train.py\n";

static bool add_label(struct view_run *r, char *text)
{
	char *equals = strchr(text, '=');

	if (!equals || equals == text || strchr(text, ',')) {
		view_error("--label %s: no label; write KEY=VALUE without commas", text);
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
	view_error("--price %s: no price; give dollars per GPU-hour such as 6.88", text);
	return false;
}

static bool good_percent(const char *text)
{
	int64_t nano;

	if (!view_cost_parse(text, &nano) && nano <= 100 * VIEW_NANO_USD)
		return true;
	view_error("--max-overhead %s: no percentage; give a number such as 1 or 0.5", text);
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
	view_error("--max-trace %s: no size; write bytes, or a number with K, M, G or T", text);
	return false;
}

static bool take(struct view_run *r, int c)
{
	switch (c) {
	case 'o':
		r->out = optarg;
		return true;
	case 'c':
		r->collector = optarg;
		return true;
	case 'p':
		r->price = optarg;
		return good_price(optarg);
	case 'm':
		r->price_model = optarg;
		return view_option_price_model(optarg);
	case 'l':
		return add_label(r, optarg);
	case 'O':
		r->max_overhead = optarg;
		return good_percent(optarg);
	case 'L':
		r->level = optarg;
		return good_level(optarg);
	case 'T':
		r->max_trace = optarg;
		return good_size(optarg);
	case 'n':
		r->no_report = true;
		return true;
	case 'q':
		r->quiet = true;
		return true;
	case 'b':
		return view_alerts_budget(&r->alerts, optarg);
	case 'a':
		return view_alerts_condition(&r->alerts, optarg);
	case 'e':
		return view_alerts_exec(&r->alerts, optarg);
	default:
		return false;
	}
}

int view_run_parse(int argc, char **argv, struct view_run *r)
{
	static const struct option longs[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "collector", required_argument, NULL, 'c' },
		{ "price", required_argument, NULL, 'p' },
		{ "price-model", required_argument, NULL, 'm' },
		{ "label", required_argument, NULL, 'l' },
		{ "max-overhead", required_argument, NULL, 'O' },
		{ "level", required_argument, NULL, 'L' },
		{ "max-trace", required_argument, NULL, 'T' },
		{ "budget", required_argument, NULL, 'b' },
		{ "alert", required_argument, NULL, 'a' },
		{ "exec", required_argument, NULL, 'e' },
		{ "no-report", no_argument, NULL, 'n' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int c;

	while ((c = view_getopt(argc, argv, "+:o:qh", longs)) != -1) {
		if (c == 'h') {
			fputs(usage, stdout);
			return 0;
		}
		if (!take(r, c))
			return -1;
	}
	r->command = argv + optind;
	if (optind < argc)
		return 1;
	view_error("run: no command; write gpustarve run -- COMMAND...");
	return -1;
}
