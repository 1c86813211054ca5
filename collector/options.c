/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One table of options. What needs no socket (help, version) goes to stdout; getopt says itself
 * what is wrong with a command line.
 */
#include "options.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/log.h"
#include "core/quantity.h"
#include "relay/gather.h"

static bool number(const char *option, const char *text, int *out)
{
	char *end;
	long v;

	errno = 0;
	v = strtol(text, &end, 10);
	if (errno || end == text || *end || v < 0 || v > INT_MAX / 1000) {
		coll_log("--%s %s: not a number from 0 up; see --help", option, text);
		return false;
	}
	*out = (int)v;
	return true;
}

/* A descriptor that we were given; no child of ours shall hold it open. */
static bool descriptor(const char *option, const char *text, int *out)
{
	if (!number(option, text, out))
		return false;
	if (fcntl(*out, F_SETFD, FD_CLOEXEC)) {
		coll_log("--%s %s: no such descriptor is open; pass one on", option, text);
		return false;
	}
	return true;
}

/* @name: --quota, --keep or --keep-label; NULL: --limit, whose value names it. */
static bool limit(struct coll_options *o, const char *name, const char *text)
{
	const char *why;
	int err = name ? coll_limits_set(&o->limits, name, text, &why)
		       : coll_limits_set_pair(&o->limits, text, &why);

	o->of_runs = name ? name : "limit";
	if (err)
		coll_log("--%s %s: %s; see --help", name ? name : "limit", text, why);
	return !err;
}

static bool set_limit(void *into, char *text)
{
	return limit(into, NULL, text);
}

static bool set_quota(void *into, char *text)
{
	return limit(into, "quota", text);
}

static bool set_keep(void *into, char *text)
{
	return limit(into, "keep", text);
}

static bool set_keep_label(void *into, char *text)
{
	return limit(into, "keep-label", text);
}

static bool add_budget(void *into, char *text)
{
	struct coll_options *o = into;

	o->exec_of_budgets = true;
	if (o->digest.budgets < COLL_BUDGETS_MAX) {
		o->digest.budget[o->digest.budgets++] = text;
		return true;
	}
	coll_log("--budget %s: more than %d; leave some out", text, COLL_BUDGETS_MAX);
	return false;
}

static bool add_alert(void *into, char *text)
{
	struct coll_options *o = into;

	o->exec_of_budgets = false;
	return coll_conditions_alert(&o->conditions, text);
}

static bool set_exec(void *into, char *text)
{
	struct coll_options *o = into;

	if (!o->exec_of_budgets)
		return coll_conditions_exec(&o->conditions, text);
	o->digest.exec = text;
	return true;
}

static bool set_price(void *into, char *text)
{
	struct coll_options *o = into;

	return coll_conditions_price(&o->conditions, text);
}

static bool set_outbox_max(void *into, char *text)
{
	struct coll_options *o = into;

	if (coll_size_of(text, &o->upstream.outbox_max) && o->upstream.outbox_max)
		return true;
	coll_log("--outbox-max %s: not a size like 20G; see --help", text);
	return false;
}

static bool set_forwarded(void *into, char *text)
{
	struct coll_options *o = into;

	o->upstream.remove_forwarded = !strcmp(text, "remove");
	if (o->upstream.remove_forwarded || !strcmp(text, "keep"))
		return true;
	coll_log("--forwarded %s: give keep or remove", text);
	return false;
}

static bool set_linger(void *into, char *text)
{
	struct coll_options *o = into;

	o->of_runs = "linger";
	return number("linger", text, &o->upstream.linger_s);
}

static bool set_grace(void *into, char *text)
{
	struct coll_options *o = into;

	o->of_runs = "grace";
	return number("grace", text, &o->grace_s);
}

static bool set_silence(void *into, char *text)
{
	struct coll_options *o = into;

	return number("silence", text, &o->silence_s);
}

static bool set_idle_exit(void *into, char *text)
{
	struct coll_options *o = into;

	o->of_runs = "idle-exit";
	return number("idle-exit", text, &o->idle_exit_s);
}

