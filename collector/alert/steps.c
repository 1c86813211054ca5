/* SPDX-License-Identifier: Apache-2.0 */
#include "steps.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "base/jsondoc.h"
#include "base/minmax.h"
#include "core/log.h"
#include "retain/run_dirs.h"

#define AT_STEP "200"
#define TIME_S 600
#define MEMORY (4ull << 30)
#define FILE_BYTES (64ull << 20)
#define OUTPUT_MAX (64u << 10)
#define DECIMALS 6
#define NUMBER_MAX INT64_C(100000000000) /* times ten, and a million, it is none that overflows */

enum answer { /* exit status of the child */
	PASS = 0,
	SLOWER = 2,
	WARN = 3,
	NOT_COMPARABLE = 4,
	NOT_YET = 5,
};

void coll_steps_init(struct coll_steps *s, struct coll_runs *runs, const struct coll_limits *limits,
		     struct coll_context *context)
{
	*s = (struct coll_steps){ .runs = runs, .limits = limits, .context = context };
	s->available = coll_child_beside(s->program, "gpustarve");
	if (!s->available)
		coll_log("--alert step_slower_pct: there is no gpustarve beside this program; "
			 "nobody looks at steps");
}

void coll_steps_fini(struct coll_steps *s)
{
	if (s->context)
		coll_children_forget(&s->context->children, s);
	free(s->dir);
	*s = (struct coll_steps){ 0 };
}

int64_t coll_steps_next_ns(int64_t due_ns, int64_t held_ns)
{
	due_ns = base_max(due_ns, COLL_SECOND_NS);
	do {
		if (due_ns > COLL_STEPS_NEVER / 2)
			return COLL_STEPS_NEVER;
		due_ns *= 2;
	} while (due_ns <= held_ns);
	return due_ns;
}

/* A number of the child's, as 0.341000, in millionths; what is none, or below, is 0. */
static int64_t ppm_of(const struct base_json *interval, const char *key)
{
	const struct base_json *number = base_json_get(interval, key);
	int64_t ppm = 0;
	int decimals = -1; /* no point yet */

	if (!number || number->type != BASE_JSON_NUMBER)
		return 0;
	for (const char *at = number->text; *at; at++) {
		if (*at == '.' && decimals < 0) {
			decimals = 0;
			continue;
		}
		if (*at < '0' || *at > '9' || ppm >= NUMBER_MAX || decimals == DECIMALS)
			return 0;
		ppm = ppm * 10 + *at - '0';
		decimals += decimals >= 0;
	}
	for (int i = base_max(decimals, 0); i < DECIMALS; i++)
		ppm *= 10;
	return ppm;
}

int64_t coll_steps_slower_ppm(const char *text, size_t len)
{
	static const char *const interval[] = { "whole", "typical", "loader_wait" };
	struct base_arena mem = { 0 };
	struct base_json_error err;
	const struct base_json *change =
		base_json_get(base_json_parse(&mem, text, len, &err), "change");
	int64_t most = 0;

	for (size_t i = 0; i < sizeof(interval) / sizeof(interval[0]); i++) {
		const struct base_json *one = base_json_get(change, interval[i]);

		if (ppm_of(one, "low") > 0)
			most = base_max(most, ppm_of(one, "value"));
	}
	base_arena_fini(&mem);
	return most;
}

/* Of each of its GPUs, on average; -1: it has none yet. */
static int64_t held_ns(const struct coll_run *run)
{
	return run->totals.gpus ? run->totals.held_ns / (int64_t)run->totals.gpus : -1;
}

static int64_t due_ns(const struct coll_steps *s, const struct coll_run *run)
{
	return run->steps_due_ns ? run->steps_due_ns
				 : (int64_t)s->limits->value[COLL_LIMIT_STEPS_AFTER];
}

static void again(const struct coll_steps *s, struct coll_run *run)
{
	run->steps_due_ns = coll_steps_next_ns(due_ns(s, run), held_ns(run));
}

