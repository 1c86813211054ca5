/* SPDX-License-Identifier: Apache-2.0 */
#include "work_steps.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "base/files.h"

#define MEMORY (4ull << 30)
#define FILE_BYTES (16ull << 30)
#define OUTPUT_MAX 4096 /* of why a child failed */

enum step {
	SUMMARY,
	PAGE,
	DIGEST,
	FLUSH,
	STEPS
};

static const struct {
	enum coll_work_kind kind;
	const char *format, *file;
} steps[STEPS] = {
	/* The digest is made of a summary that is there: the trace is read once for both. */
	[SUMMARY] = { COLL_WORK_SUMMARY, "json", "summary.json" },
	[PAGE] = { COLL_WORK_REPORT, "html", "report.html" },
	[DIGEST] = { COLL_WORK_DIGEST, NULL, "digest.json" },
	/*
	 * A digest that a server did not take waits in a file of this machine's, where it is as
	 * safe as that is: a worker may never come back.
	 */
	[FLUSH] = { COLL_WORK_KINDS, NULL, NULL },
};

int coll_work_steps_init(struct coll_work_steps *s)
{
	return coll_child_beside(s->program, "gpustarve") ? 0 : -ENOENT;
}

static int first(const struct coll_work_steps *s)
{
	return s->reports ? SUMMARY : DIGEST;
}

static void end(struct coll_work_steps *s, enum coll_work_result result, const char *why)
{
	s->result = result;
	snprintf(s->why, sizeof(s->why), "%s", why);
	s->done(s);
}

static bool has_outbox(const struct coll_work_steps *s)
{
	static const char server[] = "clickhouse://";

	return s->to->store && !strncmp(s->to->store, server, sizeof(server) - 1);
}

static bool store_failed(const struct coll_work_steps *s, const struct coll_child_end *e)
{
	if (s->step == FLUSH)
		return true;
	return s->step == DIGEST && !e->timed_out && WIFEXITED(e->status) &&
	       WEXITSTATUS(e->status) == COLL_DIGEST_STORE_FAILED;
}

static void start_step(struct coll_work_steps *s);

static void step_done(void *owner, const struct coll_child_end *e)
{
	struct coll_work_steps *s = owner;
	char why[400];

	coll_child_why(e, why, sizeof(why));
	if (!coll_child_ok(e)) {
		end(s, store_failed(s, e) ? COLL_WORK_LET_GO : COLL_WORK_FAILED, why);
		return;
	}
	s->step++;
	if (s->step == FLUSH && !has_outbox(s))
		s->step++;
	if (s->step < STEPS)
		start_step(s);
	else
		end(s, COLL_WORK_MADE, "");
}

static size_t add_digest(const struct coll_work_steps *s, const char **argv, size_t n,
			 const char *revision)
{
	n = coll_child_option(argv, n, "--revision", revision);
	n = coll_child_option(argv, n, "--team", s->claim->place.team);
	n = coll_child_option(argv, n, "--store", s->to->store);
	for (size_t i = 0; i < s->to->budgets; i++)
		n = coll_child_option(argv, n, "--budget", s->to->budget[i]);
	return coll_child_option(argv, n, "--exec", s->to->exec);
}

static void start_child(struct coll_work_steps *s, const char *const *argv)
{
	struct coll_child_plan plan = {
		.argv = argv,
		.stderr_kept = true,
		.output_max = OUTPUT_MAX,
		.timeout_s = coll_digests_time_s(s->claim->look.bytes, s->claim->fails),
		.memory = MEMORY,
		.file_bytes = FILE_BYTES,
	};
	int err = coll_child_start(s->children, &plan, step_done, s);

	if (err)
		end(s, COLL_WORK_LET_GO, strerror(-err));
}

static void start_flush(struct coll_work_steps *s)
{
	const char *const argv[] = {
		s->program, "digest", "--flush", "--store", s->to->store, NULL
	};

	start_child(s, argv);
}

static void start_step(struct coll_work_steps *s)
{
	char out[PATH_MAX + 32], revision[32];
	const char *argv[16 + 2 * COLL_BUDGETS_MAX] = { s->program,
							s->step == DIGEST ? "digest" : "report",
							s->dir, "-o", out };

	if (s->step == FLUSH) {
		start_flush(s);
		return;
	}
	snprintf(out, sizeof(out), "%s/%s", s->dir, steps[s->step].file);
	snprintf(revision, sizeof(revision), "%" PRId64, s->claim->look.revision);
	if (s->step == DIGEST)
		add_digest(s, argv, 5, revision);
	else
		coll_child_option(argv, 5, "--format", steps[s->step].format);
	start_child(s, argv);
}

void coll_work_steps_start(struct coll_work_steps *s)
{
	s->step = first(s);
	start_step(s);
}

void coll_work_steps_stop(struct coll_work_steps *s)
{
	coll_children_forget(s->children, s);
}

static int put_result(const struct coll_work_steps *s, int step, struct coll_work_claim *c,
		      struct objects_trouble *t)
{
	char path[PATH_MAX + 32], *text;
	size_t len;
	int err;

	snprintf(path, sizeof(path), "%s/%s", s->dir, steps[step].file);
	err = base_file_read(path, &text, &len);
	if (err)
		return err;
	err = len > COLL_WORK_RESULT_MAX ? -EFBIG
					 : coll_work_put(c, steps[step].kind, text, len, t);
	free(text);
	return err;
}

/* The digest comes last: where it is, all is. */
int coll_work_steps_put(const struct coll_work_steps *s, struct coll_work_claim *c,
			struct objects_trouble *t)
{
	int err = 0;

	for (int step = first(s); step <= DIGEST && !err; step++)
		err = put_result(s, step, c, t);
	return err;
}
