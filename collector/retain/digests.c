/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list of runs that wait, and one child.
 */
#include "digests.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/files.h"
#include "core/log.h"
#include "remove_run.h"
#include "run_dirs.h"

#define TIMEOUT_S 900
#define MEMORY (4ull << 30)
#define FILE_BYTES (16ull << 30) /* a store in SQLite grows */
#define PAUSE_MIN_S 15
#define PAUSE_MAX_S 3600

void coll_digests_init(struct coll_digests *d, const char *base, const struct coll_digest_to *to,
		       const struct coll_limits *limits, struct coll_context *context)
{
	*d = (struct coll_digests){ .base = base, .to = to, .limits = limits, .context = context };
	d->available = coll_child_beside(d->program, "gpustarve");
	if (!d->available)
		coll_log("--store: there is no gpustarve beside this program; runs get no digest");
}

static void entry_free(struct coll_digests *d, struct coll_digest *e)
{
	struct coll_digest **p = &d->first;

	while (*p != e)
		p = &(*p)->next;
	*p = e->next;
	d->waiting--;
	if (d->running == e)
		d->running = NULL;
	free(e->team);
	free(e->run);
	free(e);
}

void coll_digests_fini(struct coll_digests *d)
{
	if (d->context)
		coll_children_forget(&d->context->children, d);
	while (d->first)
		entry_free(d, d->first);
}

void coll_digests_add(struct coll_digests *d, const char *team, const char *run)
{
	struct coll_digest *e = d->first;

	while (e && (strcmp(e->run, run) || strcmp(e->team, team)))
		e = e->next;
	if (e || d->waiting >= COLL_DIGESTS_MAX || !d->available || !coll_run_dir_name_ok(run))
		return;
	e = calloc(1, sizeof(*e));
	if (!e)
		return;
	e->team = strdup(team);
	e->run = strdup(run);
	e->next = d->first;
	d->first = e;
	d->waiting++;
	if (!e->team || !e->run)
		entry_free(d, e);
}

/* BASE/RUN.gst or BASE/TEAM/RUN.gst */
void coll_digests_closed(struct coll_digests *d, const char *dir)
{
	size_t len = strlen(d->base);
	const char *rest = dir + len + 1, *slash;
	char team[NAME_MAX + 1];

	if (strncmp(dir, d->base, len) || dir[len] != '/')
		return;
	slash = strchr(rest, '/');
	snprintf(team, sizeof(team), "%.*s", slash ? (int)(slash - rest) : 0, rest);
	coll_digests_add(d, team, slash ? slash + 1 : rest);
}

static void run_path(const struct coll_digests *d, const struct coll_digest *e, char *out,
		     size_t room, bool folder)
{
	snprintf(out, room, "%s%s%s%s%s", d->base, *e->team ? "/" : "", e->team, folder ? "" : "/",
		 folder ? "" : e->run);
}

/* The mark is as old as the last write that the child can have seen. */
static int mark(const struct coll_digests *d, const struct coll_digest *e)
{
	struct timespec times[2] = {
		{ .tv_nsec = UTIME_NOW },
		{ .tv_sec = d->trace_ns / COLL_SECOND_NS, .tv_nsec = d->trace_ns % COLL_SECOND_NS },
	};
	char path[PATH_MAX], file[PATH_MAX + sizeof(COLL_DIGEST_MARK)];
	int err;

	run_path(d, e, path, sizeof(path), false);
	err = coll_file_replace(path, COLL_DIGEST_MARK, "", 0);
	snprintf(file, sizeof(file), "%s/%s", path, COLL_DIGEST_MARK);
	if (!err && utimensat(AT_FDCWD, file, times, AT_SYMLINK_NOFOLLOW))
		err = -errno;
	return err;
}

/* Doubled each time, and a part of it by chance, so that many collectors do not come together. */
static int64_t pause_ns(const struct coll_digest *e)
{
	int64_t s = PAUSE_MIN_S;
	unsigned int i;

	for (i = 1; i < e->failures && s < PAUSE_MAX_S; i++)
		s *= 2;
	s = s < PAUSE_MAX_S ? s : PAUSE_MAX_S;
	return (s + random() % s) * COLL_SECOND_NS / 2;
}

