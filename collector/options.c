/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One table of options. What needs no socket (help, version) goes to stdout.
 */
#include "options.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/log.h"
#include "core/quantity.h"

static const char help[] =
	"usage: gpustarve-collector --unix PATH [--dir BASE] [option...]\n"
	"       gpustarve-collector --listen URL [--dir BASE] [option...]\n"
	"\n"
	"Stores the traces of this node's processes as they come in, or those of many nodes.\n"
	"\n"
	"  --dir BASE           where run directories go (./gpustarve-runs)\n"
	"  --unix PATH          socket to listen on; mode 0600, for this user and root only\n"
	"  --listen URL         https://HOST:PORT, or http://127.0.0.1:PORT, for other collectors,\n"
	"                       curl and browsers; port 0 takes a free one\n"
	"  --cert FILE          certificate of https, PEM\n"
	"  --key FILE           and its key\n"
	"  --client-ca FILE     let in only who has a certificate of this authority\n"
	"  --token-file FILE    who may come in: lines of TOKEN TEAM SCOPES\n"
	"  --no-token           everybody on this machine may come in, on a loopback address\n"
	"  --insecure-http      http also beyond this machine\n"
	"  --limits FILE        limits and times to keep runs, read again on HUP; see the manual\n"
	"  --limit NAME=VALUE   one of them\n"
	"  --quota SIZE         runs may take so much disk (K, M, G, T); the oldest go\n"
	"  --keep TIME          remove runs that nobody wrote to for so long (s, m, h, d, w, y)\n"
	"  --keep-label KEY=VALUE:TIME\n"
	"                       the same for runs with a label; `forever` keeps them\n"
	"  --store URL          hand digests of ended runs to `gpustarve digest --store URL`\n"
	"  --budget B           look with every digest at this budget of `gpustarve fleet`, such\n"
	"                       as team:vision=5000/month; may be given several times\n"
	"  --sweep              remove what is not to be kept, once, and end\n"
	"  --dry-run            with --sweep: only say what would go\n"
	"  --alert COND         say so once in each run in which this holds, such as\n"
	"                       'idle_for>15m'; may be given several times\n"
	"  --exec CMD           run this, too, when the alert before it fires, or the budgets\n"
	"                       before it are told\n"
	"  --usd-per-gpu-hour USD\n"
	"                       price of every GPU, for alerts in dollars\n"
	"  --upstream URL       forward everything to the collector at https://HOST:PORT\n"
	"  --upstream-token-file FILE\n"
	"                       the token that it asks for\n"
	"  --upstream-ca FILE   the authority of its certificate (the system's)\n"
	"  --upstream-cert FILE our own certificate, PEM\n"
	"  --upstream-key FILE  and its key\n"
	"  --outbox-max SIZE    what waits to be forwarded may take so much disk (K, M, G, T);\n"
	"                       what comes beyond is dropped and counted\n"
	"  --forwarded WHAT     runs that are forwarded and over: keep (the default) or remove\n"
	"  --linger SECONDS     at the end, forward for so long what is left (10)\n"
	"  --until-eof FD       end when FD reads end-of-file and all clients are done\n"
	"  --grace SECONDS      then wait so long for clients that have said goodbye (10)\n"
	"  --silence SECONDS    drop a client that sends nothing at all, or half a frame, for so\n"
	"                       long (30); between frames it may be silent for ever\n"
	"  --idle-exit SECONDS  end when nobody was connected for so long\n"
	"  --ready-fd FD        write a line to FD once clients can connect, and close it\n"
	"  --foreground         stay in the foreground (it always does)\n"
	"  --verbose            tell about every stream\n"
	"  --help, --version\n"
	"\n"
	"exit status: 0 ended as asked, 1 could not start or serve, 3 another collector\n"
	"serves PATH. TERM and INT end it in good order, HUP makes it read --limits,\n"
	"--token-file and certificates again, USR1 prints its counters.\n"
	"\n"
	"example:\n"
	"  gpustarve-collector --dir runs --unix $XDG_RUNTIME_DIR/gpustarve/sock &\n"
	"  gpustarve run -o runs --collector unix:$XDG_RUNTIME_DIR/gpustarve/sock -- ./train.py\n";

enum {
	OPT_DIR = 256,
	OPT_UNIX,
	OPT_LISTEN,
	OPT_CERT,
	OPT_KEY,
	OPT_CLIENT_CA,
	OPT_TOKEN_FILE,
	OPT_NO_TOKEN,
	OPT_INSECURE_HTTP,
	OPT_LIMITS,
	OPT_LIMIT,
	OPT_QUOTA,
	OPT_KEEP,
	OPT_KEEP_LABEL,
	OPT_STORE,
	OPT_BUDGET,
	OPT_SWEEP,
	OPT_DRY_RUN,
	OPT_ALERT,
	OPT_EXEC,
	OPT_USD,
	OPT_UPSTREAM,
	OPT_UPSTREAM_TOKEN_FILE,
	OPT_UPSTREAM_CA,
	OPT_UPSTREAM_CERT,
	OPT_UPSTREAM_KEY,
	OPT_OUTBOX_MAX,
	OPT_FORWARDED,
	OPT_LINGER,
	OPT_UNTIL_EOF,
	OPT_GRACE,
	OPT_SILENCE,
	OPT_IDLE_EXIT,
	OPT_READY_FD,
	OPT_FOREGROUND,
	OPT_VERBOSE,
	OPT_HELP,
	OPT_VERSION,
};

