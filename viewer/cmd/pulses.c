/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpustarve pulses: rows of pulses (live/row.h) into a store, and those that are new there out of
 * it; or what teams have spent of their budgets, runs that go on included. What gateways call.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/minmax.h"
#include "base/options.h"
#include "base/vec.h"
#include "cmd.h"
#include "core/log.h"
#include "fleet/budget.h"
#include "fleet/fleet_out.h"
#include "fleet/store.h"
#include "live/condition.h"

static const char usage[] =
	"usage: gpustarve pulses --store URL [--since MARK]\n"
	"       gpustarve pulses --store URL --budget B [--budget B...] --usd-per-gpu-hour USD\n"
	"\n"
	"What gateways call: puts the rows of pulses that come on standard input into a store,\n"
	"and prints those that are new there, and then the mark to ask from next. Or prints which\n"
	"teams have spent 80 % and more of their budgets, with the runs that go on.\n"
	"\n";

struct opts {
	const char *store;
	int64_t since;
	struct fleet_budgets budgets;
	int64_t nano_usd_per_hour; /* of a GPU; -1: not given */
};

static bool set_since(void *into, char *text)
{
	struct opts *o = into;
	char *end;

	errno = 0;
	o->since = strtoll(text, &end, 10);
	if (*text >= '0' && *text <= '9' && !*end && !errno)
		return true;
	view_error("pulses: --since %s: not a mark; give what was printed last", text);
	return false;
}

static bool add_budget(void *into, char *text)
{
	struct opts *o = into;

	return fleet_budgets_add(&o->budgets, text);
}

static bool set_price(void *into, char *text)
{
	struct opts *o = into;

	if (!live_usd_parse(text, &o->nano_usd_per_hour))
		return true;
	view_error("pulses: --usd-per-gpu-hour %s: not a price; give dollars such as 2.50", text);
	return false;
}

static const struct base_opt opt[] = {
	{ "store", 0, "URL", "sqlite:FILE or clickhouse://HOST:PORT/DATABASE",
	  BASE_TEXT(struct opts, store) },
	{ "since", 0, "MARK", "what is new since then; else all of runs that go on",
	  .take = set_since },
	{ "budget", 0, "B", "a team's or each one's, as of `gpustarve fleet`", .take = add_budget,
	  .repeats = true },
	{ "usd-per-gpu-hour", 0, "USD", "what GPUs of runs that go on cost", .take = set_price },
	{ BASE_HELP },
	{ 0 },
};

const struct base_options view_pulses_options = {
	.command = "pulses",
	.usage = usage,
	.column = 26,
	.opt = opt,
	.tail = "\n"
		"  gpustarve pulses --store sqlite:fleet.sqlite </dev/null\n",
	.error = view_error,
};

/* What makes no sense is left out, and said once. */
static int read_lines(FILE *f, struct fleet_pulses *p)
{
	static char line[LIVE_ROW_LINE];
	struct live_row r;
	size_t bad = 0;
	int err = 0;

	while (!err && fgets(line, sizeof(line), f)) {
		size_t len = strlen(line);

		if (len && line[len - 1] == '\n')
			line[len - 1] = '\0';
		if (live_row_get(&r, line))
			err = fleet_pulses_add(p, &r);
		else
			bad++;
	}
	if (bad)
		view_error("pulses: %zu lines are not rows of pulses; they are left out", bad);
	return err ? err : ferror(f) ? -EIO : 0;
}

static int put_line(const struct live_row *r)
{
	return printf("%s\t%s\t%s\t%" PRIu32 "\t%" PRId64 "\t%" PRId64 "\t%.*s\n", r->team, r->run,
		      r->stream, r->slot, r->rank, r->age_s, (int)r->digits, r->hex) < 0
		       ? -EIO
		       : 0;
}

static int print(const struct fleet_pulses *p)
{
	int err = 0;

	for (size_t i = 0; i < p->rows && !err; i++)
		err = put_line(&p->row[i]);
	if (!err && (printf("mark\t%" PRId64 "\n", p->mark) < 0 || fflush(stdout)))
		err = -EIO;
	return err;
}

static int exchange(const struct opts *o)
{
	const struct fleet_pulses_query q = { .since = o->since };
	struct fleet_pulses come = { .row = NULL }, there = { .row = NULL };
	struct fleet_store *s = NULL;
	int err = read_lines(stdin, &come);

	if (!err)
		err = fleet_store_open(&s, o->store, true);
	fleet_pulses_thin(&come);
	if (!err)
		err = fleet_store_put_pulses(s, &come);
	if (!err)
		err = fleet_store_read_pulses(s, &q, &there);
	if (!err)
		err = print(&there);
	fleet_pulses_fini(&come);
	fleet_pulses_fini(&there);
	fleet_store_close(s);
	return err;
}

