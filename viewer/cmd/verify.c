/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpustarve verify: makes the summary once more from the trace, with the window, the waste set and
 * the rates that the stored one names, and compares the two member by member, digit by digit; and
 * the data block of the run's page, byte by byte. Windows of full recording are drawn once more.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/files.h"
#include "base/options.h"
#include "wire/crc32c.h"
#include "summary/analyse.h"
#include "cmd.h"
#include "base/jsondoc.h"
#include "core/log.h"
#include "findings/native.h"
#include "trace/newest.h"
#include "trace/remote.h"
#include "cost/rates.h"
#include "report/data/data.h"
#include "report/data/data_read.h"
#include "verify_windows.h"

#define SHOWN 8

struct comparison {
	size_t differences;
	/* It is as some version wrote it: what only one side has, another version knows alone. */
	bool intact;
	size_t sole, sole_stored; /* of both; that the stored one has */
	const char *name; /* of what is compared */
};

static const char *shown(const struct base_json *n)
{
	if (!n)
		return "nothing";
	if (n->type == BASE_JSON_ARRAY)
		return "an array";
	if (n->type == BASE_JSON_OBJECT)
		return "an object";
	return n->text;
}

static void differ(struct comparison *c, const char *key, const struct base_json *stored,
		   const struct base_json *made)
{
	if (c->differences++ < SHOWN)
		printf("%s: %s says %.200s, the trace gives %.200s\n", key, c->name, shown(stored),
		       shown(made));
}

static void alone(struct comparison *c, const char *key, const struct base_json *stored,
		  const struct base_json *made)
{
	if (!c->intact) {
		differ(c, key, stored, made);
		return;
	}
	c->sole++;
	c->sole_stored += stored != NULL;
}

static void compare(struct comparison *c, const char *key, const struct base_json *stored,
		    const struct base_json *made);

static void compare_object(struct comparison *c, const char *key, const struct base_json *stored,
			   const struct base_json *made)
{
	char path[512];

	for (const struct base_json *s = stored->child; s; s = s->next) {
		snprintf(path, sizeof(path), "%s%s%s", key, *key ? "." : "", s->key);
		if (!base_json_get(made, s->key))
			alone(c, path, s, NULL);
	}
	for (const struct base_json *m = made->child; m; m = m->next) {
		const struct base_json *s = base_json_get(stored, m->key);

		snprintf(path, sizeof(path), "%s%s%s", key, *key ? "." : "", m->key);
		if (!s)
			alone(c, path, NULL, m);
		else if (!c->sole || strcmp(path, "digest") != 0) /* of all the text before it */
			compare(c, path, s, m);
	}
	if (base_json_count(stored) != base_json_count(made) && !c->differences && !c->sole)
		differ(c, key, stored, made); /* a key that stands there twice */
}

static void compare_array(struct comparison *c, const char *key, const struct base_json *stored,
			  const struct base_json *made)
{
	const struct base_json *s = stored->child, *m = made->child;
	char path[512];

	for (size_t i = 0; s || m; i++) {
		snprintf(path, sizeof(path), "%s[%zu]", key, i);
		compare(c, path, s, m);
		s = s ? s->next : NULL;
		m = m ? m->next : NULL;
	}
}

static void compare(struct comparison *c, const char *key, const struct base_json *stored,
		    const struct base_json *made)
{
	if (!stored || !made || stored->type != made->type)
		differ(c, key, stored, made);
	else if (made->type == BASE_JSON_OBJECT)
		compare_object(c, key, stored, made);
	else if (made->type == BASE_JSON_ARRAY)
		compare_array(c, key, stored, made);
	else if (strcmp(stored->text, made->text) != 0)
		differ(c, key, stored, made);
}

static struct base_json *parse_summary(struct base_arena *mem, const struct view_summary *s)
{
	struct base_json_error error;
	struct base_json *root = NULL;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	view_summary_write(s, f);
	if (!fclose(f))
		root = base_json_parse(mem, text, len, &error);
	free(text);
	return root;
}