static bool set_until_eof(void *into, char *text)
{
	struct coll_options *o = into;

	o->upstream.one_run = true;
	return descriptor("until-eof", text, &o->until_eof);
}

static bool set_ready_fd(void *into, char *text)
{
	struct coll_options *o = into;

	return descriptor("ready-fd", text, &o->ready_fd);
}

static bool set_inject(void *into, char *text)
{
	struct coll_options *o = into;
	const char *why;

	o->inject_given = true;
	if (!coll_inject_set_pair(&o->inject, text, &why))
		return true;
	coll_log("--inject %s: %s", text, why);
	return false;
}

static bool set_dir(void *into, char *text)
{
	struct coll_options *o = into;

	o->of_runs = "dir";
	o->dir = text;
	return true;
}

static bool set_insecure(void *into, char *text)
{
	struct coll_options *o = into;

	(void)text;
	o->http.insecure_http = o->upstream.insecure_http = true;
	return true;
}

/* --foreground, where it always is. */
static bool set_nothing(void *into, char *text)
{
	(void)into;
	(void)text;
	return true;
}

static const char usage[] =
	"usage: gpustarve-collector --unix PATH [--dir BASE] [option...]\n"
	"       gpustarve-collector --listen URL [--dir BASE] [option...]\n"
	"       gpustarve-collector --admission URL [--dir BASE] [option...]\n"
	"       gpustarve-collector --work s3://BUCKET[/PREFIX] [--store URL] [option...]\n"
	"       gpustarve-collector --gateway s3://BUCKET/PREFIX --listen URL [option...]\n"
	"\n"
	"Stores the traces of this node's processes as they come in, or those of many nodes.\n"
	"\n";

static const char usage_tail[] =
	"  --help, --version\n"
	"\n"
	"exit status: 0 ended as asked, 1 could not start or serve, 3 another collector\n"
	"serves PATH. TERM and INT end it in good order, HUP makes it read --limits,\n"
	"--token-file and certificates again, USR1 prints its counters.\n"
	"\n"
	"example:\n"
	"  gpustarve-collector --dir runs --unix $XDG_RUNTIME_DIR/gpustarve/sock &\n"
	"  gpustarve run -o runs --collector unix:$XDG_RUNTIME_DIR/gpustarve/sock -- ./train.py\n";

static bool set_gateway_memory(void *into, char *text)
{
	struct coll_options *o = into;

	if (coll_size_of(text, &o->gateway.memory) && o->gateway.memory >= COLL_GATEWAY_MEMORY_MIN)
		return true;
	coll_log("--gateway-memory %s: not a size from 64M up; see --help", text);
	return false;
}

static bool set_gather(void *into, char *text)
{
	struct coll_options *o = into;

	if (number("gather", text, &o->gateway.gather_s) &&
	    o->gateway.gather_s <= COLL_GATHER_MAX_S)
		return true;
	coll_log("--gather %s: at most %d seconds", text, COLL_GATHER_MAX_S);
	return false;
}

static bool is_bucket(const char *option, const char *text)
{
	if (!strncmp(text, "s3://", 5) && text[5] && strlen(text) < COLL_ARCHIVE_BYTES)
		return true;
	coll_log("--%s %s: not s3://BUCKET/PREFIX", option, text);
	return false;
}

static bool is_archive(const char *text)
{
	return is_bucket("archive", text);
}

static bool is_work(const char *text)
{
	return is_bucket("work", text);
}

static bool is_gateway(const char *text)
{
	return is_bucket("gateway", text);
}

