/* SPDX-License-Identifier: Apache-2.0 */
/* gpustarve fleet: what the runs of an organisation cost, and why. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/options.h"
#include "core/log.h"
#include "cmd.h"
#include "fleet/asked.h"
#include "fleet/budget.h"
#include "fleet/fleet.h"
#include "fleet/fleet_focus.h"
#include "fleet/hours.h"
#include "fleet/load.h"
#include "fleet/reprice.h"

enum format {
	TEXT,
	JSON,
	CSV,
	HTML,
	FOCUS
};

#define EXIT_OFFENDERS 2 /* --require-label: some runs lack it */
#define ROWS 20
#define ROWS_REVIEW 10 /* of each answer, so that they fit a page */

struct opts {
	enum format format;
	const char *out, *store, *prices, *currency;
	bool plan;
	struct fleet_plan_given given;
	struct fleet_budgets budgets;
	struct fleet_options fleet;
	char **run; /* folders of runs, or runs, in the place of a store */
	int runs;
};

static bool set_format(void *into, char *text)
{
	struct opts *o = into;
	static const char *const name[] = { "text", "json", "csv", "html", "focus" };

	for (int i = 0; i < 5; i++) {
		if (!strcmp(text, name[i])) {
			o->format = (enum format)i;
			return true;
		}
	}
	view_error("--format %s: no such format; one of text, json, csv, html, focus", text);
	return false;
}

static bool set_top(void *into, char *text)
{
	struct opts *o = into;
	char *end;

	errno = 0;
	unsigned long long n = strtoull(text, &end, 10);
	if (text[0] >= '0' && text[0] <= '9' && !*end && !errno && n > 0 && n <= 1000000000) {
		o->fleet.top = (size_t)n;
		return true;
	}
	view_error("--top %s: not a whole number above 0", text);
	return false;
}

static bool set_by(void *into, char *text)
{
	struct opts *o = into;

	return fleet_asked_by(text, &o->fleet);
}

/* The tables, in their order; a label's is named by the label. */
static const char *by_word(size_t i)
{
	int by = (int)i + (i >= FLEET_DIM_LABEL);

	return by < FLEET_BYS ? fleet_by_name(by) : fleet_asked_label((size_t)(by - FLEET_BYS));
}

static bool set_since(void *into, char *text)
{
	struct opts *o = into;

	return fleet_asked_time("--since", text, &o->fleet.query.since_ns);
}

static bool set_until(void *into, char *text)
{
	struct opts *o = into;

	return fleet_asked_time("--until", text, &o->fleet.query.until_ns);
}

static bool set_timezone(void *into, char *text)
{
	(void)into;
	if (fleet_zone_set(text))
		return true;
	view_error("--timezone %s: no such zone here; name one such as Europe/Berlin", text);
	return false;
}

static bool add_own(void *into, char *text)
{
	struct opts *o = into;

	return fleet_plan_add_own(&o->given, text);
}

static bool add_reserved(void *into, char *text)
{
	struct opts *o = into;

	return fleet_plan_add_reserved(&o->given, text);
}

static bool add_budget(void *into, char *text)
{
	struct opts *o = into;

	return fleet_budgets_add(&o->budgets, text);
}

static const char usage[] =
	"usage: gpustarve fleet [FOLDER | RUN]... [--by WHAT] [--since T] [--until T] [options]\n"
	"       gpustarve fleet --store URL [--by WHAT] [--since T] [--until T] [options]\n"
	"\n"
	"What all runs of a folder or of a store cost, what was wasted, by whom and why.\n"
	"\n";