/*
 * The rates are an input of the summary, so they are taken from it; but their parts must fit
 * together: what is charged is the list price times the fraction.
 */
static void check_rates(struct comparison *c, const struct view_summary *stored)
{
	for (size_t g = 0; g < stored->cost.gpus; g++) {
		const struct view_rate *r = &stored->cost.rate[g];
		int64_t want = view_rate_fraction(r->list_nano_usd_per_hour, r->fraction_num,
						  r->fraction_den);
		if (want == r->nano_usd_per_hour)
			continue;
		c->differences++;
		printf("cost.rates, GPU %zu: usd_per_gpu_hour is not its list price times its "
		       "fraction\n",
		       g);
	}
}

/* Is its digest that of its text? Then no hand has been at it since it was written. */
static bool is_intact(const char *path)
{
	static const char name[] = "\"digest\": \"crc32c:";
	char *text = NULL, *at, *last = NULL;
	size_t len = 0;
	bool intact = false;

	if (base_file_read(path, &text, &len))
		return false;
	for (at = text; (at = strstr(at, name)); at++)
		last = at;
	if (last) {
		char want[16];

		for (at = last; at > text && (isspace((unsigned char)at[-1]) || at[-1] == ',');
		     at--)
			;
		snprintf(want, sizeof(want), "%08x", wire_crc32c(0, text, (size_t)(at - text)));
		intact = !strncmp(last + sizeof(name) - 1, want, 8);
	}
	free(text);
	return intact;
}

static void say_other_version(const char *path, const struct comparison *c)
{
	view_note(
		"%s: it was made by another version, which knows %zu values that are not in both; "
		"every value that both know is what the trace gives",
		path, c->sole);
}

static int compare_summary(const char *path, const struct view_summary *stored,
			   struct view_summary *made, bool quiet)
{
	struct base_arena mem = { 0 };
	struct comparison c = { .name = "summary.json", .intact = is_intact(path) };
	struct base_json_error error;
	struct base_json *left = NULL;

	view_native_keep(made, stored);
	struct base_json *right = parse_summary(&mem, made);
	if (right && !base_json_read(&mem, path, &left, &error)) {
		compare(&c, "", left, right);
		check_rates(&c, stored);
	}
	base_arena_fini(&mem);
	if (!left || !right) {
		view_error("%s: it changed while it was read; try again", path);
		return VIEW_EXIT_ERROR;
	}
	fflush(stdout);
	if (c.differences) {
		view_error("%s: %zu values differ from what the trace gives; do not trust it, and "
			   "make a new one with gpustarve report --format json",
			   path, c.differences);
		return VIEW_EXIT_DIFFERS;
	}
	if (c.sole)
		say_other_version(path, &c);
	else if (!quiet)
		printf("%s: every value is what the trace gives\n", path);
	return VIEW_EXIT_OK;
}

/* ---- the page -------------------------------------------------------------------------------- */

/* Where the two differ first, in words. A block's own sum was right when it was read. */
static struct comparison show_differences(const struct view_data_block *b, const char *text,
					  size_t len)
{
	struct comparison c = { .name = "report.html", .intact = true };
	struct base_arena mem = { 0 };
	struct base_json_error error;
	struct base_json *left = base_json_parse(&mem, b->text, b->len, &error);
	struct base_json *right = base_json_parse(&mem, text, len, &error);

	compare(&c, "", left, right);
	base_arena_fini(&mem);
	fflush(stdout);
	return c;
}

static int differs(const char *path, const char *how)
{
	view_error("%s: its data block %s; do not trust it, and make a new one with gpustarve "
		   "report --format html",
		   path, how);
	return VIEW_EXIT_DIFFERS;
}

