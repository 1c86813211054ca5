/* SPDX-License-Identifier: Apache-2.0 */
/* gpustarve node: who holds this machine's GPUs without being recorded, into the fleet's store. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/options.h"
#include "cmd.h"
#include "core/log.h"
#include "core/values.h"
#include "fleet/store.h"
#include "holders/row.h"
#include "holders/who.h"

#define SECOND INT64_C(1000000000)
#define LOOKS_MISSED 3 /* of time that is longer than so many looks nothing is known */
#define BATCH 64

struct opts {
	const char *store, *price_model, *team;
	long look_s, every_s, for_s;
	struct view_prices site, catalogue;
	char host[256];
};

struct node {
	const struct opts *o;
	struct view_looker looker;
	struct view_holders holders;
	struct fleet_digest *row; /* BATCH of them */
	int look_err, store_err; /* the last, so that each is said once */
	bool mig_said, unknown_said;
};

static bool set_look(void *into, char *text)
{
	return view_option_number("--look", text, 3600, &((struct opts *)into)->look_s);
}

static bool set_every(void *into, char *text)
{
	return view_option_number("--every", text, 86400, &((struct opts *)into)->every_s);
}

static bool set_for(void *into, char *text)
{
	return view_option_number("--for", text, 1000000000, &((struct opts *)into)->for_s);
}

static const char usage[] =
	"usage: gpustarve node --store URL [--team NAME] [--look SECONDS] [--every SECONDS]\n"
	"\n"
	"A service for a machine with GPUs: writes down which processes hold them that nobody\n"
	"records, and how busy the GPUs were meanwhile, as NVML tells, so that this time stands\n"
	"in the bill of `gpustarve fleet`, as `unwrapped`. Run it as root. Ends with TERM or INT.\n"
	"\n";

static const struct base_opt opt[] = {
	{ "store", 0, "URL",
	  "where it goes:\n"
	  "sqlite:FILE or clickhouse://[USER@]HOST:PORT/DATABASE",
	  BASE_TEXT(struct opts, store) },
	{ "team", 0, "NAME", "whose it is, whoever's the processes are",
	  BASE_TEXT(struct opts, team) },
	{ "look", 0, "SECONDS", "how often NVML is asked (5)", .take = set_look },
	{ "every", 0, "SECONDS", "how often what is new goes to the store (60)",
	  .take = set_every },
	{ "for", 0, "SECONDS", "end after so long; default: never", .take = set_for },
	{ "price-model", 0, "M", "on-demand (default), spot, reserved or owned",
	  BASE_TEXT(struct opts, price_model), .good = view_option_price_model,
	  .words = VIEW_PRICE_MODELS },
	{ BASE_HELP },
	{ 0 },
};

const struct base_options view_node_options = {
	.command = "node",
	.usage = usage,
	.column = 20,
	.opt = opt,
	.error = view_error,
};

static int64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

/* --- a look --- */

static void tell_look(struct node *n, int err)
{
	if (err && err != n->look_err)
		view_error("node: %s; looked again every %ld s",
			   err == -ENOENT      ? "no NVML (libnvidia-ml.so.1) here"
			   : err == -ETIMEDOUT ? "NVML does not answer"
					       : "NVML refused, or crashed",
			   n->o->look_s);
	else if (!err && n->look_err)
		view_note("node: NVML answers");
	n->look_err = err;
}

static void tell_mig(struct node *n, const struct view_look *look)
{
	for (unsigned int i = 0; i < look->gpus && !n->mig_said; i++) {
		n->mig_said = look->gpu[i].mig;
		if (n->mig_said)
			view_note("node: GPUs with MIG are left out");
	}
}

static void tell_unknown(struct node *n)
{
	for (size_t i = 0; i < n->holders.count && !n->unknown_said; i++) {
		n->unknown_said = n->holders.list[i].kind == VIEW_HOLDER_UNKNOWN;
		if (n->unknown_said)
			view_note("node: of process %d nobody tells whether it is recorded: what "
				  "such hold is left out; run as root, in the host's pid namespace",
				  (int)n->holders.list[i].pid);
	}
}

