/* SPDX-License-Identifier: Apache-2.0 */
/* gpustarve job: what the hooks of a scheduler call. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cmd.h"
#include "base/log.h"
#include "base/options.h"
#include "job/hook.h"

static const char usage[] =
	"usage: gpustarve job begin [--dir OUT]\n"
	"       gpustarve job end [--dir OUT]\n"
	"\n"
	"What a scheduler's hooks call, on a node.\n"
	"\n"
	"begin    in the Prolog: writes which GPUs the job was given here, and when, into\n"
	"         OUT/<cluster>-<job>.job/alloc-<node>-<restart>.json\n"
	"end      in the Epilog: adds when it gave them back\n"
	"\n"
	"  -d, --dir OUT    the folder of the runs; default: GPUSTARVE_OUT, else\n"
	"                   ./gpustarve-runs\n"
	"\n"
	"Both read the scheduler's variables (SLURM_JOB_ID, SLURM_JOB_GPUS, ...). They exit 1 when\n"
	"they could not do it, which a hook should not pass on: it would drain the node.\n";

struct opts {
	const char *out;
};

static const char *default_out(void)
{
	const char *env = getenv("GPUSTARVE_OUT");

	return env && env[0] ? env : "gpustarve-runs";
}

/* 1: go on, 0: help was shown, -1: error. */
static int parse(int argc, char **argv, struct opts *o)
{
	static const struct option longs[] = {
		{ "dir", required_argument, NULL, 'd' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int c;

	while ((c = view_getopt(argc, argv, ":d:h", longs)) != -1) {
		if (c == 'h') {
			fputs(usage, stdout);
			return 0;
		}
		if (c != 'd')
			return -1;
		o->out = optarg;
	}
	return 1;
}

static int tell(struct view_hook *h, int done)
{
	const struct view_alloc *a = &h->alloc;

	if (done < 0)
		view_error("%s: %s; the job's report will not know what it was given", h->path,
			   h->why);
	else if (done && h->remark)
		view_note("job %" PRId64 ": %s", a->id.number[VIEW_JOB_ID], h->remark);
	view_hook_fini(h);
	return done < 0 ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
}

static int begin(const struct opts *o)
{
	struct view_hook h;
	int done = view_hook_begin(&h, o->out);

	return tell(&h, done);
}

static int end(const struct opts *o)
{
	struct view_hook h;
	int done = view_hook_end(&h, o->out);

	return tell(&h, done);
}

int view_cmd_job(int argc, char **argv)
{
	struct opts o = { .out = default_out() };
	int go = parse(argc, argv, &o);
	const char *what = optind < argc ? argv[optind] : "";

	if (go <= 0)
		return go ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
	if (optind == argc - 1 && !strcmp(what, "begin"))
		return begin(&o);
	if (optind == argc - 1 && !strcmp(what, "end"))
		return end(&o);
	view_error("job: %s; see gpustarve job --help",
		   *what ? "no such sub-command or too many arguments" : "no sub-command");
	return VIEW_EXIT_ERROR;
}