static const struct option table[] = {
	{ "dir", required_argument, NULL, OPT_DIR },
	{ "unix", required_argument, NULL, OPT_UNIX },
	{ "listen", required_argument, NULL, OPT_LISTEN },
	{ "cert", required_argument, NULL, OPT_CERT },
	{ "key", required_argument, NULL, OPT_KEY },
	{ "client-ca", required_argument, NULL, OPT_CLIENT_CA },
	{ "token-file", required_argument, NULL, OPT_TOKEN_FILE },
	{ "no-token", no_argument, NULL, OPT_NO_TOKEN },
	{ "insecure-http", no_argument, NULL, OPT_INSECURE_HTTP },
	{ "limits", required_argument, NULL, OPT_LIMITS },
	{ "limit", required_argument, NULL, OPT_LIMIT },
	{ "quota", required_argument, NULL, OPT_QUOTA },
	{ "keep", required_argument, NULL, OPT_KEEP },
	{ "keep-label", required_argument, NULL, OPT_KEEP_LABEL },
	{ "store", required_argument, NULL, OPT_STORE },
	{ "budget", required_argument, NULL, OPT_BUDGET },
	{ "sweep", no_argument, NULL, OPT_SWEEP },
	{ "dry-run", no_argument, NULL, OPT_DRY_RUN },
	{ "alert", required_argument, NULL, OPT_ALERT },
	{ "exec", required_argument, NULL, OPT_EXEC },
	{ "usd-per-gpu-hour", required_argument, NULL, OPT_USD },
	{ "upstream", required_argument, NULL, OPT_UPSTREAM },
	{ "upstream-token-file", required_argument, NULL, OPT_UPSTREAM_TOKEN_FILE },
	{ "upstream-ca", required_argument, NULL, OPT_UPSTREAM_CA },
	{ "upstream-cert", required_argument, NULL, OPT_UPSTREAM_CERT },
	{ "upstream-key", required_argument, NULL, OPT_UPSTREAM_KEY },
	{ "outbox-max", required_argument, NULL, OPT_OUTBOX_MAX },
	{ "forwarded", required_argument, NULL, OPT_FORWARDED },
	{ "linger", required_argument, NULL, OPT_LINGER },
	{ "until-eof", required_argument, NULL, OPT_UNTIL_EOF },
	{ "grace", required_argument, NULL, OPT_GRACE },
	{ "silence", required_argument, NULL, OPT_SILENCE },
	{ "idle-exit", required_argument, NULL, OPT_IDLE_EXIT },
	{ "ready-fd", required_argument, NULL, OPT_READY_FD },
	{ "foreground", no_argument, NULL, OPT_FOREGROUND },
	{ "verbose", no_argument, NULL, OPT_VERBOSE },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ NULL, 0, NULL, 0 },
};

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

static bool one_http(struct coll_options *o, int opt)
{
	switch (opt) {
	case OPT_LISTEN:
		o->http.listen = optarg;
		return true;
	case OPT_CERT:
		o->http.cert = optarg;
		return true;
	case OPT_KEY:
		o->http.key = optarg;
		return true;
	case OPT_CLIENT_CA:
		o->http.client_ca = optarg;
		return true;
	case OPT_TOKEN_FILE:
		o->http.token_file = optarg;
		return true;
	case OPT_NO_TOKEN:
		o->http.no_token = true;
		return true;
	case OPT_INSECURE_HTTP:
		o->http.insecure_http = o->upstream.insecure_http = true;
		return true;
	default:
		return false; /* getopt has said why */
	}
}

static bool one_limit(struct coll_options *o, int opt)
{
	const char *name = opt == OPT_QUOTA ? "quota" : opt == OPT_KEEP ? "keep" : "keep-label";
	const char *why;
	int err;

	if (opt == OPT_LIMIT)
		err = coll_limits_set_pair(&o->limits, optarg, &why);
	else
		err = coll_limits_set(&o->limits, name, optarg, &why);
	if (err)
		coll_log("--%s %s: %s; see --help", opt == OPT_LIMIT ? "limit" : name, optarg, why);
	return !err;
}

static bool one_keep(struct coll_options *o, int opt)
{
	switch (opt) {
	case OPT_LIMITS:
		o->limits_file = optarg;
		return true;
	case OPT_LIMIT:
	case OPT_QUOTA:
	case OPT_KEEP:
	case OPT_KEEP_LABEL:
		return one_limit(o, opt);
	case OPT_STORE:
		o->digest.store = optarg;
		return true;
	case OPT_BUDGET:
		o->exec_of_budgets = true;
		if (o->digest.budgets < COLL_BUDGETS_MAX) {
			o->digest.budget[o->digest.budgets++] = optarg;
			return true;
		}
		coll_log("--budget %s: more than %d; leave some out", optarg, COLL_BUDGETS_MAX);
		return false;
	case OPT_SWEEP:
		o->sweep = true;
		return true;
	case OPT_DRY_RUN:
		o->dry_run = true;
		return true;
	default:
		return one_http(o, opt);
	}
}

