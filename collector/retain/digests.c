/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue of runs that wait, and slots for children.
 */
#include "digests.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/files.h"
#include "core/log.h"
#include "digest_tries.h"
#include "job_dirs.h"
#include "remove_run.h"
#include "run_dirs.h"
#include "store/run_name.h"

#define TIME_S 900
#define TIME_BYTES (4ull << 20) /* of the trace: a second more for each */
#define TIME_DOUBLED_MAX 2
#define TIME_MAX_S (90 * 86400)
#define MEMORY (4ull << 30)
#define FILE_BYTES (16ull << 30) /* a store in SQLite grows */
#define ROW_AFTER_NS (30 * COLL_SECOND_NS) /* that the digest was due, and others had their turns */
#define LOOKS_MAX 256 /* each time; a look reads a directory */
#define LOOKS_NS (COLL_SECOND_NS / 50)
#define PARKED_LOG_NS (86400 * COLL_SECOND_NS)

void coll_digests_init(struct coll_digests *d, const char *base, const struct coll_digest_to *to,
		       const struct coll_limits *limits, struct coll_context *context)
{
	*d = (struct coll_digests){ .base = base, .to = to, .limits = limits, .context = context };
	for (size_t i = 0; i < COLL_DIGEST_SLOTS; i++)
		d->slot[i].digests = d;
	d->available = coll_child_beside(d->program, "gpustarve");
	if (!d->available)
		coll_log("--store: there is no gpustarve beside this program; runs get no digest");
}

void coll_digests_fini(struct coll_digests *d)
{
	for (size_t i = 0; d->context && i < COLL_DIGEST_SLOTS; i++)
		coll_children_forget(&d->context->children, &d->slot[i]);
	coll_digest_queue_fini(&d->queue);
}

static struct coll_digest *add(struct coll_digests *d, const char *team, const char *run)
{
	struct coll_digest *e = NULL;

	if (d->available)
		e = coll_digest_queue_add(&d->queue, team, run);
	if (e)
		e->due_ns = coll_now_ns();
	return e;
}

void coll_digests_add(struct coll_digests *d, const char *team, const char *run)
{
	if (coll_run_dir_name_ok(run) && !coll_job_dir_is(run))
		add(d, team, run);
}