static int look(struct node *n)
{
	const struct view_look *look;
	int err = view_look(&n->looker, &look);

	tell_look(n, err);
	if (err)
		return 0;
	tell_mig(n, look);
	err = view_holders_take(&n->holders, look, now_ns(CLOCK_MONOTONIC), now_ns(CLOCK_REALTIME),
				LOOKS_MISSED * n->o->look_s * SECOND +
					VIEW_LOOK_PATIENCE_MS * 1000000LL,
				&view_who);
	tell_unknown(n);
	return err;
}

/* --- the store --- */

static int put(struct node *n, struct fleet_store *s, size_t rows)
{
	size_t waiting = 0;

	return rows ? fleet_store_put(s, n->row, rows, &waiting) : 0;
}

static int put_changed(struct node *n, struct fleet_store *s)
{
	const struct view_row_of of = { n->o->host, n->o->team, n->o->price_model, &n->o->site,
					&n->o->catalogue };
	int64_t revision = now_ns(CLOCK_REALTIME);
	size_t rows = 0;
	int err = 0;

	for (size_t i = 0; i < n->holders.count && !err; i++) {
		struct view_holder *h = &n->holders.list[i];

		if (h->kind != VIEW_HOLDER_UNWRAPPED || !h->changed ||
		    !view_holder_row(&n->row[rows], h, &of, revision))
			continue;
		if (++rows == BATCH) {
			err = put(n, s, rows);
			rows = 0;
		}
	}
	return err ? err : put(n, s, rows);
}

/* What could not be stored stays, and those that ended with it. */
static void store(struct node *n)
{
	struct fleet_store *s;
	int err = fleet_store_open(&s, n->o->store, true);

	if (!err) {
		err = put_changed(n, s);
		fleet_store_close(s);
	}
	if (err && !n->store_err)
		view_error("node: %s: %s; kept, and tried again", n->o->store, strerror(-err));
	n->store_err = err;
	if (err)
		return;
	for (size_t i = 0; i < n->holders.count; i++)
		n->holders.list[i].changed = false;
	view_holders_forget(&n->holders);
}

/* --- the service --- */

/* True: it is time to end. */
static bool wait_until(int64_t ns, const sigset_t *ends)
{
	int64_t left = ns - now_ns(CLOCK_MONOTONIC);
	struct timespec t;

	if (left < 0)
		left = 0;
	t = (struct timespec){ left / SECOND, left % SECOND };
	return sigtimedwait(ends, NULL, &t) > 0;
}

static int serve(struct node *n)
{
	int64_t start = now_ns(CLOCK_MONOTONIC), next = start, due = start + n->o->every_s * SECOND;
	sigset_t ends;
	int err = 0;

	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	signal(SIGPIPE, SIG_IGN);
	do {
		err = look(n);
		if (now_ns(CLOCK_MONOTONIC) >= due) {
			store(n);
			due = now_ns(CLOCK_MONOTONIC) + n->o->every_s * SECOND;
		}
		next += n->o->look_s * SECOND;
	} while (!err && !(n->o->for_s && next - start > n->o->for_s * SECOND) &&
		 !wait_until(next, &ends));
	if (!err)
		err = look(n);
	store(n);
	return err;
}

static void read_prices(struct opts *o)
{
	const char *why;

	view_prices_builtin(&o->catalogue);
	if (!access(view_prices_site(), R_OK) &&
	    view_prices_read(&o->site, view_prices_site(), &why))
		view_note("%s: cannot be read as a list of prices: left out", view_prices_site());
}

int view_cmd_node(int argc, char **argv)
{
	struct opts o = { .look_s = 5, .every_s = 60, .price_model = "on-demand", .team = "" };
	struct node n = { .o = &o };
	int go = base_options_parse(&view_node_options, argc, argv, &o), err;

	if (go <= 0)
		return go < 0;
	if (optind < argc || !o.store) {
		view_error("node: %s; see gpustarve node --help",
			   o.store ? "takes no operands" : "give --store URL");
		return 1;
	}
	if (gethostname(o.host, sizeof(o.host) - 1) || !o.host[0])
		snprintf(o.host, sizeof(o.host), "localhost");
	n.row = calloc(BATCH, sizeof(*n.row));
	if (!n.row)
		return 1;
	read_prices(&o);
	err = serve(&n);
	if (err)
		view_error("node: %s", strerror(-err));
	err = err ? err : n.store_err;
	view_looker_fini(&n.looker);
	view_holders_fini(&n.holders);
	view_prices_fini(&o.site);
	view_prices_fini(&o.catalogue);
	free(n.row);
	return err != 0;
}