static bool one_upstream(struct coll_options *o, int opt)
{
	switch (opt) {
	case OPT_UPSTREAM:
		o->upstream.url = optarg;
		return true;
	case OPT_UPSTREAM_TOKEN_FILE:
		o->upstream.token_file = optarg;
		return true;
	case OPT_UPSTREAM_CA:
		o->upstream.ca = optarg;
		return true;
	case OPT_UPSTREAM_CERT:
		o->upstream.cert = optarg;
		return true;
	case OPT_UPSTREAM_KEY:
		o->upstream.key = optarg;
		return true;
	case OPT_OUTBOX_MAX:
		if (coll_size_of(optarg, &o->upstream.outbox_max) && o->upstream.outbox_max)
			return true;
		coll_log("--outbox-max %s: not a size like 20G; see --help", optarg);
		return false;
	case OPT_FORWARDED:
		o->upstream.remove_forwarded = !strcmp(optarg, "remove");
		if (o->upstream.remove_forwarded || !strcmp(optarg, "keep"))
			return true;
		coll_log("--forwarded %s: give keep or remove", optarg);
		return false;
	case OPT_LINGER:
		return number("linger", optarg, &o->upstream.linger_s);
	default:
		return one_keep(o, opt);
	}
}

static bool one(struct coll_options *o, int opt)
{
	switch (opt) {
	case OPT_DIR:
		o->dir = optarg;
		return true;
	case OPT_UNIX:
		o->unix_path = optarg;
		return true;
	case OPT_UNTIL_EOF:
		o->upstream.one_run = true;
		return descriptor("until-eof", optarg, &o->until_eof);
	case OPT_READY_FD:
		return descriptor("ready-fd", optarg, &o->ready_fd);
	case OPT_GRACE:
		return number("grace", optarg, &o->grace_s);
	case OPT_SILENCE:
		return number("silence", optarg, &o->silence_s);
	case OPT_IDLE_EXIT:
		return number("idle-exit", optarg, &o->idle_exit_s);
	case OPT_ALERT:
		o->exec_of_budgets = false;
		return coll_conditions_alert(&o->conditions, optarg);
	case OPT_EXEC:
		if (!o->exec_of_budgets)
			return coll_conditions_exec(&o->conditions, optarg);
		o->digest.exec = optarg;
		return true;
	case OPT_USD:
		return coll_conditions_price(&o->conditions, optarg);
	case OPT_FOREGROUND:
		return true;
	case OPT_VERBOSE:
		o->verbose = true;
		return true;
	default:
		return one_upstream(o, opt);
	}
}

static bool complete(const struct coll_options *o, int argc, char **argv)
{
	if (optind < argc) {
		coll_log("%s: not an option; see --help", argv[optind]);
		return false;
	}
	if (o->dry_run && !o->sweep) {
		coll_log("--dry-run is for --sweep");
		return false;
	}
	if (o->sweep)
		return true;
	if ((!o->unix_path && !o->http.listen) || (o->unix_path && !*o->unix_path)) {
		coll_log("no socket to listen on; give --unix PATH, or --listen URL");
		return false;
	}
	if (!o->http.listen && (o->http.cert || o->http.key || o->http.client_ca ||
				o->http.token_file || o->http.no_token)) {
		coll_log("options of HTTP without --listen; give --listen https://HOST:PORT");
		return false;
	}
	if (!o->digest.store && o->digest.budgets) {
		coll_log("--budget needs the digests of runs; give --store URL");
		return false;
	}
	if (!o->upstream.url &&
	    (o->upstream.token_file || o->upstream.ca || o->upstream.cert || o->upstream.key ||
	     o->upstream.outbox_max || o->upstream.remove_forwarded)) {
		coll_log("options of an upstream without one; give --upstream https://HOST:PORT");
		return false;
	}
	return coll_conditions_complete(&o->conditions);
}

bool coll_options_parse(struct coll_options *o, int argc, char **argv, int *status)
{
	int opt;

	*o = (struct coll_options){
		.dir = "gpustarve-runs",
		.until_eof = -1,
		.ready_fd = -1,
		.idle_exit_s = -1,
		.grace_s = 10,
		.silence_s = 30,
		.conditions.nano_usd_per_hour = -1,
		.upstream.linger_s = 10,
	};
	coll_limits_init(&o->limits);
	*status = COLL_EXIT_OK;
	while ((opt = getopt_long(argc, argv, "", table, NULL)) >= 0) {
		if (opt == OPT_HELP || opt == OPT_VERSION) {
			fputs(opt == OPT_HELP ? help
					      : "gpustarve-collector " GPUSTARVE_VERSION "\n",
			      stdout);
			return false;
		}
		if (!one(o, opt)) {
			*status = COLL_EXIT_ERROR;
			return false;
		}
	}
	if (complete(o, argc, argv))
		return true;
	*status = COLL_EXIT_ERROR;
	return false;
}
