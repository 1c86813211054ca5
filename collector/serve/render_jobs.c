/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list of jobs, each with the requests that wait for it.
 */
#include "render_jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/log.h"

#define RUNNING_MAX 3
#define RUNNING_TEAM_MAX 2
#define MEMORY (4ull << 30)
#define OUTPUT_MAX 4096 /* of why it failed */
#define FRESH_NS (30 * COLL_SECOND_NS) /* of a run that goes on */
#define POLICY_BYTES 1024
#define NAME_BYTES 80

struct waiter {
	struct coll_http_request *request;
	struct waiter *next;
};

struct coll_render_job {
	struct coll_render_jobs *jobs;
	struct coll_render_job *next;
	struct waiter *waiters;
	const struct coll_team *team; /* who asks; NULL: nobody's */
	char *key;
	const char *type; /* a constant */
	bool page, running;
	char *argv[COLL_RENDER_ARGS + 4];
	int (*work)(void *arg);
	void *arg;
	char *file, *tmp; /* NULL: what it says is the answer */
	int64_t as_of_ns;
};

void coll_render_jobs_init(struct coll_render_jobs *m, const struct coll_limits *limits,
			   struct coll_context *context)
{
	*m = (struct coll_render_jobs){ .limits = limits, .context = context };
	m->available = coll_child_beside(m->program, "gpustarve");
}

static void job_free(struct coll_render_job *j)
{
	struct coll_render_job **p = &j->jobs->jobs;

	while (*p && *p != j)
		p = &(*p)->next;
	if (*p) {
		*p = j->next;
		j->jobs->waiting -= !j->running;
		j->jobs->running -= j->running;
	}
	while (j->waiters) {
		struct waiter *w = j->waiters;

		j->waiters = w->next;
		free(w);
	}
	for (size_t i = 0; i < sizeof(j->argv) / sizeof(j->argv[0]); i++)
		free(j->argv[i]);
	free(j->key);
	free(j->arg);
	free(j->file);
	free(j->tmp);
	free(j);
}

void coll_render_jobs_fini(struct coll_render_jobs *m)
{
	while (m->jobs) {
		coll_children_forget(&m->context->children, m->jobs);
		job_free(m->jobs);
	}
}

/* The policy of a page out of its beginning. Without a good one it is shown without scripts. */
static void set_policy(struct coll_http_request *r, const char *page, size_t len)
{
	char policy[POLICY_BYTES];

	if (coll_page_policy(page, len, policy, sizeof(policy)))
		coll_http_header(r, "Content-Security-Policy", policy);
}

static int answer_file(struct coll_http_request *r, const struct coll_render_job *j)
{
	int fd = open(j->file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	char begin[8192];
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return -EINVAL;
	}
	n = j->page ? pread(fd, begin, sizeof(begin), 0) : 0;
	if (n > 0)
		set_policy(r, begin, (size_t)n);
	coll_http_answer_fd(r, 200, j->type, fd, (uint64_t)st.st_size);
	return 0;
}

static void answer_one(struct coll_http_request *r, const struct coll_render_job *j,
		       const struct coll_child_end *end)
{
	if (j->file) {
		if (answer_file(r, j))
			coll_http_text(r, 503, "it was removed meanwhile\n");
		return;
	}
	if (j->page)
		set_policy(r, end->output, end->output_len);
	coll_http_answer(r, 200, j->type, end->output, end->output_len);
}

/* Its time becomes that of what it is made of. */
static int publish_file(const struct coll_render_job *j)
{
	struct timespec times[2] = {
		{ .tv_nsec = UTIME_NOW },
		{ .tv_sec = j->as_of_ns / COLL_SECOND_NS, .tv_nsec = j->as_of_ns % COLL_SECOND_NS },
	};

	if (!j->file)
		return 0;
	if (utimensat(AT_FDCWD, j->tmp, times, AT_SYMLINK_NOFOLLOW) || rename(j->tmp, j->file))
		return -errno;
	return 0;
}

