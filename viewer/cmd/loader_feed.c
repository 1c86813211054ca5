/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpustarve loader: runs a command where there is no GPU, records what makes its batches (libprof
 * with GPUSTARVE_LOADER), and says what that comes to at a GPU's pace. The recording is taken away
 * at the end.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/files.h"
#include "base/options.h"
#include "cmd.h"
#include "core/log.h"
#include "core/values.h"
#include "feed/feed.h"
#include "findings/words.h"
#include "run/child.h"
#include "run/install.h"
#include "run/preload_path.h"
#include "summary/analyse.h"
#include "trace/newest.h"

#define STEP_MAX_MS 3600000.0
#define SECONDS_MAX 1000000
#define KILL_AFTER 10 /* seconds from TERM */
#define RUN "loader"

struct opts {
	int64_t step_ns; /* 0: not given */
	const char *from; /* NULL: not given */
	/* which step of it that is: "the median step without its wait in a.gst" */
	const char *what;
	int64_t seconds; /* 0: until it ends */
	bool json;
};

struct watch {
	struct view_child child;
	const char *recording;
	int64_t seconds, passed;
};

static bool set_step(void *into, char *text)
{
	struct opts *o = into;
	char *end;
	double ms = strtod(text, &end);

	if (text[0] < '0' || text[0] > '9' || *end || !(ms >= 0.001 && ms <= STEP_MAX_MS)) {
		view_error("--step-ms %s: not the length of a step; give milliseconds such as 120 "
			   "or 7.5",
			   text);
		return false;
	}
	o->step_ns = (int64_t)(ms * 1e6 + 0.5);
	return true;
}

static bool set_seconds(void *into, char *text)
{
	struct opts *o = into;
	long n;

	if (!view_option_number("--seconds", text, SECONDS_MAX, &n))
		return false;
	o->seconds = n;
	return true;
}

static bool set_format(void *into, char *text)
{
	return view_option_json(text, &((struct opts *)into)->json);
}

static const char usage[] =
	"usage: gpustarve loader [--step-ms MS | --from RUN] [options] -- COMMAND...\n"
	"\n"
	"Measures, where there is no GPU, how long COMMAND's loader takes for a batch and in which\n"
	"lines, and says how many workers a GPU's step needs. COMMAND runs as ever; how long its\n"
	"own steps take does not matter.\n"
	"\n";

static const struct base_opt opt[] = {
	{ "step-ms", 0, "MS", "how long the GPU takes for a step, in milliseconds",
	  .take = set_step },
	{ "from", 0, "RUN", "take that from a recorded run: its steps without their waits",
	  BASE_TEXT(struct opts, from), .words = BASE_WORDS_FILE },
	{ "seconds", 0, "N", "end COMMAND this long after its first loader was imported",
	  .take = set_seconds },
	{ "format", 0, "F", "text (default) or json", .take = set_format, .words = "text json" },
	{ BASE_HELP },
	{ 0 },
};

const struct base_options view_loader_options = {
	.command = "loader",
	.usage = usage,
	.column = 16,
	.opt = opt,
	.tail = "\n"
		"  gpustarve loader --step-ms 120 -- python train.py\n"
		"  gpustarve loader --from -1 --seconds 60 -- python train.py\n",
	.wraps = true,
	.error = view_error,
};

/*
 * ---- the step ---------------------------------------------------------------------------------
 */

static bool is_file(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode);
}

/*
 * Of the trace, for a stored summary knows of steps without their waits only where there is a
 * loader.
 */
static int summary_of(const char *run, struct view_summary **s)
{
	struct view_analysis a = { .window = ANA_WINDOW_JOB };
	const char *why;

	if (is_file(run) && !view_summary_read(s, run, &why))
		return 0;
	return view_analyse(run, &a, s);
}

/* A step without its wait for the loader, and which; 0: the run has none. */
static int64_t fed_step(const struct view_summary *s, const char **which)
{
	const struct view_worker_facts *f = &s->loader.facts;

	*which = "median";
	if (s->result->step_fed_median_ns > 0)
		return s->result->step_fed_median_ns;
	*which = "average";
	return f->step_ns > f->wait_ns ? f->step_ns - f->wait_ns : 0;
}

static bool take_step(struct opts *o, struct base_arena *mem)
{
	char name[] = "loader", *run[] = { name, base_arena_text(mem, o->from) };
	struct view_summary *s;
	const char *which;

	if (!o->from)
		return true;
	if (o->step_ns) {
		view_error("loader: --step-ms and --from; give one of them");
		return false;
	}
	if (!view_name_runs(&view_loader_options, 2, run) || summary_of(run[1], &s))
		return false;
	o->step_ns = fed_step(s, &which);
	o->what = base_arena_printf(mem, "the %s step without its waits in %s", which,
				    view_file_name(run[1]));
	view_summary_free(s);
	if (o->step_ns)
		return true;
	view_error("%s: no steps are known of it; give their length with --step-ms", o->from);
	return false;
}