static const struct base_opt opt[] = {
	{ "store", 0, "URL",
	  "sqlite:FILE or clickhouse://[USER@]HOST:PORT/DATABASE;\n"
	  "default: sqlite:gpustarve-runs/fleet.sqlite",
	  BASE_TEXT(struct opts, store) },
	{ "by", 0, "WHAT",
	  "one table: team, user, account, project, partition, qos, cluster,\n"
	  "kind, provider, instance, gpu, model, week, end, class, line, fix,\n"
	  "compute, failed, bill, month, run, lost, unused, hours, off-hours,\n"
	  "plan, savings, review, namespace, or label:K",
	  .take = set_by, .word = by_word },
	{ "since", 0, "T", "runs that began at T or later: a date, or 12h, 30d, 8w ago",
	  .take = set_since },
	{ "until", 0, "T", "... and before T", .take = set_until },
	{ "team", 0, "NAME", "of one team only", BASE_TEXT(struct opts, fleet.query.team) },
	{ "top", 0, "N", "rows of a list (20; of a review 10)", .take = set_top },
	{ "plan", 0, NULL, "how many GPUs were held at once, and how many to reserve or own",
	  BASE_FLAG(struct opts, plan) },
	{ "reserved", 0, "R", "of a plan: so many are reserved now: H100=16; may be repeated",
	  .take = add_reserved, .repeats = true },
	{ "own", 0, "O",
	  "of a plan: what one costs to buy, over how many years, and an hour\n"
	  "then: H100=31000,4,0.35; may be repeated",
	  .take = add_own, .repeats = true },
	{ "prices", 0, "FILE",
	  "all runs at the prices of this file (gpustarve-prices(1)) instead of\n"
	  "those that they were stored with",
	  BASE_TEXT(struct opts, prices), .words = BASE_WORDS_FILE },
	{ "currency", 0, "FILE",
	  "show it in another currency, at the rate of that file, which has a\n"
	  "source and a date, or none; default: GPUSTARVE_CURRENCY, else\n"
	  "/etc/gpustarve/currency.csv",
	  BASE_TEXT(struct opts, currency), .words = BASE_WORDS_FILE },
	{ "timezone", 0, "NAME",
	  "of hours and off-hours, such as Europe/Berlin; default: this machine's",
	  .take = set_timezone },
	{ "sacct", 0, "FILE",
	  "what `sacct -P` printed: of all GPU-hours that jobs were given, which\n"
	  "are recorded, by account",
	  BASE_TEXT(struct opts, fleet.sacct), .words = BASE_WORDS_FILE },
	{ "invoice", 0, "FILE",
	  "the provider's charges (FOCUS, CSV) beside what is recorded, to the\n"
	  "cent",
	  BASE_TEXT(struct opts, fleet.invoice), .words = BASE_WORDS_FILE },
	{ "require-label", 0, "K",
	  "list the runs without the label K; exit status 2 if there are any",
	  BASE_TEXT(struct opts, fleet.query.required) },
	{ "budget", 0, "B",
	  "run=USD, team=USD/month or team:NAME=USD/week: reported once at\n"
	  "80 % and once at 100 %; may be repeated",
	  .take = add_budget, .repeats = true },
	{ "exec", 0, "CMD", "run when a budget is reported; see GPUSTARVE_ALERT_TEXT",
	  BASE_TEXT(struct opts, budgets.exec) },
	{ "partial", 0, NULL, "do without the parts of a store that do not answer",
	  BASE_FLAG(struct opts, fleet.query.partial) },
	{ "format", 0, "F", "text (default), json, csv, html or focus", .take = set_format,
	  .words = "text json csv html focus" },
	{ "links", 0, NULL, "of html: link each run to runs/ID beside the page",
	  BASE_FLAG(struct opts, fleet.links) },
	{ "output", 'o', "F", "write to a file instead of the terminal",
	  BASE_TEXT(struct opts, out), .words = BASE_WORDS_FILE },
	{ BASE_HELP },
	{ 0 },
};

const struct base_options view_fleet_options = {
	.command = "fleet",
	.usage = usage,
	.column = 19,
	.opt = opt,
	.tail = "\n"
		"  gpustarve fleet gpustarve-runs\n"
		"  gpustarve fleet --since 30d\n"
		"  gpustarve fleet --by label:experiment --format csv -o experiments.csv\n",
	.error = view_error,
};

/* 1: go on, 0: help was shown, -1: error. */
static int parse(int argc, char **argv, struct opts *o)
{
	int go = base_options_parse(&view_fleet_options, argc, argv, o);

	if (go <= 0)
		return go;
	o->run = argv + optind;
	o->runs = argc - optind;
	if (o->runs && o->store) {
		view_error("fleet: name runs or --store, not both; see gpustarve fleet --help");
		return -1;
	}
	if (o->plan && o->fleet.by != FLEET_BY_NOTHING && o->fleet.by != FLEET_BY_PLAN) {
		view_error("fleet: --plan is a table of its own; leave out --by");
		return -1;
	}
	if (o->plan)
		o->fleet.by = FLEET_BY_PLAN;
	if (!o->fleet.top)
		o->fleet.top = o->fleet.by == FLEET_BY_REVIEW ? ROWS_REVIEW : ROWS;
	if ((o->given.owns || o->given.reserveds) && o->fleet.by != FLEET_BY_PLAN) {
		view_error("fleet: --own and --reserved are of --plan");
		return -1;
	}
	o->given.prices = o->prices;
	o->fleet.plan = &o->given;
	if (o->prices && o->budgets.n) {
		view_error("fleet: budgets are of the stored prices; leave out --prices");
		return -1;
	}
	return 1;
}

static void write_csv(const struct fleet *f, FILE *out)
{
	char *csv = NULL;
	size_t len = 0;
	FILE *mem = fleet_csv_is_converted(f) ? open_memstream(&csv, &len) : NULL;

	fleet_write_csv(f, mem ? mem : out);
	if (mem && !fclose(mem))
		fleet_currency_csv(f->options.currency, csv, out);
	free(csv);
}