/* What the program says may name paths and what is in a trace: for the log, not for who asks. */
static void refuse_all(struct coll_render_job *j, const char *why)
{
	struct waiter *w;

	j->jobs->context->count.children_failed++;
	coll_log("cannot make %s: %s", j->key, why);
	for (w = j->waiters; w; w = w->next)
		coll_http_text(w->request, 500,
			       "it could not be made; the collector's log says why\n");
}

static void start_next(struct coll_render_jobs *m);

static void job_done(void *owner, const struct coll_child_end *end)
{
	struct coll_render_job *j = owner;
	struct coll_render_jobs *m = j->jobs;
	char why[400];
	struct waiter *w;
	int err = 0;

	if (!coll_child_ok(end) || (!j->file && end->output_cut)) {
		coll_child_why(end, why, sizeof(why));
		refuse_all(j, why);
	} else if ((err = publish_file(j))) {
		refuse_all(j, strerror(-err));
	} else {
		for (w = j->waiters; w; w = w->next)
			answer_one(w->request, j, end);
	}
	if (j->tmp)
		unlink(j->tmp);
	job_free(j);
	start_next(m);
}

static int start(struct coll_render_job *j)
{
	struct coll_child_plan plan = {
		.argv = j->work ? NULL : (const char *const *)j->argv,
		.work = j->work,
		.arg = j->arg,
		.stderr_kept = j->file != NULL,
		.output_max = j->file ? OUTPUT_MAX : COLL_RENDER_OUTPUT_MAX,
		.timeout_s = COLL_RENDER_TIMEOUT_S,
		.memory = MEMORY,
		.file_bytes = COLL_RENDER_FILE_MAX,
	};
	int err = coll_child_start(&j->jobs->context->children, &plan, job_done, j);

	if (err)
		return err;
	j->running = true;
	j->jobs->waiting--;
	j->jobs->running++;
	return 0;
}

static size_t jobs_of(const struct coll_render_jobs *m, const struct coll_team *team, bool running)
{
	size_t n = 0;

	for (const struct coll_render_job *j = m->jobs; j; j = j->next)
		n += j->team == team && j->running == running;
	return n;
}

/* Of the team that has the fewest running, who asked first. NULL: nobody may. */
static struct coll_render_job *next_job(const struct coll_render_jobs *m)
{
	struct coll_render_job *best = NULL;
	size_t least = RUNNING_TEAM_MAX;

	for (struct coll_render_job *j = m->jobs; j; j = j->next) {
		size_t running = j->running ? least : jobs_of(m, j->team, true);

		if (running >= least)
			continue;
		best = j;
		least = running;
	}
	return best;
}

static void start_next(struct coll_render_jobs *m)
{
	struct coll_render_job *j;
	int err;

	while (m->running < RUNNING_MAX && (j = next_job(m))) {
		err = start(j);
		if (!err)
			continue;
		refuse_all(j, strerror(-err));
		job_free(j);
	}
}

/* What lies there is new enough. */
static bool fresh(const struct coll_render_job *j, const struct coll_render *what)
{
	int64_t now = coll_clock_ns(CLOCK_REALTIME), made, as_of;
	struct stat st;

	if (lstat(j->file, &st) || !S_ISREG(st.st_mode))
		return false;
	made = coll_timespec_ns(st.st_ctim);
	as_of = coll_timespec_ns(st.st_mtim);
	if (what->as_of_ns && as_of >= what->as_of_ns)
		return true;
	return made <= now && now - made < (what->good_for_ns ? what->good_for_ns : FRESH_NS);
}

static bool fill_argv(struct coll_render_job *j, const struct coll_render *what)
{
	size_t n = 0, i;

	j->argv[n++] = strdup(j->jobs->program);
	for (i = 0; what->argv[i]; i++)
		j->argv[n++] = strdup(what->argv[i]);
	j->argv[n++] = strdup("-o");
	j->argv[n++] = strdup(j->tmp);
	for (i = 0; i < n; i++)
		if (!j->argv[i])
			return false;
	return true;
}