/*
 * ---- the command ------------------------------------------------------------------------------
 */

static void tick(void *arg)
{
	struct watch *w = arg;

	if (!w->seconds || (!w->passed && access(w->recording, F_OK)) || ++w->passed <= w->seconds)
		return;
	kill(w->child.pid, w->passed <= w->seconds + KILL_AFTER ? SIGTERM : SIGKILL);
}

static const char *preload(struct base_arena *mem, const char *libprof)
{
	const char *have = getenv("LD_PRELOAD");

	return have && have[0] ? base_arena_printf(mem, "%s:%s", have, libprof) : libprof;
}

/* 0 when it was run, whatever its status; what went wrong has been said. */
static int run_command(const struct opts *o, const char *dir, char *const *command,
		       struct base_arena *mem)
{
	char libprof[3072];
	struct watch w = { .seconds = o->seconds,
			   .recording = base_arena_printf(mem, "%s/" RUN ".gst", dir) };
	struct view_child_watch watch = { .tick = tick, .arg = &w };
	int err;

	if (!view_find_libprof(libprof, sizeof(libprof))) {
		view_error("%s: libprof.so is not there; set GPUSTARVE_LIB to its path", libprof);
		return -ENOENT;
	}
	view_preload_path(libprof, sizeof(libprof));
	const struct view_env env[] = {
		{ "GPUSTARVE", "1" },	    { "GPUSTARVE_LOADER", "1" },
		{ "GPUSTARVE_OUT", dir },   { "GPUSTARVE_RUN_ID", RUN },
		{ "GPUSTARVE_SOCKET", "" }, { "LD_PRELOAD", preload(mem, libprof) },
	};
	err = view_child_prepare(&w.child);
	if (!err)
		err = view_child_start(&w.child, command, env, sizeof(env) / sizeof(env[0]));
	if (err) {
		view_error("%s: cannot be started: %s", command[0], strerror(-err));
		return err;
	}
	if (!w.child.exec_errno)
		view_child_wait(&w.child, &watch);
	if (w.child.exec_errno) {
		view_error("%s: %s; check the name and PATH", command[0],
			   strerror(w.child.exec_errno));
		return -w.child.exec_errno;
	}
	if (view_child_status(&w.child) && !(o->seconds && w.passed > o->seconds))
		view_note("%s ended with status %d; what it had done until then is shown",
			  command[0], view_child_status(&w.child));
	return 0;
}

/*
 * ---- all of it --------------------------------------------------------------------------------
 */

static void say_nothing(const char *command)
{
	view_error(
		"%s: nothing was seen that makes batches: what is measured is torch's DataLoader, "
		"and Python queues that its threads or processes fill and its main thread "
		"empties; the program must take batches, and its Python must not leave out site's "
		"customisation (-I, -S, -E)",
		command);
}

static int show(const struct opts *o, const char *dir, const char *command, struct base_arena *mem)
{
	struct feed f;
	int err = feed_read(&f, base_arena_printf(mem, "%s/" RUN ".gst", dir));

	if (err == -ENODATA)
		say_nothing(command);
	else if (err)
		view_error("%s: %s; try again", dir, strerror(-err));
	else if (o->json)
		feed_json(&f, o->step_ns, stdout);
	else
		feed_text(&f, o->step_ns, o->what, stdout);
	feed_fini(&f);
	if (!err && (fflush(stdout) || ferror(stdout))) {
		view_error("standard output: %s; nothing more is written", strerror(errno));
		err = -EIO;
	}
	return err ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
}

static int measure(struct opts *o, char *const *command, struct base_arena *mem)
{
	const char *tmp = getenv("TMPDIR");
	char *dir =
		base_arena_printf(mem, "%s/gpustarve-loader-XXXXXX", tmp && tmp[0] ? tmp : "/tmp");
	int status = VIEW_EXIT_ERROR;

	if (!take_step(o, mem))
		return VIEW_EXIT_ERROR;
	if (!mkdtemp(dir)) {
		view_error("%s: %s; set TMPDIR to a folder you may write to", dir, strerror(errno));
		return VIEW_EXIT_ERROR;
	}
	if (!run_command(o, dir, command, mem))
		status = show(o, dir, command[0], mem);
	base_folder_remove(base_arena_printf(mem, "%s/" RUN ".gst", dir));
	base_folder_remove(dir);
	return status;
}

int view_cmd_loader(int argc, char **argv)
{
	struct opts o = { 0 };
	struct base_arena mem = { 0 };
	int go = base_options_parse(&view_loader_options, argc, argv, &o), status;

	if (go <= 0)
		return go ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
	if (optind >= argc) {
		view_error(
			"loader: no command; write gpustarve loader --step-ms 120 -- COMMAND...");
		return VIEW_EXIT_ERROR;
	}
	status = measure(&o, argv + optind, &mem);
	base_arena_fini(&mem);
	return status;
}
