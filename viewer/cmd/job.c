/* SPDX-License-Identifier: Apache-2.0 */
/* gpustarve job: what the hooks of a scheduler call, and what is known of its jobs. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "core/values.h"
#include "base/options.h"
#include "cmd.h"
#include "core/log.h"
#include "job/ask.h"
#include "job/hook.h"
#include "job_safe.h"
#include "job_show.h"

static const char usage[] =
	"usage: gpustarve job begin [--dir OUT]\n"
	"       gpustarve job end [--dir OUT]\n"
	"       gpustarve job comment ID [--dir OUT] [--cluster NAME] [--price USD]\n"
	"       gpustarve job safe ID [--dir OUT] [--cluster NAME] [--lose T] [--price USD]\n"
	"       gpustarve job list [--dir OUT] [--cluster NAME]\n"
	"\n"
	"What a scheduler's hooks call, and what is known of its jobs.\n"
	"\n"
	"begin    in the Prolog: writes which GPUs the job was given here, and when, into\n"
	"         OUT/<cluster>-<job>.job/alloc-<node>-<restart>.json\n"
	"end      in the Epilog: adds when it gave them back\n"
	"comment  one line of lower-case NAME=VALUE about a job, for its AdminComment\n"
	"safe     whether a job or run may be stopped now, in one line: exit status 0; 2 where that\n"
	"         loses more than --lose\n"
	"list     the jobs that have runs or allocations in OUT\n"
	"\n";

static const char usage_tail[] =
	"\n"
	"begin and end read the scheduler's variables (SLURM_JOB_ID, SLURM_JOB_GPUS, ...). They exit\n"
	"1 when they could not do it, which a hook should not pass on: it would drain the node.\n";

static const struct base_opt opt[] = {
	{ "dir", 'd', "OUT",
	  "the folder of the runs; default: GPUSTARVE_OUT, else\n"
	  "./gpustarve-runs",
	  BASE_TEXT(struct view_job_choice, dir), .words = BASE_WORDS_FOLDER },
	{ "cluster", 0, "NAME", "that cluster's jobs", BASE_TEXT(struct view_job_choice, cluster) },
	{ "price", 0, "USD", "dollars per GPU-hour, for every GPU",
	  BASE_TEXT(struct view_job_choice, rates.price) },
	{ "price-model", 0, "M", "which price of the lists: on-demand (default), spot, ...",
	  BASE_TEXT(struct view_job_choice, rates.model), .good = view_option_price_model,
	  .words = VIEW_PRICE_MODELS },
	{ "lose", 0, "T", "what a stop may lose: a time of each GPU (1m), or $USD",
	  BASE_TEXT(struct view_job_choice, lose), .good = view_job_good_loss },
	{ "token-file", 0, "FILE", "token for the collector; else GPUSTARVE_TOKEN",
	  BASE_TEXT(struct view_job_choice, token_file), .words = BASE_WORDS_FILE },
	{ "ca-file", 0, "FILE", "whose certificates https is to trust; else the system's",
	  BASE_TEXT(struct view_job_choice, ca_file), .words = BASE_WORDS_FILE },
	{ BASE_HELP },
	{ 0 },
};

const struct base_options view_job_options = {
	.command = "job",
	.usage = usage,
	.column = 23,
	.opt = opt,
	.tail = usage_tail,
	.error = view_error,
};

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

static int begin(const struct view_job_choice *o)
{
	struct view_hook h;
	int done = view_hook_begin(&h, view_job_out(o->dir));

	return tell(&h, done);
}

static int end(const struct view_job_choice *o)
{
	struct view_hook h;
	int done = view_hook_end(&h, view_job_out(o->dir));

	return tell(&h, done);
}

int view_cmd_job(int argc, char **argv)
{
	struct view_job_choice o = { .rates.price_from = "--price" };
	int go = base_options_parse(&view_job_options, argc, argv, &o), words = argc - optind;
	const char *what = words ? argv[optind] : "";

	if (go <= 0)
		return go ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
	if (words == 1 && !strcmp(what, "begin"))
		return begin(&o);
	if (words == 1 && !strcmp(what, "end"))
		return end(&o);
	if (words == 1 && !strcmp(what, "list"))
		return view_job_list(&o);
	if (words == 2 && !strcmp(what, "comment"))
		return view_job_comment(argv[optind + 1], &o);
	if (words == 2 && !strcmp(what, "safe"))
		return view_job_stop(argv[optind + 1], &o);
	view_error("job: %s; see gpustarve job --help",
		   *what ? "no such subcommand, or wrong operands for it" : "no subcommand");
	return VIEW_EXIT_ERROR;
}