static const struct base_opt opt[] = {
	{ "dir", 0, "BASE", "where run directories go (./gpustarve-runs)", .take = set_dir,
	  .words = BASE_WORDS_FOLDER },
	{ "unix", 0, "PATH", "socket to listen on; mode 0600, for this user and root only",
	  BASE_TEXT(struct coll_options, unix_path), .words = BASE_WORDS_FILE },
	{ "any-user", 0, NULL, "the socket is for every user on this node (mode 0666)",
	  BASE_FLAG(struct coll_options, any_user) },
	{ "listen", 0, "URL",
	  "https://HOST:PORT, or http://127.0.0.1:PORT, for other collectors,\n"
	  "curl and browsers; port 0 takes a free one",
	  BASE_TEXT(struct coll_options, http.listen) },
	{ "cert", 0, "FILE", "certificate of https, PEM", BASE_TEXT(struct coll_options, http.cert),
	  .words = BASE_WORDS_FILE },
	{ "key", 0, "FILE", "and its key", BASE_TEXT(struct coll_options, http.key),
	  .words = BASE_WORDS_FILE },
	{ "client-ca", 0, "FILE", "let in only clients with a certificate of this authority",
	  BASE_TEXT(struct coll_options, http.client_ca), .words = BASE_WORDS_FILE },
	{ "token-file", 0, "FILE", "who may come in: lines of TOKEN TEAM SCOPES",
	  BASE_TEXT(struct coll_options, http.token_file), .words = BASE_WORDS_FILE },
	{ "no-token", 0, NULL, "everybody on this machine may come in, on a loopback address",
	  BASE_FLAG(struct coll_options, http.no_token) },
	{ "insecure-http", 0, NULL, "http also beyond this machine", .take = set_insecure },
	{ "admission", 0, "URL",
	  "https://HOST:PORT where Kubernetes asks what pods are to be given\n"
	  "(with --cert and --key)",
	  BASE_TEXT(struct coll_options, admission.listen) },
	{ "inject", 0, "NAME=VALUE",
	  "what they are given: host, image, socket, cluster, label; may be\n"
	  "repeated",
	  .take = set_inject, .repeats = true },
	{ "limits", 0, "FILE", "limits and times to keep runs, read again on HUP; see the manual",
	  BASE_TEXT(struct coll_options, limits_file), .words = BASE_WORDS_FILE },
	{ "limit", 0, "NAME=VALUE", "one of them", .take = set_limit, .repeats = true },
	{ "quota", 0, "SIZE", "runs may take this much disk (K, M, G, T); the oldest go",
	  .take = set_quota },
	{ "keep", 0, "TIME", "remove runs not written to for this long (s, m, h, d, w, y)",
	  .take = set_keep },
	{ "keep-label", 0, "KEY=VALUE:TIME", "the same for runs with a label; `forever` keeps them",
	  .take = set_keep_label, .repeats = true },
	{ "store", 0, "URL",
	  "hand digests of ended runs to `gpustarve digest --store URL`; with\n"
	  "--gateway: pulses of runs that go on, for `gpustarve top --store URL`",
	  BASE_TEXT(struct coll_options, digest.store) },
	{ "archive", 0, "URL", "copy runs that have ended, s3://BUCKET/PREFIX (gpustarve put)",
	  BASE_TEXT(struct coll_options, digest.archive), .good = is_archive },
	{ "work", 0, "URL", "analyse runs that have ended in s3://BUCKET/PREFIX; any number may",
	  BASE_TEXT(struct coll_options, work.url), .good = is_work },
	{ "reports", 0, NULL, "with --work: put pages and summaries there, too",
	  BASE_FLAG(struct coll_options, work.reports) },
	{ "once", 0, NULL, "with --work: end when nothing is left that can be taken up",
	  BASE_FLAG(struct coll_options, work.once) },
	{ "again", 0, "TEAM/RUN", "with --work: take up again what was put aside, and end",
	  BASE_TEXT(struct coll_options, work.again) },
	{ "budget", 0, "B",
	  "check with every digest this budget of `gpustarve fleet`, such as\n"
	  "team:vision=5000/month; may be repeated. With --gateway: once a minute,\n"
	  "with the runs that go on",
	  .take = add_budget, .repeats = true },
	{ "sweep", 0, NULL, "remove what is not to be kept, once, and end",
	  BASE_FLAG(struct coll_options, sweep) },
	{ "dry-run", 0, NULL, "with --sweep: only say what would go; with --work: what there is",
	  BASE_FLAG(struct coll_options, dry_run) },
	{ "alert", 0, "COND",
	  "say so once in each run in which this holds, such as\n"
	  "'idle_for>15m'; may be repeated",
	  .take = add_alert, .repeats = true },
	{ "exec", 0, "CMD",
	  "run this, too, when the alert before it fires, or a budget before\n"
	  "it is reported",
	  .take = set_exec, .repeats = true },
	{ "usd-per-gpu-hour", 0, "USD", "price of every GPU, for alerts in dollars",
	  .take = set_price },
	{ "upstream", 0, "URL", "forward everything to the collector at https://HOST:PORT",
	  BASE_TEXT(struct coll_options, upstream.url) },
	{ "upstream-token-file", 0, "FILE", "the token that it asks for",
	  BASE_TEXT(struct coll_options, upstream.token_file), .words = BASE_WORDS_FILE },
	{ "upstream-ca", 0, "FILE", "the authority of its certificate (the system's)",
	  BASE_TEXT(struct coll_options, upstream.ca), .words = BASE_WORDS_FILE },
	{ "upstream-cert", 0, "FILE", "our own certificate, PEM",
	  BASE_TEXT(struct coll_options, upstream.cert), .words = BASE_WORDS_FILE },
	{ "upstream-key", 0, "FILE", "and its key", BASE_TEXT(struct coll_options, upstream.key),
	  .words = BASE_WORDS_FILE },
	{ "upstream-exec", 0, "CMD", "start this if it has lost what it had acknowledged",
	  BASE_TEXT(struct coll_options, upstream.exec) },
	{ "outbox-max", 0, "SIZE",
	  "what waits to be forwarded may take this much disk (K, M, G, T);\n"
	  "what goes beyond is dropped and counted",
	  .take = set_outbox_max },
	{ "forwarded", 0, "WHAT", "runs that are forwarded and over: keep (the default) or remove",
	  .take = set_forwarded, .words = "keep remove" },
	{ "linger", 0, "SECONDS", "at the end, go on forwarding what is left for this long (10)",
	  .take = set_linger },
	{ "gateway", 0, "URL",
	  "keep nothing here: put what other collectors forward into the object\n"
	  "store at s3://BUCKET/PREFIX (with --listen)",
	  BASE_TEXT(struct coll_options, gateway.url), .good = is_gateway },
	{ "gateway-memory", 0, "SIZE", "requests may take this much memory at a time (512M)",
	  .take = set_gateway_memory },
	{ "gather", 0, "SECONDS",
	  "with --gateway: ask nodes to send once in so long, or 32 MB (60)", .take = set_gather },
	{ "until-eof", 0, "FD", "end when FD reads end-of-file and all clients are done",
	  .take = set_until_eof },
	{ "grace", 0, "SECONDS", "then wait this long for clients that have said goodbye (10)",
	  .take = set_grace },
	{ "silence", 0, "SECONDS",
	  "drop a client that sends nothing at all, or half a frame, for\n"
	  "this long (30); between frames it may be silent forever",
	  .take = set_silence },
	{ "idle-exit", 0, "SECONDS", "end when nobody has been connected for this long",
	  .take = set_idle_exit },
	{ "ready-fd", 0, "FD", "write a line to FD once clients can connect, and close it",
	  .take = set_ready_fd },
	{ "foreground", 0, NULL, "stay in the foreground (it always does)", .take = set_nothing },
	{ "verbose", 0, NULL, "report every stream", BASE_FLAG(struct coll_options, verbose) },
	{ "help", .kind = BASE_OPT_HELP },
	{ "version", .kind = BASE_OPT_VERSION, .print = "gpustarve-collector" },
	{ 0 },
};

