/* SPDX-License-Identifier: Apache-2.0 */
/* gpustarve runs: the runs of a folder, the newest first, with what their summaries say. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/escape.h"
#include "base/jsonout.h"
#include "base/options.h"
#include "base/units.h"
#include "cmd.h"
#include "core/log.h"
#include "core/values.h"
#include "base/amounts.h"
#include "findings/lead.h"
#include "findings/unused.h"
#include "findings/words.h"
#include "report/text/text.h"
#include "summary/summary.h"
#include "trace/newest.h"
#include "trace/remote.h"

#define LAST_DEFAULT 20
#define LAST_MAX 999 /* as far back as -999 names a run */
#define COMMAND_COLUMNS 40

struct opts {
	int last;
	bool json;
};

struct row {
	int back; /* -1 is the newest */
	const struct view_run_entry *run;
	struct view_summary *s; /* NULL: none was stored, or none that can be read */
};

static bool set_last(void *into, char *text)
{
	struct opts *o = into;
	long n;

	if (!view_option_number("--last", text, LAST_MAX, &n))
		return false;
	o->last = (int)n;
	return true;
}

static bool set_format(void *into, char *text)
{
	return view_option_json(text, &((struct opts *)into)->json);
}

static const char usage[] =
	"usage: gpustarve runs [FOLDER] [--last N] [--format text|json]\n"
	"\n"
	"Lists the runs of a folder, the newest first, with their diagnoses. The number before\n"
	"each is a name for it: gpustarve report -2 shows the run before the newest one,\n"
	"gpustarve report -2 -1 compares the two. FOLDER: GPUSTARVE_OUT, else gpustarve-runs;\n"
	"these numbers count there.\n"
	"\n";

static const struct base_opt opt[] = {
	{ "last", 0, "N", "how many to list (20)", .take = set_last },
	{ "format", 0, "F", "text (default) or json", .take = set_format, .words = "text json" },
	{ BASE_HELP },
	{ 0 },
};

const struct base_options view_runs_options = {
	.command = "runs",
	.usage = usage,
	.column = 16,
	.opt = opt,
	.error = view_error,
};

/* ---- text ------------------------------------------------------------------------------------ */

static void put_command(const struct view_summary *s, FILE *f)
{
	char text[8 * COMMAND_COLUMNS];
	size_t left = COMMAND_COLUMNS;

	for (size_t i = 0; i < s->commands && left > 1; i++) {
		const char *word = s->command[i];
		int shown;

		/* of a path the last part tells it from others */
		if (strchr("/.~", word[0]))
			word = view_file_name(word);
		base_escape_text(text, sizeof(text), BASE_AS_TERMINAL, word);
		shown = fprintf(f, "%s%.*s", i ? " " : "", (int)left, text);
		left -= shown > 0 && (size_t)shown < left ? (size_t)shown : left;
	}
}

static void put_row(const struct row *r, FILE *f)
{
	const struct view_summary *s = r->s;
	struct base_arena mem = { 0 };
	base_unit day, took, share, usd;
	struct view_lead lead;
	const char *cost = "";

	if (!s) {
		base_moment(day, r->run->written_ns);
		fprintf(f, "%4d  %-16.16s  no summary: gpustarve report %d\n", -r->back, day,
			-r->back);
		return;
	}
	base_moment(day, s->start_unix_ns);
	lead = view_lead_of(s);
	if (s->cost.known)
		cost = base_money(usd, s->cost.total);
	fprintf(f, "%4d  %-16.16s  %8s  %4zu  %*s  %5s %%  %-22s  ", -r->back, day,
		base_duration(took, s->wall_ns), s->result->gpus, base_width(cost, 9), cost,
		lead.known ? base_percent(share, lead.ppm) : "-", view_verdict_words(s, &mem));
	put_command(s, f);
	putc('\n', f);
	base_arena_fini(&mem);
}