static int compare_block(const char *path, const struct view_data_block *b,
			 const struct view_summary *made, bool quiet)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	int status = VIEW_EXIT_OK;

	if (!f)
		return VIEW_EXIT_ERROR;
	view_data_write(made, f);
	if (fclose(f)) {
		view_error("out of memory: %s; use a machine with more", strerror(errno));
		status = VIEW_EXIT_ERROR;
	} else if (len != b->len || memcmp(text, b->text, len) != 0) {
		struct comparison c = show_differences(b, text, len);

		/* A later version knows more, an earlier one less; both at once nobody does. */
		if (c.sole && !c.differences && (!c.sole_stored || c.sole_stored == c.sole))
			say_other_version(path, &c);
		else
			status = differs(path, "is not what the trace gives");
	} else if (!quiet) {
		printf("%s: every value of its data block is what the trace gives\n", path);
	}
	free(text);
	return status;
}

/* A page of another window than the summary: the engine runs once more. */
static int compare_window(const char *run, const char *path, const struct view_data_block *b,
			  const struct view_summary *stored, bool quiet)
{
	struct view_analysis o = {
		.window = b->window,
		.waste = stored->waste,
		.fixed = &stored->cost,
		.series = true,
		.progress = !quiet,
	};
	struct view_summary *made;
	int status;

	if (view_analyse(run, &o, &made))
		return VIEW_EXIT_ERROR;
	status = compare_block(path, b, made, quiet);
	view_summary_free(made);
	return status;
}

/* @made has the summary's window. */
static int compare_page(const char *run, const char *path, const struct view_data_block *b,
			const struct view_summary *stored, const struct view_summary *made,
			bool quiet)
{
	switch (b->state) {
	case VIEW_BLOCK_NO_PAGE:
		return VIEW_EXIT_OK;
	case VIEW_BLOCK_NONE:
		view_note("%s: it has no data block, so it is an earlier version's; it was not "
			  "compared",
			  path);
		return VIEW_EXIT_OK;
	case VIEW_BLOCK_FOREIGN:
		view_note("%s: it was made by version %s and this is " GPUSTARVE_VERSION
			  "; it was not compared",
			  path, b->version[0] ? b->version : "unknown");
		return VIEW_EXIT_OK;
	case VIEW_BLOCK_BARE:
		view_note("%s: it was made without the trace and has no series; there is nothing "
			  "to compare",
			  path);
		return VIEW_EXIT_OK;
	case VIEW_BLOCK_DAMAGED:
		return differs(path, "was changed since it was written");
	case VIEW_BLOCK_READY:
		break;
	}
	if (b->window != stored->window)
		return compare_window(run, path, b, stored, quiet);
	return compare_block(path, b, made, quiet);
}

static int say_other_rules(const char *run, const char *path, const struct view_summary *stored)
{
	view_error("%s: its classes are by rules %" PRIu32
		   " and these are rules %u, so it cannot be "
		   "compared; make a new one with gpustarve report %s --format json -o %s",
		   path, stored->rules, ANA_RULES, run, path);
	return VIEW_EXIT_NOT_COMPARABLE;
}

/* ---- windows of full recording --------------------------------------------------------------- */

static void check_windows(void *arg, const struct view_trace *t)
{
	struct view_windows_checked *c = arg;

	for (size_t i = 0; i < t->streams; i++)
		view_verify_windows(c, &t->stream[i], stdout);
	fflush(stdout);
}

static int say_windows(const char *run, const struct view_windows_checked *c, bool quiet)
{
	if (c->wrong) {
		view_error("%s: %zu times windows of full recording lie elsewhere than their seed "
			   "draws them; do not trust its estimates",
			   run, c->wrong);
		return VIEW_EXIT_DIFFERS;
	}
	if (c->windows && !quiet)
		printf("%s: each of %zu windows of full recording lies where its seed draws it\n",
		       run, c->windows);
	return VIEW_EXIT_OK;
}

