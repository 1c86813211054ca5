/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpustarve pulses: rows of pulses (live/row.h) into a store, and those that are new there out of
 * it. What gateways call.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/options.h"
#include "cmd.h"
#include "core/log.h"
#include "fleet/store.h"

static const char usage[] =
	"usage: gpustarve pulses --store URL [--since MARK]\n"
	"\n"
	"What gateways call: puts the rows of pulses that come on standard input into a store,\n"
	"and prints those that are new there, and then the mark to ask from next.\n"
	"\n";

struct opts {
	const char *store;
	int64_t since;
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

static const struct base_opt opt[] = {
	{ "store", 0, "URL", "sqlite:FILE or clickhouse://HOST:PORT/DATABASE",
	  BASE_TEXT(struct opts, store) },
	{ "since", 0, "MARK", "what is new since then; else all of runs that go on",
	  .take = set_since },
	{ BASE_HELP },
	{ 0 },
};

const struct base_options view_pulses_options = {
	.command = "pulses",
	.usage = usage,
	.column = 16,
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

int view_cmd_pulses(int argc, char **argv)
{
	struct opts o = { .store = NULL };
	int go = base_options_parse(&view_pulses_options, argc, argv, &o);

	if (go <= 0)
		return go ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
	if (!o.store || optind < argc) {
		view_error("pulses: give --store URL, and nothing besides; see --help");
		return VIEW_EXIT_ERROR;
	}
	return exchange(&o) ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
}
