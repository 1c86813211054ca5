/* SPDX-License-Identifier: Apache-2.0 */
/* gpustarve top: a run as it is now. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/values.h"
#include "base/options.h"
#include "core/log.h"
#include "cmd.h"
#include "cost/cost.h"
#include "top/top_lines.h"
#include "top/screen.h"

#define INTERVAL_LEAST_MS 100
#define INTERVAL_MOST_MS 3600000

struct top_options {
	struct top_source_options source;
	int interval_ms;
	bool once;
	enum top_sort sort;
};

static bool take_interval(void *into, char *text)
{
	struct top_options *o = into;
	int64_t nano;

	/* Decimals are read as everywhere: a price has the same form. */
	if (view_cost_parse(text, &nano) || nano / 1000000 < INTERVAL_LEAST_MS ||
	    nano / 1000000 > INTERVAL_MOST_MS) {
		view_error("--interval %s: not a time; give seconds from 0.1 to 3600", text);
		return false;
	}
	o->interval_ms = (int)(nano / 1000000);
	return true;
}

static bool take_sort(void *into, char *text)
{
	struct top_options *o = into;
	for (int i = 0; i < TOP_SORTS; i++) {
		if (strcmp(text, top_sort_names[i]))
			continue;
		o->sort = (enum top_sort)i;
		return true;
	}
	view_error("--sort %s: no such order; waste, rank, busy or idle", text);
	return false;
}

static bool good_price(const char *text)
{
	int64_t nano;

	if (!view_cost_parse(text, &nano))
		return true;
	view_error("--price %s: not a price; give dollars per GPU-hour such as 6.88", text);
	return false;
}

static const char *sort_word(size_t i)
{
	return i < TOP_SORTS ? top_sort_names[i] : NULL;
}

static const char usage[] =
	"usage: gpustarve top [options] [RUN|ADDR]\n"
	"       gpustarve top --store URL [--run [TEAM/]ID] [options]\n"
	"\n"
	"Shows a run while it goes on: its GPUs, how busy they are, how long they starve, what\n"
	"that costs, the ranks that waste most first. Without RUN the newest of "
	"./gpustarve-runs.\n"
	"RUN: a run directory, or a folder of them. ADDR: unix:PATH of a collector on this\n"
	"machine, or its http:// or https:// address. A line per interval where standard output\n"
	"is not a terminal.\n"
	"\n";

static const struct base_opt opt[] = {
	{ "run", 0, "ID", "this run of a folder or a collector, instead of the newest",
	  BASE_TEXT(struct top_options, source.run) },
	{ "store", 0, "URL",
	  "ask the store that gateways write to: sqlite:FILE or\n"
	  "clickhouse://HOST:PORT/DATABASE",
	  BASE_TEXT(struct top_options, source.store) },
	{ "interval", 0, "SECONDS", "time between two updates (1)", .take = take_interval },
	{ "once", 0, NULL, "one update, as text", BASE_FLAG(struct top_options, once) },
	{ "sort", 0, "BY", "waste (default), rank, busy or idle", .take = take_sort,
	  .word = sort_word },
	{ "price", 0, "USD", "dollars per GPU-hour; else what the run or the price lists say",
	  BASE_TEXT(struct top_options, source.rates.price), .good = good_price },
	{ "price-model", 0, "M", "on-demand (default), spot, reserved or owned",
	  BASE_TEXT(struct top_options, source.rates.model), .good = view_option_price_model,
	  .words = VIEW_PRICE_MODELS },
	{ "token-file", 0, "FILE", "token for the collector; else GPUSTARVE_TOKEN",
	  BASE_TEXT(struct top_options, source.token_file), .words = BASE_WORDS_FILE },
	{ "ca-file", 0, "FILE", "whose certificates https is to trust; else the system's",
	  BASE_TEXT(struct top_options, source.ca_file), .words = BASE_WORDS_FILE },
	{ BASE_HELP },
	{ 0 },
};

const struct base_options view_top_options = {
	.command = "top",
	.usage = usage,
	.column = 22,
	.opt = opt,
	.tail = "\n"
		"keys: q quit, s sort by the next column, p pause, arrows and page keys scroll\n"
		"\n"
		"  gpustarve top\n"
		"  gpustarve top --once gpustarve-runs/RUN.gst\n"
		"  gpustarve top --token-file ~/.gpustarve-token https://collector.example:8443\n",
	.error = view_error,
};

/* 1: go on, 0: help was shown, -1: wrong usage, which has been said. */
static int parse(int argc, char **argv, struct top_options *o)
{
	int go;

	*o = (struct top_options){ .interval_ms = 1000,
				   .source.rates.price_from = "--price",
				   .source.kind = true };
	go = base_options_parse(&view_top_options, argc, argv, o);
	if (go <= 0)
		return go;
	if (argc - optind > 1) {
		view_error("top: more than one run; give one");
		return -1;
	}
	if (o->source.store && optind < argc) {
		view_error("top: --store names a run by --run ID; leave the other one out");
		return -1;
	}
	o->source.what = optind < argc ? argv[optind] : NULL;
	return 1;
}

int view_cmd_top(int argc, char **argv)
{
	struct top_options o;
	struct top_source *s;
	int go = parse(argc, argv, &o), err = -ENOTTY;

	if (go <= 0)
		return go ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
	s = top_source_open(&o.source);
	if (!s)
		return VIEW_EXIT_ERROR;
	if (!o.once && isatty(STDOUT_FILENO) && isatty(STDIN_FILENO))
		err = top_screen_run(s, o.interval_ms, o.sort);
	if (err == -ENOTTY)
		err = o.once ? top_lines_once(s, o.sort, stdout)
			     : top_lines_run(s, o.interval_ms, stdout);
	s->free(s);
	return err ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
}