static void write_to(const struct opts *o, const struct fleet *f, const struct fleet *converted,
		     FILE *out)
{
	struct view_text_style style = o->out ? view_text_style_plain : view_text_style_of(stdout);
	struct view_text_ascii ascii;

	switch (o->format) {
	case TEXT:
		fleet_write_text(f, view_text_begin(&ascii, out, &style), &style);
		view_text_end(&ascii);
		break;
	case JSON:
		fleet_write_json(f, converted, out);
		break;
	case CSV:
		write_csv(f, out);
		break;
	case HTML:
		fleet_write_html(f, out);
		break;
	case FOCUS: /* of the store itself */
		break;
	}
}

static int show(const struct opts *o, const struct fleet *f, const struct fleet *converted)
{
	char *text = NULL;
	size_t len = 0;
	FILE *mem = open_memstream(&text, &len);

	if (!mem)
		return -ENOMEM;
	write_to(o, f, converted, mem);
	int err = fclose(mem) ? -ENOMEM : fleet_print(text, len, o->out);
	free(text);
	return err;
}

/* The store that was named, or one in memory with the runs that were. *left_out: those not read. */
static int open_store(const struct opts *o, struct fleet_store **s, size_t *left_out)
{
	int err;

	*left_out = 0;
	if (!o->runs) /* what was told of budgets is kept in the store */
		return fleet_store_open(s, o->store ? o->store : FLEET_STORE_DEFAULT,
					o->budgets.n > 0);
	err = fleet_store_open(s, FLEET_STORE_MEMORY, true);
	if (!err)
		err = fleet_load_runs(*s, o->run, (size_t)o->runs, left_out);
	if (err) {
		fleet_store_close(*s);
		*s = NULL;
	}
	return err;
}

/* The same at other prices. */
static int at_prices(const struct opts *o, struct fleet_store **s)
{
	struct fleet_store *as_stored = *s;
	int err;

	if (!o->prices)
		return 0;
	err = fleet_store_reprice(s, as_stored, o->prices);
	fleet_store_close(as_stored);
	return err;
}

static int show_focus(const struct opts *o, struct fleet_store *s)
{
	char *text = NULL;
	size_t len = 0;
	FILE *mem = open_memstream(&text, &len);
	int err = mem ? fleet_write_focus(s, &o->fleet.query, o->fleet.currency, mem) : -ENOMEM;

	if (mem && fclose(mem) && !err)
		err = -ENOMEM;
	if (!err)
		err = fleet_print(text, len, o->out);
	free(text);
	return err;
}

/* JSON tells dollars, and the currency beside them. */
static int convert(const struct opts *o, struct fleet *f, struct fleet_store *s,
		   struct fleet *other)
{
	int err = o->format == JSON ? fleet_collect(other, s, &o->fleet) : 0;

	return err ? err : fleet_convert(o->format == JSON ? other : f);
}

static int run(const struct opts *o)
{
	struct fleet_store *s;
	struct fleet f = { 0 }, other = { 0 };
	size_t left_out;
	int err = open_store(o, &s, &left_out), status = VIEW_EXIT_OK;

	if (!err)
		err = at_prices(o, &s);
	if (err)
		return VIEW_EXIT_ERROR;
	if (o->format == FOCUS) {
		err = show_focus(o, s);
		fleet_store_close(s);
		return err || left_out ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
	}
	err = fleet_collect(&f, s, &o->fleet);
	if (!err)
		err = fleet_budgets_check(&f, s, &o->budgets);
	if (!err && o->fleet.currency)
		err = convert(o, &f, s, &other);
	fleet_store_close(s);
	if (!err)
		err = show(o, &f, other.converted ? &other : NULL);
	fleet_fini(&other);
	if (!err && f.unlabelled.count)
		status = EXIT_OFFENDERS;
	else if (!err && fleet_is_mixed(&f))
		status = VIEW_EXIT_NOT_COMPARABLE;
	/* what could not be read is missing in what was shown */
	bool whole_is_bad = f.whole.allocated.bad || f.whole.invoice.bad;
	fleet_fini(&f);
	return err || left_out || whole_is_bad ? VIEW_EXIT_ERROR : status;
}

int view_cmd_fleet(int argc, char **argv)
{
	struct opts o = { .fleet = { .by = FLEET_BY_NOTHING, .query = { .until_ns = INT64_MAX } } };
	struct fleet_currency currency;
	int go = parse(argc, argv, &o);

	if (go <= 0)
		return go ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
	if (fleet_currency_read(&currency, o.currency))
		return VIEW_EXIT_ERROR;
	if (fleet_currency_chosen(&currency))
		o.fleet.currency = &currency;
	return run(&o);
}
