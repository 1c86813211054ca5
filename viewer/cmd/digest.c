/* SPDX-License-Identifier: Apache-2.0 */
/* gpustarve digest: what the fleet keeps of a run. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/values.h"
#include "base/options.h"
#include "core/log.h"
#include "cmd.h"
#include "fleet/budget.h"
#include "fleet/load.h"
#include "job/find.h"
#include "trace/newest.h"

struct opts {
	char **run;
	int runs;
	const char *out, *from;
	struct fleet_digest_source source;
	const char *store;
	struct fleet_budgets budgets;
	bool flush, with_runs;
};

static bool set_revision(void *into, char *text)
{
	struct opts *o = into;
	char *end;

	errno = 0;
	long long v = strtoll(text, &end, 10);
	if (text[0] >= '0' && text[0] <= '9' && !*end && !errno && v > 0) {
		o->source.revision = v;
		return true;
	}
	view_error("--revision %s: not a whole number above 0", text);
	return false;
}

static bool add_budget(void *into, char *text)
{
	struct opts *o = into;

	return fleet_budgets_add(&o->budgets, text);
}

static const char usage[] =
	"usage: gpustarve digest RUN... [--store URL] [-o FILE] [--team NAME] [--provisional]\n"
	"       gpustarve digest --from FILE --store URL\n"
	"       gpustarve digest --flush --store URL\n"
	"\n"
	"Makes the digest of a run: at most 4 KB of JSON with what it cost, where the time went\n"
	"and whose it was, for the fleet to be summed up over months. RUN is a run directory or\n"
	"a summary.json. Prints one on a line, unless they go to a store. A run that cannot be\n"
	"read is named, and the others are done.\n"
	"\n";

static const struct base_opt opt[] = {
	{ "store", 0, "URL",
	  "put it there, where it counts once however often that is done:\n"
	  "sqlite:FILE or clickhouse://[USER@]HOST:PORT/DATABASE",
	  BASE_TEXT(struct opts, store) },
	{ "output", 'o', "F", "write it to a file; - is the terminal", BASE_TEXT(struct opts, out),
	  .words = BASE_WORDS_FILE },
	{ "team", 0, "NAME", "whose the run is, whatever its labels say",
	  BASE_TEXT(struct opts, source.team) },
	{ "revision", 0, "N",
	  "of two digests of a run the one with the higher revision holds;\n"
	  "default: the time of day in nanoseconds",
	  .take = set_revision },
	{ "provisional", 0, NULL,
	  "without analysis: what the run held and what that cost, until its\n"
	  "digest takes the place of this one",
	  BASE_FLAG(struct opts, source.provisional) },
	{ "resume", 0, NULL,
	  "keep what is finished beside the trace (.digest-parts), and go on\n"
	  "from there where an earlier one was ended",
	  BASE_FLAG(struct opts, source.resume) },
	{ "price", 0, "USD", "per GPU-hour, of a run that was recorded without or with another",
	  BASE_TEXT(struct opts, source.rates.price) },
	{ "price-model", 0, "M", "on-demand, spot, reserved or owned: the lists' price of today",
	  BASE_TEXT(struct opts, source.rates.model), .good = view_option_price_model,
	  .words = VIEW_PRICE_MODELS },
	{ "with-runs", 0, NULL,
	  "of a job (OUT/CLUSTER-JOB.job) whose digest is of what none of its\n"
	  "runs held: those of its runs, too",
	  BASE_FLAG(struct opts, with_runs) },
	{ "from", 0, "FILE", "digests as they are, one on a line; - is standard input",
	  BASE_TEXT(struct opts, from), .words = BASE_WORDS_FILE },
	{ "flush", 0, NULL, "send what waits in the outbox of a store that was not there",
	  BASE_FLAG(struct opts, flush) },
	{ "budget", 0, "B",
	  "then check this budget of `gpustarve fleet`, such as\n"
	  "team:vision=5000/month; may be repeated",
	  .take = add_budget, .repeats = true },
	{ "exec", 0, "CMD", "run when a budget is reported; see GPUSTARVE_ALERT_TEXT",
	  BASE_TEXT(struct opts, budgets.exec) },
	{ BASE_HELP },
	{ 0 },
};

const struct base_options view_digest_options = {
	.command = "digest",
	.usage = usage,
	.column = 19,
	.opt = opt,
	.tail = "\n"
		"  gpustarve digest gpustarve-runs/RUN.gst\n"
		"  gpustarve digest gpustarve-runs/*.gst --store sqlite:fleet.sqlite\n",
	.error = view_error,
};

static bool fits(struct opts *o, int argc, char **argv)
{
	int operands = argc - optind;

	if (!operands && !o->from && !o->flush) {
		view_say_no_run("digest");
		return false;
	}
	if ((operands && (o->from || o->flush)) || (o->from && o->flush)) {
		view_error("digest: name runs, or --from, or --flush; see gpustarve digest --help");
		return false;
	}
	if (o->source.provisional && (!operands || o->source.revision)) {
		view_error("digest: --provisional is for runs, and has a revision of its own");
		return false;
	}
	if ((!operands || o->budgets.n) && !o->store) {
		view_error("digest: %s needs a store; add --store URL", o->from	   ? "--from"
									: o->flush ? "--flush"
										   : "--budget");
		return false;
	}
	o->run = argv + optind;
	o->runs = operands;
	return true;
}

/* 1: go on, 0: help was shown, -1: error. */
static int parse(int argc, char **argv, struct opts *o)
{
	int go = base_options_parse(&view_digest_options, argc, argv, o);

	return go > 0 && !fits(o, argc, argv) ? -1 : go;
}