void coll_digests_add_job(struct coll_digests *d, const char *team, const char *job,
			  uint64_t runs_bytes, int64_t runs_ns)
{
	struct coll_digest *e = coll_job_dir_is(job) ? add(d, team, job) : NULL;

	if (!e)
		return;
	e->runs_bytes = runs_bytes;
	e->runs_ns = runs_ns;
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

void coll_digests_found_parked(struct coll_digests *d, uint64_t runs)
{
	d->parked = runs;
	if (!runs || !coll_log_due(&d->parked_logged_ns, PARKED_LOG_NS))
		return;
	coll_log("%" PRIu64
		 " runs have no digest, because it failed %d times: a bill has what they held at "
		 "most; see Digests in docs/OPERATIONS.md",
		 runs, COLL_DIGEST_ATTEMPTS);
}

int coll_digests_time_s(uint64_t trace_bytes, unsigned int failures)
{
	uint64_t s = (TIME_S + trace_bytes / TIME_BYTES)
		     << (failures < TIME_DOUBLED_MAX ? failures : TIME_DOUBLED_MAX);

	return s < TIME_MAX_S ? (int)s : TIME_MAX_S;
}

static void team_path(const struct coll_digests *d, const struct coll_digest *e, char out[PATH_MAX])
{
	const char *team = e->team->name;

	snprintf(out, PATH_MAX, "%s%s%s", d->base, *team ? "/" : "", team);
}

static void run_path(const struct coll_digests *d, const struct coll_digest *e, char out[PATH_MAX])
{
	const char *team = e->team->name;

	snprintf(out, PATH_MAX, "%s%s%s/%s", d->base, *team ? "/" : "", team, e->run);
}

/* The mark is as old as the last write that the child can have seen. */
static int mark(const struct coll_digest *e, const char *path, const char *name, const char *text)
{
	struct timespec times[2] = {
		{ .tv_nsec = UTIME_NOW },
		{ .tv_sec = e->trace_ns / COLL_SECOND_NS, .tv_nsec = e->trace_ns % COLL_SECOND_NS },
	};
	char file[PATH_MAX + sizeof(COLL_DIGEST_ROW_MARK)];
	int err;

	_Static_assert(sizeof(COLL_DIGEST_ROW_MARK) >= sizeof(COLL_DIGEST_MARK), "room");
	err = coll_file_replace(path, name, text, strlen(text));
	snprintf(file, sizeof(file), "%s/%s", path, name);
	if (!err && utimensat(AT_FDCWD, file, times, AT_SYMLINK_NOFOLLOW))
		err = -errno;
	return err;
}

static void log_failure(const struct coll_digest *e, const char *why)
{
	const char *what = e->archives ? "archive" : "digest";

	if (e->failures == 1)
		coll_log("%s of %s: %s; it is tried again", what, e->run, why);
	else
		coll_note("%s of %s, attempt %u: %s", what, e->run, e->failures, why);
}

static void try_again(struct coll_digests *d, struct coll_digest *e, const char *why)
{
	if (e->archives)
		d->context->count.archive_failures++;
	else
		d->context->count.digest_failures++;
	e->failures++;
	e->due_ns = coll_now_ns() + coll_digest_pause_ns(e->failures);
	log_failure(e, why);
}

/* What the child has kept of its work. 0: nothing, or it cannot be asked. */
static uint64_t parts_bytes(const struct coll_digests *d, const struct coll_digest *e)
{
	char path[PATH_MAX], file[PATH_MAX + sizeof(COLL_DIGEST_PARTS)];
	struct stat st;

	run_path(d, e, path);
	snprintf(file, sizeof(file), "%s/" COLL_DIGEST_PARTS, path);
	return lstat(file, &st) ? 0 : (uint64_t)st.st_size;
}

static void remove_parts(const char *path)
{
	char file[PATH_MAX + sizeof(COLL_DIGEST_PARTS)];

	snprintf(file, sizeof(file), "%s/" COLL_DIGEST_PARTS, path);
	unlink(file);
}

static void park(struct coll_digests *d, struct coll_digest *e, const char *why)
{
	const char *team = e->team->name;
	char path[PATH_MAX];

	d->context->count.digests_parked++;
	d->parked++;
	run_path(d, e, path);
	remove_parts(path); /* of no use: it will be another trace or another version */
	coll_log("digest of %s%s%s failed %d times, and is not tried again until the run grows or "
		 "its " COLL_DIGEST_TRIES " is removed: a bill has what it held at most: %s",
		 team, *team ? "/" : "", e->run, COLL_DIGEST_ATTEMPTS, why);
	coll_digest_queue_remove(&d->queue, e);
}

/*
 * By the run's own fault, as far as one can tell: remembered in its directory. The next look asks
 * what that says, and whether there is a row until then.
 */
static void failed(struct coll_digests *d, struct coll_digest *e, const char *why)
{
	struct coll_digest_tries tries = { .attempts = ++e->attempts };
	int64_t now = coll_now_ns();
	char path[PATH_MAX];
	int err;

	try_again(d, e, why);
	tries.next_ns = coll_clock_ns(CLOCK_REALTIME) + e->due_ns - now;
	snprintf(tries.error, sizeof(tries.error), "%s", why);
	run_path(d, e, path);
	err = coll_digest_tries_write(&tries, path, e->trace_ns);
	if (err)
		coll_note("%s/" COLL_DIGEST_TRIES ": %s", path, strerror(-err));
	else if (!e->has_row)
		e->due_ns = now;
	if (coll_digest_tries_parked(&tries))
		park(d, e, why);
}

static bool store_failed(const struct coll_child_end *end)
{
	return !end->timed_out && WIFEXITED(end->status) &&
	       WEXITSTATUS(end->status) == COLL_DIGEST_STORE_FAILED;
}

/* Ended in the midst of its work, and there is more of that than before: as often as it takes. */
static bool got_on(const struct coll_digests *d, const struct coll_digest *e,
		   const struct coll_child_end *end)
{
	return (end->timed_out || WIFSIGNALED(end->status)) && parts_bytes(d, e) > e->parts_bytes;
}

static void digest_made(struct coll_digests *d, struct coll_digest *e)
{
	char path[PATH_MAX];
	int err;

	run_path(d, e, path);
	err = mark(e, path, COLL_DIGEST_MARK, "");
	if (err && err != -ENOENT) {
		try_again(d, e, strerror(-err));
		return;
	}
	coll_digest_tries_remove(path);
	remove_parts(path);
	d->context->count.digests++;
	coll_digest_queue_remove(&d->queue, e);
}

/*
 * Either there is a row now, or none can be made of this trace, which the digest will not do
 * better. A store that is away has the row tried again, before all else.
 */
static void row_done(struct coll_digests *d, struct coll_digest *e,
		     const struct coll_child_end *end, const char *why)
{
	char path[PATH_MAX];
	int err;

	if (store_failed(end)) {
		try_again(d, e, why);
		return;
	}
	if (coll_child_ok(end))
		d->context->count.digest_rows++;
	else
		coll_note("provisional row of %s: %s", e->run, why);
	run_path(d, e, path);
	err = mark(e, path, COLL_DIGEST_ROW_MARK, coll_child_ok(end) ? "" : "none\n");
	if (err && err != -ENOENT)
		try_again(d, e, strerror(-err));
	else
		e->due_ns = coll_now_ns();
}

static bool is_for_large(const struct coll_digest_slot *s)
{
	return s == &s->digests->slot[0];
}

/* The slot's run, which is there no longer. */
static struct coll_digest *leave(struct coll_digest_slot *s)
{
	struct coll_digest *e = s->run;

	s->run = NULL;
	e->running = false;
	if (!is_for_large(s))
		e->team->running--;
	return e;
}

static void start_archive(struct coll_digests *d, struct coll_digest_slot *slot,
			  struct coll_digest *e);

/* The slot is its own still, for the copy. */
static void digest_in(struct coll_digest_slot *s, struct coll_digest *e)
{
	struct coll_digests *d = s->digests;

	if (!d->to->archive || coll_job_dir_is(e->run)) {
		digest_made(d, e);
		return;
	}
	e->stored_ns = e->trace_ns;
	start_archive(d, s, e);
}

static void archive_done(struct coll_digests *d, struct coll_digest *e,
			 const struct coll_child_end *end, const char *why)
{
	if (coll_child_ok(end)) {
		e->archives = false;
		d->context->count.archived++;
		digest_made(d, e);
		return;
	}
	try_again(d, e, why);
	e->archives = false;
}

static void digest_done(void *owner, const struct coll_child_end *end)
{
	struct coll_digest_slot *s = owner;
	struct coll_digests *d = s->digests;
	struct coll_digest *e = leave(s);
	char why[400];

	char path[PATH_MAX];

	run_path(d, e, path);
	coll_child_why(end, why, sizeof(why));
	if (e->archives)
		archive_done(d, e, end, why);
	else if (e->wants_row)
		row_done(d, e, end, why);
	else if (coll_child_ok(end))
		digest_in(s, e);
	else if (store_failed(end) || got_on(d, e, end))
		try_again(d, e, why);
	else
		failed(d, e, why);
	coll_run_index_touch(d->index, path);
	coll_digests_tick(d, coll_now_ns()); /* the next one need not wait for the clock */
}

/* Takes the slot for a child; without one the run is tried again. */
static void start_child(struct coll_digests *d, struct coll_digest_slot *slot,
			struct coll_digest *e, const struct coll_child_plan *plan)
{
	int err;

	slot->run = e;
	e->running = true;
	if (!is_for_large(slot))
		e->team->running++;
	err = coll_child_start(&d->context->children, plan, digest_done, slot);
	if (!err)
		return;
	leave(slot);
	try_again(d, e, strerror(-err));
	e->archives = false;
}

static void start_archive(struct coll_digests *d, struct coll_digest_slot *slot,
			  struct coll_digest *e)
{
	const char *team = e->team->name;
	char path[PATH_MAX], to[PATH_MAX];
	const char *argv[] = { d->program, "put", path, to, NULL };
	struct coll_child_plan plan = {
		.argv = argv,
		.stderr_kept = true,
		.output_max = 4096,
		.timeout_s = coll_digests_time_s(e->trace_bytes, e->failures),
		.memory = MEMORY,
	};

	run_path(d, e, path);
	snprintf(to, sizeof(to), "%s%s%s", d->to->archive, *team ? "/" : "", team);
	e->archives = true;
	start_child(d, slot, e, &plan);
}

static void start_digest(struct coll_digests *d, struct coll_digest_slot *slot,
			 struct coll_digest *e)
{
	char path[PATH_MAX];
	const char *argv[11 + 2 * COLL_BUDGETS_MAX] = { d->program, "digest", path };
	size_t n = coll_child_option(argv, 3, "--store", d->to->store);
	struct coll_child_plan plan = {
		.argv = argv,
		.stderr_kept = true,
		.output_max = 4096,
		.timeout_s =
			e->wants_row ? TIME_S : coll_digests_time_s(e->trace_bytes, e->failures),
		.memory = MEMORY,
		.file_bytes = FILE_BYTES,
	};

	n = coll_child_option(argv, n, "--team", e->team->name);
	for (size_t i = 0; i < d->to->budgets; i++)
		n = coll_child_option(argv, n, "--budget", d->to->budget[i]);
	n = coll_child_option(argv, n, "--exec", d->to->exec);
	if (e->wants_row)
		argv[n] = "--provisional";
	else if (e->trace_bytes >= COLL_DIGEST_LONG && !coll_job_dir_is(e->run))
		argv[n] = "--resume";
	e->parts_bytes = parts_bytes(d, e);
	run_path(d, e, path);
	start_child(d, slot, e, &plan);
}

static void start(struct coll_digests *d, struct coll_digest_slot *slot, struct coll_digest *e)
{
	if (e->stored_ns && e->stored_ns == e->trace_ns)
		start_archive(d, slot, e);
	else
		start_digest(d, slot, e);
}

/* A free one for such a run. NULL: none. */
static struct coll_digest_slot *slot_for(struct coll_digests *d, const struct coll_digest *e)
{
	bool large = e->size == COLL_DIGEST_LARGE && !e->wants_row;
	size_t i = large ? 0 : 1, end = large ? 1 : COLL_DIGEST_SLOTS;

	if (!large && e->team->running >= COLL_DIGEST_SLOTS_TEAM)
		return NULL;
	for (; i < end; i++)
		if (!d->slot[i].run)
			return &d->slot[i];
	return NULL;
}

/* Of one that was not looked at yet: whether there is a slot for either kind. */
static bool fits(const void *arg, const struct coll_digest *e)
{
	const struct coll_digests *d = arg;
	bool large = !d->slot[0].run, small = false;

	for (size_t i = 1; i < COLL_DIGEST_SLOTS; i++)
		small |= !d->slot[i].run;
	small = small && e->team->running < COLL_DIGEST_SLOTS_TEAM;
	if (e->wants_row)
		return small;
	return (large && e->size != COLL_DIGEST_SMALL) || (small && e->size != COLL_DIGEST_LARGE);
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

/* What its directory remembers of it, and whether somebody writes to it. */
static enum state ask_directory(const struct coll_digests *d, struct coll_digest *e,
				const char *folder, int64_t *wait_ns)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), run_fd = -1;
	enum state state = READY;
	struct coll_digest_tries tries;

	if (fd >= 0)
		run_fd = openat(fd, e->run, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (run_fd < 0)
		goto out;
	coll_digest_tries_read(&tries, run_fd, e->trace_ns);
	*wait_ns = coll_digest_tries_wait_ns(&tries, coll_clock_ns(CLOCK_REALTIME));
	e->attempts = tries.attempts;
	if (e->failures < e->attempts)
		e->failures = e->attempts;
	e->wants_row = !e->has_row && (e->trace_bytes >= COLL_DIGEST_LONG || e->attempts ||
				       coll_now_ns() - e->due_ns > ROW_AFTER_NS);
	if (coll_digest_tries_parked(&tries) && !e->wants_row)
		state = GONE;
	else if (*wait_ns > 0 && !e->wants_row)
		state = NOT_YET;
	if (state == READY && coll_run_is_open(fd, e->run) > 0) {
		*wait_ns = grace_ns(d);
		state = NOT_YET;
	}
	close(run_fd);
out:
	if (fd >= 0)
		close(fd);
	return run_fd < 0 ? GONE : state;
}

/* Of a job: what its runs have, too. They have their own provisional rows. */
static void add_runs(struct coll_run_dir *job, const struct coll_digest *e)
{
	job->trace_bytes += job->trace_bytes ? e->runs_bytes : 0;
	if (job->newest_ns < e->runs_ns)
		job->newest_ns = e->runs_ns;
	job->row_ns = job->newest_ns;
}

/* Whether the run has ended, to the best of our knowledge; *wait_ns says when it may have. */
static enum state state_of(const struct coll_digests *d, struct coll_digest *e, int64_t *wait_ns)
{
	char folder[PATH_MAX];
	struct coll_run_dir run;
	enum state state = READY;
	int64_t quiet_ns;

	team_path(d, e, folder);
	if (coll_run_dir_read(&run, folder, e->team->name, e->run))
		return GONE;
	if (run.job)
		add_runs(&run, e);
	quiet_ns = coll_clock_ns(CLOCK_REALTIME) - run.newest_ns;
	*wait_ns = grace_ns(d) - quiet_ns;
	e->trace_ns = run.newest_ns;
	e->trace_bytes = run.trace_bytes;
	e->has_row = run.row_ns >= run.newest_ns;
	e->size = run.trace_bytes < COLL_DIGEST_LARGE ? COLL_DIGEST_SMALL : COLL_DIGEST_LARGE;
	if (!run.trace_bytes || run.digest_ns >= run.newest_ns ||
	    (run.goes_on && quiet_ns < COLL_JOB_LOST_S * COLL_SECOND_NS))
		state = GONE;
	else if (*wait_ns > 0)
		state = NOT_YET;
	coll_run_dir_fini(&run);
	return state == READY ? ask_directory(d, e, folder, wait_ns) : state;
}

static void look(struct coll_digests *d, struct coll_digest *e, int64_t now_ns)
{
	struct coll_digest_slot *slot;
	int64_t wait_ns = 0;

	switch (state_of(d, e, &wait_ns)) {
	case GONE:
		coll_digest_queue_remove(&d->queue, e);
		break;
	case NOT_YET:
		e->due_ns = now_ns + (wait_ns > COLL_SECOND_NS ? wait_ns : COLL_SECOND_NS);
		break;
	case READY:
		slot = slot_for(d, e);
		if (slot)
			start(d, slot, e);
		break;
	}
}

void coll_digests_tick(struct coll_digests *d, int64_t now_ns)
{
	int64_t until_ns = coll_now_ns() + LOOKS_NS;
	struct coll_digest *e;

	for (int i = 0; i < LOOKS_MAX && coll_now_ns() < until_ns; i++) {
		e = coll_digest_queue_next(&d->queue, now_ns, fits, d);
		if (!e)
			return;
		look(d, e, now_ns);
	}
}