const struct base_options coll_options_table = {
	.command = "collector",
	.usage = usage,
	.column = 23,
	.opt = opt,
	.tail = usage_tail,
};

static bool work_complete(const struct coll_options *o)
{
	if (!o->work.url && (o->work.once || o->work.reports || o->work.again)) {
		coll_log("--%s is for --work; give --work s3://BUCKET/PREFIX", o->work.once ? "once"
									       : o->work.reports
										       ? "reports"
										       : "again");
		return false;
	}
	if (o->work.url && (o->unix_path || o->sweep || o->digest.archive || o->upstream.url)) {
		coll_log(
			"--work takes runs out of an object store; another collector serves nodes");
		return false;
	}
	return true;
}

/* A gateway is an HTTP server that keeps nothing. */
static bool gateway_complete(const struct coll_options *o)
{
	const char *why = NULL;

	if (o->of_runs) {
		coll_log("--gateway %s: --%s is for a collector that keeps runs; leave it out",
			 o->gateway.url, o->of_runs);
		return false;
	}
	if (!o->http.listen)
		why = "needs --listen https://HOST:PORT";
	else if (o->unix_path || o->admission.listen || o->upstream.url)
		why = "--unix, --admission and --upstream are for a collector of its own";
	else if (o->work.url)
		why = "--work takes runs out of the store; give it to a collector of its own";
	else if (o->digest.archive || o->sweep || o->limits_file)
		why = "it has no runs; --archive, --sweep and --limits are for a collector that "
		      "has";
	else if (coll_conditions_want(&o->conditions, LIVE_STEP_SLOWER_PCT))
		why = "--alert on step_slower_pct is for a collector that has the runs";
	else if (!o->digest.store && o->conditions.watch.entries)
		why = "--alert needs what all gateways hear; give --store URL";
	else if (o->digest.store && o->gateway.gather_s > COLL_GATEWAY_GATHER_S)
		why = "with --store nodes must send within a minute; --gather 60 at most";
	if (why)
		coll_log("--gateway %s: %s", o->gateway.url, why);
	return !why;
}

