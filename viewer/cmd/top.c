/* SPDX-License-Identifier: Apache-2.0 */
/* gpustarve top: a run as it is now. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/log.h"
#include "core/options.h"
#include "cmd.h"
#include "cost/cost.h"
#include "top/top_lines.h"
#include "top/screen.h"

#define INTERVAL_LEAST_MS 100
#define INTERVAL_MOST_MS 3600000

static const char usage[] =
	"usage: gpustarve top [options] [RUN|ADDR]\n"
	"\n"
	"Shows a run while it goes on: its GPUs, how busy they are, how long they starve, what\n"
	"that costs, the ranks that waste most first. Without RUN the newest of ./gpustarve-runs.\n"
	"RUN: a run directory, or a folder of them. ADDR: unix:PATH of a collector on this\n"
	"machine, or its http:// or https:// address. A line per interval where standard output\n"
	"is no terminal.\n"
	"\n"
	"  --run ID            this run of a folder or a collector, instead of the newest\n"
	"  --interval SECONDS  time between two looks (1)\n"
	"  --once              one look, as text\n"
	"  --sort BY           waste (default), rank, busy or idle\n"
	"  --price USD         dollars per GPU-hour; else what the run or the price lists say\n"
	"  --price-model M     on-demand (default), spot, reserved or owned\n"
	"  --token-file FILE   token for the collector; else GPUSTARVE_TOKEN\n"
	"  --ca-file FILE      whose certificates https is to trust; else the system's\n"
	"\n"
	"keys: q quit, s sort by the next column, p pause, arrows and page keys scroll\n"
	"\n"
	"  gpustarve top\n"
	"  gpustarve top --once gpustarve-runs/RUN.gst\n"
	"  gpustarve top --token-file ~/.gpustarve-token https://collector.example:8443\n";

struct top_options {
	struct top_source_options source;
	int interval_ms;
	bool once;
	enum top_sort sort;
};

static bool take_interval(struct top_options *o, const char *text)
{
	int64_t nano;

	/* Decimals are read as everywhere: a price has the same form. */
	if (view_cost_parse(text, &nano) || nano / 1000000 < INTERVAL_LEAST_MS ||
	    nano / 1000000 > INTERVAL_MOST_MS) {
		view_error("--interval %s: no time; give seconds from 0.1 to 3600", text);
		return false;
	}
	o->interval_ms = (int)(nano / 1000000);
	return true;
}

static bool take_sort(struct top_options *o, const char *text)
{
	for (int i = 0; i < TOP_SORTS; i++) {
		if (strcmp(text, top_sort_names[i]))
			continue;
		o->sort = (enum top_sort)i;
		return true;
	}
	view_error("--sort %s: no such order; waste, rank, busy or idle", text);
	return false;
}

static bool take_price(struct top_options *o, const char *text)
{
	int64_t nano;

	o->source.rates.price = text;
	if (!view_cost_parse(text, &nano))
		return true;
	view_error("--price %s: no price; give dollars per GPU-hour such as 6.88", text);
	return false;
}

static bool take(struct top_options *o, int c)
{
	switch (c) {
	case 'r':
		o->source.run = optarg;
		return true;
	case 'i':
		return take_interval(o, optarg);
	case '1':
		o->once = true;
		return true;
	case 's':
		return take_sort(o, optarg);
	case 'p':
		return take_price(o, optarg);
	case 'm':
		o->source.rates.model = optarg;
		return view_option_price_model(optarg);
	case 't':
		o->source.token_file = optarg;
		return true;
	case 'c':
		o->source.ca_file = optarg;
		return true;
	default:
		return false;
	}
}

/* 1: go on, 0: help was shown, -1: wrong usage, which has been said. */
static int parse(int argc, char **argv, struct top_options *o)
{
	static const struct option longs[] = {
		{ "run", required_argument, NULL, 'r' },
		{ "interval", required_argument, NULL, 'i' },
		{ "once", no_argument, NULL, '1' },
		{ "sort", required_argument, NULL, 's' },
		{ "price", required_argument, NULL, 'p' },
		{ "price-model", required_argument, NULL, 'm' },
		{ "token-file", required_argument, NULL, 't' },
		{ "ca-file", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int c;

	*o = (struct top_options){ .interval_ms = 1000, .source.rates.price_from = "--price" };
	while ((c = view_getopt(argc, argv, ":h", longs)) != -1) {
		if (c == 'h') {
			fputs(usage, stdout);
			return 0;
		}
		if (!take(o, c))
			return -1;
	}
	if (argc - optind > 1) {
		view_error("top: more than one run; give one");
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