static int verify(const char *run, const char *path, const struct view_summary *stored, bool quiet)
{
	struct view_windows_checked windows = { 0 };
	struct view_analysis o = { .window = stored->window,
				   .waste = stored->waste,
				   .fixed = &stored->cost,
				   .progress = !quiet,
				   .on_trace = check_windows,
				   .arg = &windows };
	struct view_data_block block = { .state = VIEW_BLOCK_NO_PAGE };
	int status = VIEW_EXIT_ERROR, page_status, windows_status, err;
	struct view_summary *made;
	char *page = NULL;

	if (asprintf(&page, "%s/report.html", run) < 0)
		return VIEW_EXIT_ERROR;
	err = view_block_read(&block, page);
	if (err) {
		view_error("%s: %s; make a new one with gpustarve report --format html", page,
			   strerror(-err));
		goto free_page;
	}
	o.series = block.state == VIEW_BLOCK_READY && block.window == stored->window;
	if (view_analyse(run, &o, &made))
		goto free_block;
	windows_status = say_windows(run, &windows, quiet);
	page_status = compare_page(run, page, &block, stored, made, quiet);
	status = compare_summary(path, stored, made, quiet); /* names its own in @made */
	if (status == VIEW_EXIT_OK)
		status = page_status;
	if (status == VIEW_EXIT_OK)
		status = windows_status;
	view_summary_free(made);
free_block:
	view_block_fini(&block);
free_page:
	free(page);
	return status;
}

struct opts {
	bool quiet;
};

static const char usage[] =
	"usage: gpustarve verify RUN\n"
	"\n"
	"Recomputes RUN/summary.json from the trace: every nanosecond and every cent; and the\n"
	"data that the charts of RUN/report.html draw, if it is there.\n"
	"\n";

static const struct base_opt opt[] = {
	{ "quiet", 'q', NULL, "print nothing if they agree", BASE_FLAG(struct opts, quiet) },
	{ BASE_HELP },
	{ 0 },
};

const struct base_options view_verify_options = {
	.command = "verify",
	.usage = usage,
	.column = 16,
	.opt = opt,
	.tail = "\n"
		"exit status: 0 they agree, 1 it could not be done, 2 they differ,\n"
		"4 the summary is by other rules\n",
	.error = view_error,
};

/* 1: go on, 0: help was shown, -1: error. */
static int parse(int argc, char **argv, bool *quiet)
{
	struct opts o = { 0 };
	int go = base_options_parse(&view_verify_options, argc, argv, &o);

	*quiet = o.quiet;
	if (go <= 0 || optind == argc - 1)
		return go;
	if (optind == argc)
		view_say_no_run("verify");
	else
		view_error("verify: name one run directory; see gpustarve verify --help");
	return -1;
}

int view_cmd_verify(int argc, char **argv)
{
	struct view_summary *stored;
	const char *why;
	bool quiet = false;
	char *path;
	int go = parse(argc, argv, &quiet), err;

	if (go <= 0)
		return go ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
	const char *run = argv[optind];
	if (view_is_remote(run)) {
		view_error(
			"verify: %s: no summary lies in an object store; verify the run's folder",
			run);
		return VIEW_EXIT_ERROR;
	}
	if (asprintf(&path, "%s/summary.json", run) < 0)
		return VIEW_EXIT_ERROR;
	err = view_summary_read(&stored, path, &why);
	if (err == -EBADMSG) {
		/* A stored summary that is none differs from what the trace gives. */
		view_error("%s: %s; make a new one with gpustarve report --format json", path, why);
		free(path);
		return VIEW_EXIT_DIFFERS;
	}
	if (err) {
		view_error("%s: %s; make one with gpustarve report %s --format json -o %s", path,
			   why, run, path);
		free(path);
		return VIEW_EXIT_ERROR;
	}
	err = stored->rules == ANA_RULES ? verify(run, path, stored, quiet)
					 : say_other_rules(run, path, stored);
	view_summary_free(stored);
	free(path);
	return err;
}
