/* SPDX-License-Identifier: Apache-2.0 */
/* gpustarve fit: what the same training would take and cost on other GPUs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/options.h"
#include "cmd.h"
#include "core/log.h"
#include "core/values.h"
#include "fit/places.h"
#include "summary/analyse.h"
#include "trace/newest.h"

struct opts {
	const char *provider;
	bool json;
	struct view_analysis analysis;
};

static bool set_format(void *into, char *text)
{
	struct opts *o = into;

	o->json = !strcmp(text, "json");
	if (o->json || !strcmp(text, "text"))
		return true;
	view_error("--format %s: no such format; one of text, json", text);
	return false;
}

static const char usage[] =
	"usage: gpustarve fit [RUN] [--provider NAME] [--price-model M] [--format text|json]\n"
	"\n"
	"Shows what the same training would take and cost on each GPU of the price lists, as a\n"
	"range: what holds of a GPU of any speed, and what the published peaks leave open.\n"
	"RUN is what gpustarve report takes; without it, it is the newest.\n"
	"\n";

static const struct base_opt opt[] = {
	{ "provider", 0, "NAME", "only its prices; default: all that the lists have",
	  BASE_TEXT(struct opts, provider) },
	{ "price-model", 0, "M", "on-demand (default), spot, reserved or owned",
	  BASE_TEXT(struct opts, analysis.rates.model), .good = view_option_price_model,
	  .words = VIEW_PRICE_MODELS },
	{ "price", 0, "USD", "dollars per GPU-hour of the run's own GPUs",
	  BASE_TEXT(struct opts, analysis.rates.price) },
	{ "format", 0, "F", "text (default) or json", .take = set_format, .words = "text json" },
	{ BASE_HELP },
	{ 0 },
};

const struct base_options view_fit_options = {
	.command = "fit",
	.usage = usage,
	.column = 21,
	.opt = opt,
	.tail = "\n"
		"  gpustarve fit -1 --provider lambda\n",
	.error = view_error,
};

static int show(const char *path, const struct opts *o)
{
	struct view_summary *s = NULL;
	const char *why = NULL;
	struct fit f = { 0 };
	int err = view_analyse(path, &o->analysis, &s);

	if (err)
		return err; /* it has been said */
	err = fit_make(&f, s, o->analysis.rates.model, o->provider, &why);
	if (err)
		view_error("%s: %s; other GPUs cannot be told from it", path,
			   why ? why : strerror(-err));
	else
		(o->json ? fit_json : fit_text)(&f, s, stdout);
	if (!err && (fflush(stdout) || ferror(stdout))) {
		view_error("standard output: %s; nothing more is written", strerror(errno));
		err = -EIO;
	}
	fit_fini(&f);
	view_summary_free(s);
	return err;
}

int view_cmd_fit(int argc, char **argv)
{
	struct opts o = { .analysis = { .window = ANA_WINDOW_JOB,
					.rates = { .price_from = "--price" } } };
	int go = base_options_parse(&view_fit_options, argc, argv, &o);

	if (go <= 0)
		return go ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
	if (argc - optind > 1) {
		view_error("fit: name one run; see gpustarve fit --help");
		return VIEW_EXIT_ERROR;
	}
	char *newest = optind < argc ? NULL : view_newest_or_say("fit");
	const char *path = optind < argc ? argv[optind] : newest;
	int err = path ? show(path, &o) : -ENOENT;
	free(newest);
	return err ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
}