static void put_text(const struct row *row, size_t rows, FILE *f)
{
	fprintf(f, "%4s  %-16s  %8s  %4s  %9s  %7s  %-22s  %s\n", "run", "began (UTC)", "took",
		"GPUs", "cost", "share", "diagnosis", "command");
	for (size_t i = 0; i < rows; i++)
		put_row(&row[i], f);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_object(struct base_jsonout *j, const struct row *r)
{
	const struct view_summary *s = r->s;

	base_json_object(j, NULL);
	base_json_int(j, "back", r->back);
	base_json_string(j, "path", r->run->path);
	base_json_int(j, "written_unix_ns", r->run->written_ns);
	if (s) {
		base_json_string(j, "run", s->id);
		base_json_int(j, "start_unix_ns", s->start_unix_ns);
		base_json_int(j, "wall_ns", s->wall_ns);
		base_json_uint(j, "gpus", s->result->gpus);
		base_json_int(j, "gpu_ns", s->result->gpu_ns);
		base_json_percent(j, "starved_pct", base_ppm(s->starved_ns, s->result->gpu_ns));
		base_json_percent(j, "wasted_pct", base_ppm(s->wasted_ns, s->result->gpu_ns));
		base_json_usd(j, "cost_usd", s->cost.total, s->cost.known);
		base_json_string(j, "verdict", ana_verdict_names[s->result->judgement.verdict]);
		base_json_string(j, "severity", ana_severity_names[s->result->judgement.severity]);
		base_json_flat_array(j, "command");
		for (size_t i = 0; i < s->commands; i++)
			base_json_string(j, NULL, s->command[i]);
		base_json_end(j);
	}
	base_json_end(j);
}

static void put_json(const struct row *row, size_t rows, FILE *f)
{
	struct base_jsonout j = { .f = f };

	base_json_array(&j, NULL);
	for (size_t i = 0; i < rows; i++)
		put_object(&j, &row[i]);
	base_json_end(&j);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static struct view_summary *summary_of(const char *path)
{
	struct view_summary *s = NULL;
	const char *why;
	char *file;

	if (asprintf(&file, "%s/summary.json", path) < 0)
		return NULL;
	if (view_summary_read(&s, file, &why))
		s = NULL;
	free(file);
	return s;
}

static int show(const struct opts *o, const struct view_run_entry *run, size_t runs)
{
	struct view_text_style style = o->json ? view_text_style_plain : view_text_style_of(stdout);
	struct row *row = calloc(runs + 1, sizeof(*row));
	struct view_text_ascii ascii;
	size_t i;

	if (!row) {
		view_error("out of memory; use a machine with more");
		return VIEW_EXIT_ERROR;
	}
	for (i = 0; i < runs; i++)
		row[i] = (struct row){ (int)i + 1, &run[i], summary_of(run[i].path) };
	(o->json ? put_json : put_text)(row, runs, view_text_begin(&ascii, stdout, &style));
	view_text_end(&ascii);
	for (i = 0; i < runs; i++)
		view_summary_free(row[i].s);
	free(row);
	if (!fflush(stdout) && !ferror(stdout))
		return VIEW_EXIT_OK;
	view_error("standard output: %s; nothing more is written", strerror(errno));
	return VIEW_EXIT_ERROR;
}

int view_cmd_runs(int argc, char **argv)
{
	struct opts o = { .last = LAST_DEFAULT };
	int go = base_options_parse(&view_runs_options, argc, argv, &o), status, err;
	const char *folder = optind < argc ? argv[optind] : view_runs_folder();
	struct view_run_entry *list;
	size_t count;

	if (go <= 0)
		return go ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
	if (argc - optind > 1) {
		view_error("runs: name one folder; see gpustarve runs --help");
		return VIEW_EXIT_ERROR;
	}
	if (view_is_remote(folder)) {
		view_error("runs: %s: an object store is not listed; gpustarve report %s/RUN reads "
			   "one run there",
			   folder, folder);
		return VIEW_EXIT_ERROR;
	}
	err = view_runs_list(folder, &list, &count);
	if (err || (!count && !o.json)) {
		view_error("%s: %s; record one with gpustarve run -- COMMAND", folder,
			   err ? strerror(-err) : "no run is there");
		if (!err)
			view_runs_free(list, count);
		return VIEW_EXIT_ERROR;
	}
	status = show(&o, list, count < (size_t)o.last ? count : (size_t)o.last);
	view_runs_free(list, count);
	return status;
}