/* "team=USD/month", "team:NAME=USD/week": what gpustarve reads is what fleet does, too. */
static bool is_team_budget(const char *text)
{
	const char *amount = strrchr(text, '='), *slash = amount ? strchr(amount, '/') : NULL;
	char usd[64];
	int64_t nano;

	if (!amount || (strncmp(text, "team=", 5) != 0 && strncmp(text, "team:", 5) != 0) ||
	    (slash && strcmp(slash, "/month") != 0 && strcmp(slash, "/week") != 0))
		return false;
	snprintf(usd, sizeof(usd), "%.*s", (int)(slash ? slash - amount - 1 : 63), amount + 1);
	return !live_usd_parse(usd, &nano) && nano > 0;
}

/* One of teams, for all gateways. */
static bool take_team_budget(struct coll_options *o, const char *text)
{
	if (o->conditions.nano_usd_per_hour < 0) {
		coll_log("--budget %s: dollars of runs that go on need a price; give "
			 "--usd-per-gpu-hour USD",
			 text);
		return false;
	}
	o->gateway.team_budget[o->gateway.team_budgets++] = text;
	o->gateway.budget_exec = o->digest.exec;
	return true;
}

/* Of runs that go on, at a gateway: 80 % of each, and all of it, as alerts; and those of teams. */
static bool watch_budgets(struct coll_options *o)
{
	struct live_condition half[2];
	int64_t usd;

	for (size_t i = 0; i < o->digest.budgets; i++) {
		const char *text = o->digest.budget[i];

		if (is_team_budget(text)) {
			if (!take_team_budget(o, text))
				return false;
			continue;
		}
		if (strncmp(text, "run=", 4) != 0 || live_usd_parse(text + 4, &usd)) {
			coll_log("--budget %s: not a budget; give run=USD, team=USD/month or "
				 "team:NAME=USD/week",
				 text);
			return false;
		}
		live_budget_conditions(usd, half);
		o->conditions.watch.by = "collector";
		if (live_watch_add(&o->conditions.watch, &half[0], o->digest.exec, 80) ||
		    live_watch_add(&o->conditions.watch, &half[1], o->digest.exec, 100)) {
			coll_log("--budget %s: more than %d conditions; leave some out", text,
				 LIVE_ALERTS_MAX);
			return false;
		}
	}
	return true;
}