static bool describe_job(struct coll_render_job *j, const struct coll_render *what)
{
	j->type = what->type;
	j->page = what->page;
	j->work = what->work;
	j->as_of_ns = what->as_of_ns;
	if (what->work) {
		j->key = strdup(what->key);
		j->arg = malloc(what->arg_bytes + 1);
		if (j->arg)
			memcpy(j->arg, what->arg, what->arg_bytes);
		return j->key && j->arg;
	}
	if (asprintf(&j->file, "%s/.%s", what->dir, what->name) < 0)
		j->file = NULL;
	if (!j->file || asprintf(&j->tmp, "%s.tmp", j->file) < 0)
		j->tmp = NULL;
	j->key = j->file ? strdup(j->file) : NULL;
	return j->key && j->tmp && fill_argv(j, what);
}

static struct coll_render_job *same(const struct coll_render_jobs *m,
				    const struct coll_render_job *job)
{
	struct coll_render_job *j = m->jobs;

	while (j && strcmp(j->key, job->key))
		j = j->next;
	return j;
}

static void append(struct coll_render_jobs *m, struct coll_render_job *j)
{
	struct coll_render_job **p = &m->jobs;

	while (*p)
		p = &(*p)->next;
	*p = j;
	m->waiting++;
}

static bool wait_for(struct coll_render_job *j, struct coll_http_request *r)
{
	struct waiter *w = malloc(sizeof(*w));

	if (!w)
		return false;
	*w = (struct waiter){ .request = r, .next = j->waiters };
	j->waiters = w;
	return true;
}

static void busy(struct coll_http_request *r, const char *why)
{
	coll_http_header(r, "Retry-After", "10");
	coll_http_text(r, 503, "%s\n", why);
}

static bool too_many(const struct coll_render_jobs *m, const struct coll_render_job *j)
{
	uint64_t limit = m->limits->value[COLL_LIMIT_REPORTS];

	return limit && (m->waiting >= limit || jobs_of(m, j->team, false) >= limit - limit / 4);
}

/* Takes @j. */
static void enqueue(struct coll_render_jobs *m, struct coll_http_request *r,
		    struct coll_render_job *j)
{
	struct coll_render_job *have = same(m, j);

	if (have || too_many(m, j)) {
		job_free(j);
		if (!have || !wait_for(have, r))
			busy(r, "too many wait already");
		return;
	}
	if (!wait_for(j, r)) {
		job_free(j);
		busy(r, "out of memory");
		return;
	}
	append(m, j);
	start_next(m);
}

void coll_render_jobs_ask(struct coll_render_jobs *m, struct coll_http_request *r,
			  const struct coll_render *what)
{
	struct coll_render_job *j = calloc(1, sizeof(*j));

	if (j)
		*j = (struct coll_render_job){ .jobs = m, .team = r->team };
	if (!j || !describe_job(j, what)) {
		if (j)
			job_free(j);
		busy(r, "out of memory");
	} else if (j->file && fresh(j, what) && !answer_file(r, j)) {
		job_free(j);
	} else if (!what->work && !m->available) {
		job_free(j);
		coll_http_text(r, 501, "there is no gpustarve beside the collector\n");
	} else {
		enqueue(m, r, j);
	}
}

/* A job that runs goes on: what it makes is good for the next who asks. */
void coll_render_jobs_gone(struct coll_http_request *r)
{
	struct coll_render_jobs *m = r->parts->render;
	struct coll_render_job *j, *next;
	struct waiter **p, *w;

	for (j = m->jobs; j; j = next) {
		next = j->next;
		for (p = &j->waiters; (w = *p);) {
			if (w->request != r) {
				p = &w->next;
				continue;
			}
			*p = w->next;
			free(w);
		}
		if (!j->waiters && !j->running)
			job_free(j);
	}
}
