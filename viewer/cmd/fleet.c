/* SPDX-License-Identifier: Apache-2.0 */
/* gpustarve fleet: what the runs of an organisation cost, and why. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/log.h"
#include "core/options.h"
#include "cmd.h"
#include "fleet/asked.h"
#include "fleet/budget.h"
#include "fleet/fleet.h"
#include "fleet/load.h"

enum format {
	TEXT,
	JSON,
	CSV,
	HTML
};

#define EXIT_OFFENDERS 2 /* --require-label: some runs lack it */
#define ROWS 20

struct opts {
	enum format format;
	const char *out, *store;
	struct fleet_budgets budgets;
	struct fleet_options fleet;
};

static const char usage[] =
	"usage: gpustarve fleet [--store URL] [--by WHAT] [--since T] [--until T] [options]\n"
	"\n"
	"What all runs of a store cost, what was wasted, by whom and why.\n"
	"\n"
	"  --store URL      sqlite:FILE or clickhouse://[USER@]HOST:PORT/DATABASE;\n"
	"                   default: sqlite:gpustarve-runs/fleet.sqlite\n"
	"  --by WHAT        one table: team, user, account, project, partition, qos, cluster,\n"
	"                   gpu, model, week, end, class, line, fix, failed, bill, or label:K\n"
	"  --since T        runs that began at T or later: a date, or 12h, 30d, 8w ago\n"
	"  --until T        ... and before T\n"
	"  --team NAME      of one team only\n"
	"  --top N          rows of a list (20)\n"
	"  --require-label K\n"
	"                   list the runs without the label K; the exit status is 2 if any\n"
	"  --budget B       run=USD, team=USD/month or team:NAME=USD/week: told once at 80 %\n"
	"                   and once at 100 %; may be repeated\n"
	"  --exec CMD       started when a budget is told; see GPUSTARVE_ALERT_TEXT\n"
	"  --partial        do without the parts of a store that do not answer\n"
	"  --format F       text (default), json, csv or html\n"
	"  --links          of html: from runs to runs/ID beside the page\n"
	"  -o, --output F   write to a file instead of the terminal\n"
	"\n"
	"  gpustarve fleet --since 30d\n"
	"  gpustarve fleet --by label:experiment --format csv -o experiments.csv\n";

static bool set_format(const char *text, enum format *format)
{
	static const char *const name[] = { "text", "json", "csv", "html" };

	for (int i = 0; i < 4; i++) {
		if (!strcmp(text, name[i])) {
			*format = (enum format)i;
			return true;
		}
	}
	view_error("--format %s: no such format; one of text, json, csv, html", text);
	return false;
}

static bool set_top(const char *text, size_t *top)
{
	char *end;

	errno = 0;
	unsigned long long n = strtoull(text, &end, 10);
	if (text[0] >= '0' && text[0] <= '9' && !*end && !errno && n > 0 && n <= 1000000000) {
		*top = (size_t)n;
		return true;
	}
	view_error("--top %s: no such number; a whole one above 0", text);
	return false;
}

static bool take_query(struct fleet_options *o, int c)
{
	switch (c) {
	case 'b':
		return fleet_asked_by(optarg, o);
	case 'S':
		return fleet_asked_time("--since", optarg, &o->query.since_ns);
	case 'U':
		return fleet_asked_time("--until", optarg, &o->query.until_ns);
	case 't':
		o->query.team = optarg;
		return true;
	case 'n':
		return set_top(optarg, &o->top);
	case 'R':
		o->query.required = optarg;
		return true;
	case 'P':
		o->query.partial = true;
		return true;
	default:
		return false;
	}
}

static bool take(struct opts *o, int c)
{
	switch (c) {
	case 's':
		o->store = optarg;
		return true;
	case 'B':
		return fleet_budgets_add(&o->budgets, optarg);
	case 'x':
		o->budgets.exec = optarg;
		return true;
	case 'f':
		return set_format(optarg, &o->format);
	case 'l':
		o->fleet.links = true;
		return true;
	case 'o':
		o->out = optarg;
		return true;
	default:
		return take_query(&o->fleet, c);
	}
}

/* 1: go on, 0: help was shown, -1: error. */
static int parse(int argc, char **argv, struct opts *o)
{
	static const struct option longs[] = {
		{ "store", required_argument, NULL, 's' },
		{ "by", required_argument, NULL, 'b' },
		{ "since", required_argument, NULL, 'S' },
		{ "until", required_argument, NULL, 'U' },
		{ "team", required_argument, NULL, 't' },
		{ "top", required_argument, NULL, 'n' },
		{ "require-label", required_argument, NULL, 'R' },
		{ "budget", required_argument, NULL, 'B' },
		{ "exec", required_argument, NULL, 'x' },
		{ "partial", no_argument, NULL, 'P' },
		{ "format", required_argument, NULL, 'f' },
		{ "links", no_argument, NULL, 'l' },
		{ "output", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int c;

	while ((c = view_getopt(argc, argv, ":o:h", longs)) != -1) {
		if (c == 'h') {
			fputs(usage, stdout);
			return 0;
		}
		if (!take(o, c))
			return -1;
	}
	if (optind < argc) {
		view_error("fleet: %s: what is this for? see gpustarve fleet --help", argv[optind]);
		return -1;
	}
	return 1;
}

static void write_to(const struct opts *o, const struct fleet *f, FILE *out)
{
	struct view_text_style style = o->out ? view_text_style_plain : view_text_style_of(stdout);

	switch (o->format) {
	case TEXT:
		fleet_write_text(f, out, &style);
		break;
	case JSON:
		fleet_write_json(f, out);
		break;
	case CSV:
		fleet_write_csv(f, out);
		break;
	case HTML:
		fleet_write_html(f, out);
		break;
	}
}

static int show(const struct opts *o, const struct fleet *f)
{
	char *text = NULL;
	size_t len = 0;
	FILE *mem = open_memstream(&text, &len);

	if (!mem)
		return -ENOMEM;
	write_to(o, f, mem);
	int err = fclose(mem) ? -ENOMEM : fleet_print(text, len, o->out);
	free(text);
	return err;
}

static int run(const struct opts *o)
{
	struct fleet_store *s;
	struct fleet f = { 0 };
	/* What was told is kept in the store. */
	int err = fleet_store_open(&s, o->store, o->budgets.n > 0), status = VIEW_EXIT_OK;

	if (err)
		return VIEW_EXIT_ERROR;
	err = fleet_collect(&f, s, &o->fleet);
	if (!err)
		err = fleet_budgets_check(&f, s, &o->budgets);
	fleet_store_close(s);
	if (!err)
		err = show(o, &f);
	if (!err && f.unlabelled.count)
		status = EXIT_OFFENDERS;
	fleet_fini(&f);
	return err ? VIEW_EXIT_ERROR : status;
}

int view_cmd_fleet(int argc, char **argv)
{
	struct opts o = {
		.store = FLEET_STORE_DEFAULT,
		.fleet = { .by = FLEET_BY_NOTHING, .top = ROWS, .query = { .until_ns = INT64_MAX } }
	};
	int go = parse(argc, argv, &o);

	if (go <= 0)
		return go ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
	return run(&o);
}