static bool complete(const struct coll_options *o, int argc, char **argv)
{
	if (optind < argc) {
		coll_log("%s: not an option; see --help", argv[optind]);
		return false;
	}
	if (o->dry_run && !o->sweep && !o->work.url) {
		coll_log("--dry-run is for --sweep and --work");
		return false;
	}
	if (!work_complete(o))
		return false;
	if (!o->gateway.url && (o->gateway.memory != COLL_GATEWAY_MEMORY ||
				o->gateway.gather_s != COLL_GATEWAY_GATHER_S)) {
		coll_log("options of a gateway without one; give --gateway s3://BUCKET/PREFIX");
		return false;
	}
	if (o->gateway.url && !gateway_complete(o))
		return false;
	if (o->sweep || (o->work.url && !o->http.listen && !o->unix_path))
		return true;
	if ((!o->unix_path && !o->http.listen && !o->admission.listen) ||
	    (o->unix_path && !*o->unix_path)) {
		coll_log("no socket to listen on; give --unix PATH, --listen URL or "
			 "--admission URL");
		return false;
	}
	if ((!o->http.listen && (o->http.client_ca || o->http.token_file || o->http.no_token)) ||
	    (!o->http.listen && !o->admission.listen && (o->http.cert || o->http.key))) {
		coll_log("options of HTTP without --listen; give --listen https://HOST:PORT");
		return false;
	}
	if (!o->admission.listen && o->inject_given) {
		coll_log("--inject is for --admission; give --admission https://HOST:PORT");
		return false;
	}
	if (o->any_user && !o->unix_path) {
		coll_log("--any-user is for a socket; give --unix PATH");
		return false;
	}
	if (!o->digest.store && o->digest.archive) {
		coll_log("--archive copies runs once their digest is in; give --store URL");
		return false;
	}
	if (!o->digest.store && o->digest.budgets) {
		coll_log("--budget needs the digests of runs; give --store URL");
		return false;
	}
	if (!o->upstream.url &&
	    (o->upstream.token_file || o->upstream.ca || o->upstream.cert || o->upstream.key ||
	     o->upstream.exec || o->upstream.outbox_max || o->upstream.remove_forwarded)) {
		coll_log("options of an upstream without one; give --upstream https://HOST:PORT");
		return false;
	}
	return coll_conditions_complete(&o->conditions);
}

bool coll_options_parse(struct coll_options *o, int argc, char **argv, int *status)
{
	int go;

	*o = (struct coll_options){
		.dir = "gpustarve-runs",
		.until_eof = -1,
		.ready_fd = -1,
		.idle_exit_s = -1,
		.grace_s = 10,
		.silence_s = 30,
		.conditions.nano_usd_per_hour = -1,
		.upstream.linger_s = 10,
		.gateway.memory = COLL_GATEWAY_MEMORY,
		.gateway.gather_s = COLL_GATEWAY_GATHER_S,
	};
	coll_limits_init(&o->limits);
	coll_inject_init(&o->inject);
	*status = COLL_EXIT_OK;
	go = base_options_parse(&coll_options_table, argc, argv, o);
	if (!go)
		return false;
	o->work.dry_run = o->dry_run;
	o->gateway.store = o->gateway.url ? o->digest.store : NULL;
	o->gateway.conditions = &o->conditions;
	o->admission.cert = o->http.cert;
	o->admission.key = o->http.key;
	o->admission.insecure_http = o->http.insecure_http;
	o->admission.inject = &o->inject;
	if (go > 0 && (!o->gateway.url || watch_budgets(o)) && complete(o, argc, argv))
		return true;
	*status = COLL_EXIT_ERROR;
	return false;
}