static void failed(struct coll_digests *d, struct coll_digest *e, const char *why)
{
	d->context->count.digest_failures++;
	e->failures++;
	e->due_ns = coll_now_ns() + pause_ns(e);
	if (e->failures == 1)
		coll_log("digest of %s: %s; it is tried again", e->run, why);
	else
		coll_note("digest of %s, attempt %u: %s", e->run, e->failures, why);
}

static void digest_done(void *owner, const struct coll_child_end *end)
{
	struct coll_digests *d = owner;
	struct coll_digest *e = d->running;
	char why[400];
	int err;

	d->running = NULL;
	if (!coll_child_ok(end)) {
		coll_child_why(end, why, sizeof(why));
		failed(d, e, why);
		return;
	}
	err = mark(d, e);
	if (err && err != -ENOENT) {
		failed(d, e, strerror(-err));
		return;
	}
	d->context->count.digests++;
	entry_free(d, e);
}

/* Values of options that follow @n words: where there is one. */
static size_t add_option(const char **argv, size_t n, const char *option, const char *value)
{
	if (!value || !*value)
		return n;
	argv[n] = option;
	argv[n + 1] = value;
	return n + 2;
}

static void start(struct coll_digests *d, struct coll_digest *e)
{
	char path[PATH_MAX];
	const char *argv[10 + 2 * COLL_BUDGETS_MAX] = { d->program, "digest", path };
	size_t n = add_option(argv, 3, "--store", d->to->store);
	struct coll_child_plan plan = {
		.argv = argv,
		.stderr_kept = true,
		.output_max = 4096,
		.timeout_s = TIMEOUT_S,
		.memory = MEMORY,
		.file_bytes = FILE_BYTES,
	};
	int err;

	n = add_option(argv, n, "--team", e->team);
	for (size_t i = 0; i < d->to->budgets; i++)
		n = add_option(argv, n, "--budget", d->to->budget[i]);
	add_option(argv, n, "--exec", d->to->exec);
	run_path(d, e, path, sizeof(path), false);
	d->running = e;
	err = coll_child_start(&d->context->children, &plan, digest_done, d);
	if (!err)
		return;
	d->running = NULL;
	failed(d, e, strerror(-err));
}

static int64_t grace_ns(const struct coll_digests *d)
{
	return (int64_t)d->limits->value[COLL_LIMIT_DIGEST_AFTER];
}

enum state {
	GONE,
	NOT_YET,
	READY,
};

/* Whether the run has ended, to the best of our knowledge; *look says when it may have. */
static enum state state_of(struct coll_digests *d, const struct coll_digest *e, int64_t *wait_ns)
{
	char folder[PATH_MAX];
	struct coll_run_dir run;
	enum state state = READY;
	int64_t quiet_ns;
	int fd;

	run_path(d, e, folder, sizeof(folder), true);
	if (coll_run_dir_read(&run, folder, e->team, e->run))
		return GONE;
	quiet_ns = coll_clock_ns(CLOCK_REALTIME) - run.newest_ns;
	*wait_ns = grace_ns(d) - quiet_ns;
	d->trace_ns = run.newest_ns;
	if (!run.trace_bytes || run.digest_ns >= run.newest_ns)
		state = GONE;
	else if (*wait_ns > 0)
		state = NOT_YET;
	coll_run_dir_fini(&run);
	fd = state == READY ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (fd < 0)
		return state;
	if (coll_run_is_open(fd, e->run) > 0) {
		*wait_ns = grace_ns(d);
		state = NOT_YET;
	}
	close(fd);
	return state;
}

/* One look per tick: a look reads a directory. */
void coll_digests_tick(struct coll_digests *d, int64_t now_ns)
{
	struct coll_digest *e = d->first;
	int64_t wait_ns = 0;

	while (!d->running && e && e->due_ns > now_ns)
		e = e->next;
	if (d->running || !e)
		return;
	switch (state_of(d, e, &wait_ns)) {
	case GONE:
		entry_free(d, e);
		break;
	case NOT_YET:
		e->due_ns = now_ns + (wait_ns > COLL_SECOND_NS ? wait_ns : COLL_SECOND_NS);
		break;
	case READY:
		start(d, e);
		break;
	}
}
