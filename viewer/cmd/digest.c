/* SPDX-License-Identifier: Apache-2.0 */
/* gpustarve digest: what the fleet keeps of a run. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/log.h"
#include "core/options.h"
#include "cmd.h"
#include "fleet/budget.h"
#include "fleet/load.h"
#include "trace/newest.h"

struct opts {
	const char *run, *out, *from;
	struct fleet_digest_source source;
	const char *store;
	struct fleet_budgets budgets;
	bool flush;
};

static const char usage[] =
	"usage: gpustarve digest RUN [--store URL] [-o FILE] [--team NAME]\n"
	"       gpustarve digest --from FILE --store URL\n"
	"       gpustarve digest --flush --store URL\n"
	"\n"
	"Makes the digest of a run: at most 4 KB of JSON with what it cost, where the time went\n"
	"and whose it was, for the fleet to be summed up over months. RUN is a run directory or\n"
	"a summary.json. Prints it, unless it goes to a store.\n"
	"\n"
	"  --store URL      put it there, where it counts once however often that is done:\n"
	"                   sqlite:FILE or clickhouse://[USER@]HOST:PORT/DATABASE\n"
	"  -o, --output F   write it to a file; - is the terminal\n"
	"  --team NAME      whose the run is, whatever its labels say\n"
	"  --revision N     of two digests of a run the one with the higher revision holds;\n"
	"                   default: the time of day in nanoseconds\n"
	"  --price USD      per GPU-hour, of a run that was recorded without or with another\n"
	"  --price-model M  on-demand, spot, reserved or owned: the lists' price of today\n"
	"  --from FILE      digests as they are, one on a line; - is standard input\n"
	"  --flush          send what waits in the outbox of a store that was not there\n"
	"  --budget B       then look at this budget of `gpustarve fleet`, such as\n"
	"                   team:vision=5000/month; may be repeated\n"
	"  --exec CMD       started when a budget is told; see GPUSTARVE_ALERT_TEXT\n"
	"\n"
	"  gpustarve digest gpustarve-runs/RUN.gst\n"
	"  gpustarve digest gpustarve-runs/RUN.gst --store sqlite:fleet.sqlite\n";

static bool set_revision(const char *text, int64_t *revision)
{
	char *end;

	errno = 0;
	long long v = strtoll(text, &end, 10);
	if (text[0] >= '0' && text[0] <= '9' && !*end && !errno && v > 0) {
		*revision = v;
		return true;
	}
	view_error("--revision %s: no such number; a whole one above 0", text);
	return false;
}

static bool take(struct opts *o, int c)
{
	switch (c) {
	case 's':
		o->store = optarg;
		return true;
	case 'o':
		o->out = optarg;
		return true;
	case 't':
		o->source.team = optarg;
		return true;
	case 'r':
		return set_revision(optarg, &o->source.revision);
	case 'f':
		o->from = optarg;
		return true;
	case 'p':
		o->source.rates.price = optarg;
		return true;
	case 'm':
		o->source.rates.model = optarg;
		return view_option_price_model(optarg);
	case 'F':
		o->flush = true;
		return true;
	case 'B':
		return fleet_budgets_add(&o->budgets, optarg);
	case 'x':
		o->budgets.exec = optarg;
		return true;
	default:
		return false;
	}
}

static bool fits(struct opts *o, int argc, char **argv)
{
	int operands = argc - optind;

	if (!operands && !o->from && !o->flush) {
		view_say_no_run("digest");
		return false;
	}
	if (operands > 1 || (operands == 1 && (o->from || o->flush)) || (o->from && o->flush)) {
		view_error("digest: name one run; see gpustarve digest --help");
		return false;
	}
	if ((!operands || o->budgets.n) && !o->store) {
		view_error("digest: %s needs a store; add --store URL", o->from	   ? "--from"
									: o->flush ? "--flush"
										   : "--budget");
		return false;
	}
	o->run = operands ? argv[optind] : NULL;
	return true;
}

/* 1: go on, 0: help was shown, -1: error. */
static int parse(int argc, char **argv, struct opts *o)
{
	static const struct option longs[] = {
		{ "store", required_argument, NULL, 's' },
		{ "output", required_argument, NULL, 'o' },
		{ "team", required_argument, NULL, 't' },
		{ "revision", required_argument, NULL, 'r' },
		{ "price", required_argument, NULL, 'p' },
		{ "price-model", required_argument, NULL, 'm' },
		{ "from", required_argument, NULL, 'f' },
		{ "flush", no_argument, NULL, 'F' },
		{ "budget", required_argument, NULL, 'B' },
		{ "exec", required_argument, NULL, 'x' },
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
	return fits(o, argc, argv) ? 1 : -1;
}

static int print(const struct fleet_digest *d, const char *out)
{
	char *text = fleet_digest_write(d);
	int err = text ? fleet_print(text, strlen(text), out) : -ENOMEM;

	free(text);
	return err;
}

static void say_waiting(size_t waiting)
{
	if (waiting)
		view_note("%zu digest%s wait%s in the outbox; gpustarve digest --flush sends them",
			  waiting, waiting == 1 ? "" : "s", waiting == 1 ? "s" : "");
}

/* What still waits has been spent in no store: the next digest looks. */
static int look_at_budgets(const struct opts *o, const char *team, size_t waiting)
{
	return o->budgets.n && !waiting ? fleet_budgets_look(o->store, team, &o->budgets) : 0;
}

static int one_run(const struct opts *o)
{
	struct fleet_digest *d = calloc(1, sizeof(*d));
	size_t waiting = 0;
	int err = d ? fleet_digest_of(d, o->run, &o->source) : -ENOMEM;

	if (!err && (o->out || !o->store))
		err = print(d, o->out);
	if (!err && o->store)
		err = fleet_put_digest(o->store, d, &waiting);
	say_waiting(waiting);
	if (!err)
		err = look_at_budgets(o, d->team, waiting);
	free(d);
	return err;
}

static int flush(const struct opts *o)
{
	struct fleet_store *s;
	size_t waiting = 0;
	int err = fleet_store_open(&s, o->store, true);

	if (err)
		return err;
	err = fleet_store_flush(s, &waiting);
	say_waiting(waiting);
	fleet_store_close(s);
	if (!err)
		err = look_at_budgets(o, NULL, waiting);
	return err ? err : waiting ? -EAGAIN : 0;
}

static int many(const struct opts *o)
{
	size_t waiting = 0;
	int err = fleet_load(o->store, o->from, &waiting);

	say_waiting(waiting);
	return err ? err : look_at_budgets(o, NULL, waiting);
}

int view_cmd_digest(int argc, char **argv)
{
	struct opts o = { .source.rates.price_from = "--price" };
	int go = parse(argc, argv, &o);

	if (go <= 0)
		return go ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
	int err = o.flush ? flush(&o) : o.from ? many(&o) : one_run(&o);
	return err ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
}