/* ---- budgets of teams ---- */

struct going {
	struct fleet_store *store;
	struct live_reader *reader;
	int64_t nano_usd_per_hour;
	struct fleet_going *run;
	size_t runs, room;
};

/* When its first process began; 0: not known. */
static int64_t start_of(const struct live_run *run)
{
	int64_t start = 0;

	for (size_t i = 0; i < run->streams; i++) {
		int64_t one = run->stream[i]->start_unix_ns;

		if (one > 0 && (!start || one < start))
			start = one;
	}
	return start;
}

/* When the frame was made; 0: it cannot be told. */
static int64_t made_ns(const struct live_row *r)
{
	static uint8_t bytes[LIVE_ROW_FRAME_MAX];
	struct wire_frame f;

	if (r->digits < 2 * WIRE_FRAME_HEADER_BYTES || r->digits > 2 * sizeof(bytes) ||
	    !live_row_decode(r, bytes) || wire_frame_header_get(&f, bytes) || f.time_ns < 0)
		return 0;
	return f.time_ns;
}

/* The @n rows of one run. */
static int add_run(struct going *g, const struct live_row *row, size_t n)
{
	struct live_when when = { .history = true };
	struct live_totals t;
	struct live_run run;
	int64_t end_ns = 0;
	int err = base_vec_more(g->run, g->runs, g->room) ? 0 : -ENOMEM;

	live_run_init(&run);
	run.nano_usd_per_hour = g->nano_usd_per_hour;
	for (size_t i = 0; i < n && !err; i++) {
		live_row_apply(&run, g->reader, &row[i], &when);
		end_ns = base_max(end_ns, made_ns(&row[i]));
	}
	live_run_totals(&run, when.now_ns, &t);
	if (!err) {
		struct fleet_going *to = &g->run[g->runs++];

		*to = (struct fleet_going){ .start_ns = start_of(&run),
					    .end_ns = end_ns,
					    .usd = t.nano_usd };
		snprintf(to->team, sizeof(to->team), "%s", row[0].team);
	}
	live_run_fini(&run);
	return err;
}

static int read_going(void *arg, struct fleet_going **run, size_t *runs)
{
	const struct fleet_pulses_query q = { .unbilled = true };
	struct fleet_pulses p = { .row = NULL };
	struct going *g = arg;
	int err = fleet_store_read_pulses(g->store, &q, &p);
	size_t end;

	for (size_t at = 0; at < p.rows && !err; at = end) {
		for (end = at + 1; end < p.rows && !strcmp(p.row[end].team, p.row[at].team) &&
				   !strcmp(p.row[end].run, p.row[at].run);
		     end++)
			;
		err = add_run(g, &p.row[at], end - at);
	}
	fleet_pulses_fini(&p);
	*run = g->run;
	*runs = g->runs;
	return err;
}

static int print_budgets(struct fleet *f)
{
	base_unit usd;

	for (size_t i = 0; i < f->budgets; i++) {
		const struct fleet_budget_state *b = &f->budget[i];

		if (b->level &&
		    printf("budget\t%d\t%s\t%s\t%s\t%" PRId64 "\t%s\t%s\n", b->level, b->team,
			   b->period, base_wide_text(usd, b->usd), b->limit_usd, b->condition,
			   fleet_words_budget(b, &f->mem)) < 0)
			return -EIO;
	}
	return fflush(stdout) ? -EIO : 0;
}

static int look_at_budgets(const struct opts *o)
{
	struct fleet f = { .options.query = { .until_ns = INT64_MAX } };
	struct going g = { .reader = live_reader_new(), .nano_usd_per_hour = o->nano_usd_per_hour };
	int err = g.reader ? fleet_store_open(&g.store, o->store, true) : -ENOMEM;

	if (!err)
		err = fleet_budgets_with(&f, g.store, &o->budgets, read_going, &g);
	if (!err)
		err = print_budgets(&f);
	fleet_store_close(g.store);
	live_reader_free(g.reader);
	fleet_fini(&f);
	return err;
}

int view_cmd_pulses(int argc, char **argv)
{
	struct opts o = { .nano_usd_per_hour = -1 };
	int go = base_options_parse(&view_pulses_options, argc, argv, &o);

	if (go <= 0)
		return go ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
	if (!o.store || optind < argc) {
		view_error("pulses: give --store URL, and nothing besides; see --help");
		return VIEW_EXIT_ERROR;
	}
	if (o.budgets.n && (o.since || o.nano_usd_per_hour < 0)) {
		view_error("pulses: --budget needs --usd-per-gpu-hour USD, and no --since");
		return VIEW_EXIT_ERROR;
	}
	return (o.budgets.n ? look_at_budgets(&o) : exchange(&o)) ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
}