static int write_to(FILE *f, const struct fleet_digest *d)
{
	char *text = fleet_digest_write(d);
	int err = text && fputs(text, f) >= 0 ? 0 : -ENOMEM;

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

/*
 * A run that a collector stored is its team's, and stays so where it is digested once more, say
 * with a price: else it would be two runs. A clock that was set back makes no digest older than
 * what is stored.
 */
static int take_place(const struct opts *o, struct fleet_store *s, struct fleet_digest *d)
{
	struct fleet_stored stored;
	int found = fleet_store_find(s, d->run, o->source.team, &stored);

	if (found == -ENOTUNIQ) {
		view_error("%s: several teams have a run of that name; add --team NAME", d->run);
		return found;
	}
	if (found < 0 && !o->source.team && (o->source.rates.price || o->source.rates.model)) {
		view_error("%s: the store does not tell whose run it is; add --team NAME, or "
			   "--team '' if it is nobody's",
			   d->run);
		return found;
	}
	if (found <= 0)
		return 0; /* of a store that does not answer the outbox knows */
	if (stored.tenant[0])
		fleet_digest_own(d, stored.tenant);
	if (o->source.provisional)
		return 0; /* of one that is analysed already it changes nothing */
	if (!o->source.revision && d->revision <= stored.revision)
		d->revision = stored.revision + 1;
	return 0;
}

/* One that is made goes out. *err: what failed; the status that tells of it. */
static int hand_over(const struct opts *o, struct fleet_store **s, struct fleet_digest *d, FILE *f,
		     size_t *waiting, int *err)
{
	if (o->store && !*s && (*err = fleet_store_open(s, o->store, true)))
		return VIEW_EXIT_STORE;
	if (*s && (*err = take_place(o, *s, d)))
		return VIEW_EXIT_ERROR;
	if ((*err = write_to(f, d)))
		return VIEW_EXIT_ERROR;
	if (*s && (*err = fleet_store_put(*s, d, 1, waiting)))
		return VIEW_EXIT_STORE;
	return VIEW_EXIT_OK;
}

/* The store is opened with the first digest there is. */
struct making {
	const struct opts *o;
	struct fleet_store *store;
	struct fleet_digest *d;
	FILE *f;
	size_t *waiting;
	int err, status; /* of the first that failed */
};

static bool make_one(struct making *m, const char *path)
{
	int err = fleet_digest_of(m->d, path, &m->o->source), told = VIEW_EXIT_ERROR;

	if (!err)
		told = hand_over(m->o, &m->store, m->d, m->f, m->waiting, &err);
	if (!m->err)
		m->status = told;
	m->err = m->err ? m->err : err;
	return !err;
}

static void make_runs(struct making *m, const char *folder)
{
	struct view_jobs jobs = { 0 };
	struct view_job *job;

	if (!view_job_of_folder(&jobs, folder, &job))
		for (size_t i = 0; i < job->runs; i++)
			make_one(m, job->run[i]);
	view_jobs_fini(&jobs);
}

/* All that can be done, and the first error. */
static int each_run(struct making *m, int *status)
{
	const struct opts *o = m->o;

	for (int i = 0; i < o->runs; i++)
		if (make_one(m, o->run[i]) && o->with_runs && m->d->rest.job_ns)
			make_runs(m, o->run[i]);
	fleet_store_close(m->store);
	*status = m->status;
	return m->err;
}

static int runs(const struct opts *o, int *status)
{
	struct fleet_digest *d = calloc(1, sizeof(*d));
	size_t waiting = 0, len = 0;
	char *text = NULL;
	FILE *f = open_memstream(&text, &len);
	struct making m = { .o = o, .d = d, .f = f, .waiting = &waiting };
	int err = d && f ? each_run(&m, status) : -ENOMEM, shown = 0;

	if (f && fclose(f)) {
		err = -ENOMEM;
		*status = VIEW_EXIT_ERROR;
	}
	if (len && (o->out || !o->store))
		shown = fleet_print(text, len, o->out);
	say_waiting(waiting);
	if (!err && shown) {
		err = shown;
		*status = VIEW_EXIT_ERROR;
	}
	if (!err) {
		err = look_at_budgets(o, o->runs == 1 ? d->team : NULL, waiting);
		*status = VIEW_EXIT_STORE;
	}
	free(text);
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

/* Whoever sets limits is to see what has ended it; of several runs the others are done. */
static void end_likewise(const struct opts *o, int ended_by)
{
	if (o->runs != 1 || !ended_by)
		return;
	signal(ended_by, SIG_DFL);
	raise(ended_by);
}

int view_cmd_digest(int argc, char **argv)
{
	int ended_by = 0;
	struct opts o = { .source = { .rates.price_from = "--price", .ended_by = &ended_by } };
	int go = parse(argc, argv, &o), status = VIEW_EXIT_ERROR;

	if (go <= 0)
		return go ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
	int err = o.flush ? flush(&o) : o.from ? many(&o) : runs(&o, &status);
	end_likewise(&o, ended_by);
	return err ? status : VIEW_EXIT_OK;
}