static void take_answer(const struct coll_steps *s, struct coll_run *run,
			const struct coll_child_end *end)
{
	bool exited = !end->timed_out && WIFEXITED(end->status);
	char why[400];

	switch (exited ? WEXITSTATUS(end->status) : -1) {
	case SLOWER:
		run->step_slower_ppm = coll_steps_slower_ppm(end->output, end->output_len);
		run->steps_due_ns = COLL_STEPS_NEVER;
		break;
	case PASS:
	case WARN:
	case NOT_COMPARABLE:
		run->steps_due_ns = COLL_STEPS_NEVER;
		break;
	case NOT_YET:
		again(s, run);
		break;
	default:
		coll_child_why(end, why, sizeof(why));
		coll_note("steps of %s: %s; they are looked at again", run->id, why);
		again(s, run);
	}
}

static void looked(void *owner, const struct coll_child_end *end)
{
	struct coll_steps *s = owner;
	struct coll_run *run = coll_runs_find(s->runs, s->dir);

	if (run)
		take_answer(s, run, end);
	free(s->dir);
	s->dir = NULL;
}

/* Bytes of its trace, or negative errno. @folder: where it lies, with @name. */
static int64_t trace_bytes(const char *folder, const char *name)
{
	struct coll_run_dir dir;
	int err = coll_run_dir_read(&dir, folder, "", name);

	if (err)
		return err;
	err = dir.trace_bytes > INT64_MAX ? -EFBIG : 0;
	int64_t bytes = err ? err : (int64_t)dir.trace_bytes;
	coll_run_dir_fini(&dir);
	return bytes;
}

static int start(struct coll_steps *s, const char *folder)
{
	char kept[PATH_MAX + sizeof(COLL_STEPS_FOLDER)];
	const char *argv[] = { s->program,    "check", s->dir,	   "--at-step", AT_STEP,
			       "--baselines", kept,    "--format", "json",	NULL };
	struct coll_child_plan plan = {
		.argv = argv,
		.output_max = OUTPUT_MAX,
		.timeout_s = TIME_S,
		.memory = MEMORY,
		.file_bytes = FILE_BYTES,
	};

	snprintf(kept, sizeof(kept), "%s/" COLL_STEPS_FOLDER, folder);
	return coll_child_start(&s->context->children, &plan, looked, s);
}

static void look(struct coll_steps *s, struct coll_run *run)
{
	uint64_t most = s->limits->value[COLL_LIMIT_STEPS_SIZE];
	char folder[PATH_MAX];
	const char *slash = strrchr(run->dir, '/');
	int64_t bytes;

	run->steps_due_ns = due_ns(s, run);
	if (!slash || slash - run->dir >= PATH_MAX) {
		run->steps_due_ns = COLL_STEPS_NEVER;
		return;
	}
	snprintf(folder, sizeof(folder), "%.*s", (int)(slash - run->dir), run->dir);
	bytes = trace_bytes(folder, slash + 1);
	if (bytes < 0 || (most && (uint64_t)bytes > most)) {
		coll_note("steps of %s are not looked at: %s", run->id,
			  bytes < 0 ? strerror((int)-bytes) : "its trace is above steps-size");
		run->steps_due_ns = COLL_STEPS_NEVER;
		return;
	}
	s->dir = strdup(run->dir);
	if (s->dir && !start(s, folder))
		return;
	free(s->dir);
	s->dir = NULL;
	again(s, run);
}

void coll_steps_tick(struct coll_steps *s)
{
	struct coll_run *next = NULL;
	int64_t latest_ns = -1;

	if (!s->available || s->dir)
		return;
	for (struct coll_run *run = NULL; (run = coll_runs_next(s->runs, run));) {
		int64_t late_ns = held_ns(run) - due_ns(s, run);

		if (late_ns <= latest_ns)
			continue;
		latest_ns = late_ns;
		next = run;
	}
	if (next)
		look(s, next);
}
