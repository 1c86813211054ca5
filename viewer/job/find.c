/* SPDX-License-Identifier: Apache-2.0 */
#include "find.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/confine.h"
#include "folder.h"
#include "peek.h"

struct look { /* through one folder */
	struct view_jobs *jobs;
	const char *out;
	int64_t only; /* -1: any job */
	enum view_job_depth depth;
};

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n > m && !strcmp(text + n - m, end);
}

/* Digits in front of @end, in [from, end); -1: none, or more than a job's number has. */
static int64_t digits_before(const char *from, const char *end, const char **at)
{
	const char *p = end;
	int64_t v = 0;

	while (p > from && p[-1] >= '0' && p[-1] <= '9' && end - p < 10)
		p--;
	*at = p;
	if (p == end)
		return -1;
	for (; p < end; p++)
		v = v * 10 + (*p - '0');
	return v > VIEW_JOB_NUMBER_MAX ? -1 : v;
}

/* "<cluster>-<job>.job" */
static bool from_folder_name(struct base_arena *mem, const char *name, struct view_job_identity *id)
{
	const char *end = name + strlen(name) - 4, *at;
	int64_t job;

	if (!ends_with(name, ".job"))
		return false;
	job = digits_before(name, end, &at);
	if (job < 0 || at - name < 2 || at[-1] != '-')
		return false;
	*id = VIEW_JOB_NONE;
	id->number[VIEW_JOB_ID] = job;
	id->text[VIEW_JOB_CLUSTER] = base_arena_copy(mem, name, (size_t)(at - 1 - name));
	return true;
}

/* "<restart>" at the end of [from, *end), or "<restart>-<n>" of a step's n-th command; -1: neither. */
static int64_t take_restart(const char *from, const char **end)
{
	const char *at, *before;
	int64_t restart = digits_before(from, *end, &at), earlier;

	if (restart < 0 || at - from < 2 || at[-1] != '-')
		return -1;
	*end = at - 1;
	earlier = digits_before(from, *end, &before);
	if (earlier < 0 || before - from < 2 || before[-1] != '-')
		return restart;
	*end = before - 1;
	return earlier;
}

/* "slurm-<cluster>-<job>.<step>-<restart>.gst", of a step's second command "...-<restart>-2.gst" */
static bool from_run_name(struct base_arena *mem, const char *name, struct view_job_identity *id)
{
	const char *end = name + strlen(name) - 4, *at;
	int64_t restart, step, job;

	if (strncmp(name, "slurm-", 6) != 0 || !ends_with(name, ".gst"))
		return false;
	restart = take_restart(name, &end);
	step = restart < 0 ? -1 : digits_before(name, end, &at);
	if (step < 0 || at - name < 2 || at[-1] != '.')
		return false;
	end = at - 1;
	job = digits_before(name, end, &at);
	if (job < 0 || at - name < 8 || at[-1] != '-')
		return false;
	*id = VIEW_JOB_NONE;
	id->number[VIEW_JOB_ID] = job;
	id->number[VIEW_JOB_RESTART] = restart;
	id->text[VIEW_JOB_CLUSTER] = base_arena_copy(mem, name + 6, (size_t)(at - 1 - name - 6));
	return true;
}

/* As paths have it. */
static void safe_cluster(struct base_arena *mem, struct view_job_identity *id)
{
	const char *cluster = id->text[VIEW_JOB_CLUSTER];

	id->text[VIEW_JOB_CLUSTER] = view_job_safe(mem, cluster ? cluster : "cluster");
}

static void *grown(void *p, size_t *room, size_t n, size_t each, struct base_arena *mem)
{
	void *more;

	if (n < *room)
		return p;
	*room = *room ? *room * 2 : 4;
	more = base_arena_array(mem, *room, each);
	if (n)
		memcpy(more, p, n * each);
	return more;
}

static struct view_job *job_of(struct view_jobs *j, const struct view_job_identity *id)
{
	struct view_job *job;

	for (size_t i = j->jobs; i-- > 0;) {
		job = &j->job[i];
		if (job->id.number[VIEW_JOB_ID] == id->number[VIEW_JOB_ID] &&
		    !strcmp(job->id.text[VIEW_JOB_CLUSTER], id->text[VIEW_JOB_CLUSTER]))
			return job;
	}
	j->job = grown(j->job, &j->job_room, j->jobs, sizeof(*j->job), &j->mem);
	job = &j->job[j->jobs++];
	*job = (struct view_job){ .id = VIEW_JOB_NONE };
	return job;
}

static void note(struct view_jobs *j, struct view_job *job, const char *text)
{
	job->note = grown(job->note, &job->note_room, job->notes, sizeof(*job->note), &j->mem);
	job->note[job->notes++] = text;
}

static void add_path(struct view_jobs *j, struct view_job *job, const char *path)
{
	if (job->runs == VIEW_JOB_RUNS_MAX) {
		note(j, job, "it has more runs than can be joined: some are left out");
		return;
	}
	job->run = grown(job->run, &job->run_room, job->runs, sizeof(*job->run), &j->mem);
	job->run[job->runs++] = path;
}

static void add_run(struct look *l, const char *name, const struct view_job_identity *id,
		    bool named)
{
	struct view_jobs *j = l->jobs;
	struct view_job *job = job_of(j, id);

	view_job_add(&job->id, id);
	job->id.text[VIEW_JOB_STEP] = NULL;
	job->unnamed = !named && (job->unnamed || !job->runs);
	add_path(j, job, base_arena_printf(&j->mem, "%s/%s", l->out, name));
}

/* The only other job of its number that a node told of; NULL: there is none, or several. */
static struct view_job *named_like(struct view_jobs *j, const struct view_job *job)
{
	struct view_job *like = NULL;

	for (size_t i = 0; i < j->jobs; i++) {
		struct view_job *o = &j->job[i];

		if (o == job || !o->folder ||
		    o->id.number[VIEW_JOB_ID] != job->id.number[VIEW_JOB_ID])
			continue;
		if (like)
			return NULL;
		like = o;
	}
	return like;
}

/* A run that knows its job's number alone (cgroup.h) is of the job that has it. */
static void join_unnamed(struct view_jobs *j)
{
	size_t kept = 0;

	for (size_t i = 0; i < j->jobs; i++) {
		struct view_job *job = &j->job[i], *like;

		like = job->unnamed && !job->folder ? named_like(j, job) : NULL;
		for (size_t k = 0; like && k < job->runs; k++)
			add_path(j, like, job->run[k]);
		job->runs = like ? 0 : job->runs;
	}
	for (size_t i = 0; i < j->jobs; i++)
		if (j->job[i].runs || j->job[i].folder)
			j->job[kept++] = j->job[i];
	j->jobs = kept;
}

static bool wanted(const struct look *l, const struct view_job_identity *id)
{
	return view_job_known(id) && (l->only < 0 || id->number[VIEW_JOB_ID] == l->only);
}

/* The name tells enough for most questions; of the others its run.json, then its Hello. */
static void look_at_run(struct look *l, const char *name)
{
	struct view_job_identity id = VIEW_JOB_NONE, more = VIEW_JOB_NONE;
	struct base_arena scratch = { 0 };
	bool named = from_run_name(&scratch, name, &id);
	const char *path;

	if (!named || (l->depth == VIEW_JOB_THOROUGH && wanted(l, &id))) {
		path = base_arena_printf(&scratch, "%s/%s", l->out, name);
		if (!view_peek_record(path, &scratch, &more) && l->depth == VIEW_JOB_THOROUGH)
			view_peek_hello(path, &scratch, &more);
	}
	/* A run whose id was given may hold what several jobs did; its name is then another. */
	if (!named)
		id = more;
	else if (more.number[VIEW_JOB_ID] == id.number[VIEW_JOB_ID])
		view_job_add(&id, &more);
	if (wanted(l, &id)) {
		const bool cluster = id.text[VIEW_JOB_CLUSTER] != NULL;

		safe_cluster(&scratch, &id);
		view_job_keep(&id, &l->jobs->mem);
		add_run(l, name, &id, cluster);
	}
	base_arena_fini(&scratch);
}

static void look_at_folder(struct look *l, const char *name)
{
	struct base_arena scratch = { 0 };
	struct view_job_identity id;
	struct view_job *job;

	if (from_folder_name(&scratch, name, &id) && wanted(l, &id)) {
		view_job_keep(&id, &l->jobs->mem);
		job = job_of(l->jobs, &id);
		view_job_add(&job->id, &id);
		job->folder = base_arena_printf(&l->jobs->mem, "%s/%s", l->out, name);
	}
	base_arena_fini(&scratch);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int by_number(const void *a, const void *b)
{
	const struct view_job *x = a, *y = b;
	int64_t i = x->id.number[VIEW_JOB_ID], k = y->id.number[VIEW_JOB_ID];
	int d = strcmp(x->id.text[VIEW_JOB_CLUSTER], y->id.text[VIEW_JOB_CLUSTER]);

	return d ? d : (i > k) - (i < k);
}

int view_jobs_find(struct view_jobs *j, const char *out, int64_t job, enum view_job_depth depth)
{
	struct look l = { .jobs = j, .out = out, .only = job, .depth = depth };
	DIR *d = opendir(out);
	struct dirent *e;

	*j = (struct view_jobs){ .job = NULL };
	if (!d)
		return -errno;
	while ((e = readdir(d))) {
		if (ends_with(e->d_name, ".gst"))
			look_at_run(&l, e->d_name);
		else if (ends_with(e->d_name, ".job"))
			look_at_folder(&l, e->d_name);
	}
	closedir(d);
	join_unnamed(j);
	for (size_t i = 0; i < j->jobs; i++)
		if (j->job[i].runs)
			qsort(j->job[i].run, j->job[i].runs, sizeof(*j->job[i].run), by_text);
	if (j->jobs)
		qsort(j->job, j->jobs, sizeof(*j->job), by_number);
	if (depth == VIEW_JOB_THOROUGH)
		for (size_t i = 0; i < j->jobs; i++)
			view_job_allocations(j, &j->job[i]);
	return 0;
}

void view_jobs_fini(struct view_jobs *j)
{
	base_arena_fini(&j->mem);
}

struct complaint {
	struct view_jobs *jobs;
	struct view_job *job;
};

static void bad_file(void *arg, const char *name, const char *why)
{
	struct complaint *c = arg;

	note(c->jobs, c->job,
	     base_arena_printf(&c->jobs->mem, "%s: cannot be used: %s", name, why));
}

/* Of another job: somebody put it there. */
static bool is_of(const struct view_job *job, const struct view_alloc *a)
{
	return a->id.number[VIEW_JOB_ID] == job->id.number[VIEW_JOB_ID];
}

void view_job_allocations(struct view_jobs *j, struct view_job *job)
{
	struct complaint c = { j, job };
	struct view_alloc *all;
	size_t n, kept = 0;
	int dir, err;

	if (!job->folder || job->alloc)
		return;
	dir = view_job_folder_read(job->folder);
	err = dir < 0 ? dir : view_job_folder_list(dir, &j->mem, &all, &n, bad_file, &c);
	if (dir >= 0)
		close(dir);
	if (err) {
		bad_file(&c, job->folder, err == -ELOOP ? "it is a link" : strerror(-err));
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (is_of(job, &all[i]))
			all[kept++] = all[i];
		else
			bad_file(&c, job->folder, "an allocation in it is another job's");
	}
	job->alloc = all;
	job->allocs = kept;
	for (size_t i = 0; i < kept; i++) {
		struct view_job_identity id = all[i].id;

		id.text[VIEW_JOB_CLUSTER] = NULL;
		id.number[VIEW_JOB_RESTART] = -1;
		view_job_add(&job->id, &id);
	}
}

/* --- the one that is asked for --- */

struct asked {
	int64_t job, task; /* task: -1: none was named */
};

static bool parse_name(const char *text, struct asked *a)
{
	char *end;

	*a = (struct asked){ -1, -1 };
	if (text[0] < '0' || text[0] > '9' || strlen(text) > 21)
		return false;
	a->job = strtoll(text, &end, 10);
	if (*end == '_' && end[1] >= '0' && end[1] <= '9')
		a->task = strtoll(end + 1, &end, 10);
	return !*end && a->job <= VIEW_JOB_NUMBER_MAX && a->task <= VIEW_JOB_NUMBER_MAX;
}

static bool is_asked(const struct view_job *job, const struct asked *a, bool array,
		     const char *cluster)
{
	const int64_t *n = job->id.number;

	if (cluster && strcmp(job->id.text[VIEW_JOB_CLUSTER], cluster) != 0)
		return false;
	if (a->task >= 0)
		return n[VIEW_JOB_ARRAY] == a->job && n[VIEW_JOB_ARRAY_TASK] == a->task;
	return n[array ? VIEW_JOB_ARRAY : VIEW_JOB_ID] == a->job;
}

/* Keeps those that were asked for; of several none is *job. */
static int pick(struct view_jobs *j, const struct asked *a, bool array, const char *cluster,
		struct view_job **job)
{
	size_t kept = 0;

	for (size_t i = 0; i < j->jobs; i++)
		if (is_asked(&j->job[i], a, array, cluster))
			j->job[kept++] = j->job[i];
	j->jobs = kept;
	if (!kept)
		return -ENOENT;
	if (kept > 1)
		return -ENOTUNIQ;
	*job = j->job;
	return 0;
}

/* First by its own number, which is quick; then as a task of an array, or an array of one task. */
static int find_named(struct view_jobs *j, const char *out, const struct asked *a,
		      const char *cluster, struct view_job **job)
{
	int err;

	if (a->task < 0) {
		err = view_jobs_find(j, out, a->job, VIEW_JOB_THOROUGH);
		if (!err)
			err = pick(j, a, false, cluster, job);
		if (err != -ENOENT)
			return err;
		view_jobs_fini(j);
	}
	err = view_jobs_find(j, out, -1, VIEW_JOB_THOROUGH);
	return err ? err : pick(j, a, a->task < 0, cluster, job);
}

/* --- runs of one label --- */

#define LABEL "label:"

static int find_labelled(struct view_jobs *j, const char *out, const char *label,
			 struct view_job **job)
{
	struct look l = { .jobs = j, .out = out, .only = -1, .depth = VIEW_JOB_BY_NAME };
	const char *equals = strchr(label, '=');
	const char *key = base_arena_copy(&j->mem, label, (size_t)(equals - label));
	struct view_job_identity none = VIEW_JOB_NONE;
	DIR *d = opendir(out);
	struct dirent *e;

	if (!d)
		return -errno;
	none.text[VIEW_JOB_CLUSTER] = "";
	while ((e = readdir(d))) {
		struct base_arena scratch = { 0 };
		const char *path = base_arena_printf(&scratch, "%s/%s", out, e->d_name);

		if (ends_with(e->d_name, ".gst") && view_peek_labelled(path, key, equals + 1))
			add_run(&l, e->d_name, &none, true);
		base_arena_fini(&scratch);
	}
	closedir(d);
	if (!j->jobs)
		return -ENOENT;
	*job = j->job;
	(*job)->label = base_arena_text(&j->mem, label);
	qsort((*job)->run, (*job)->runs, sizeof(*(*job)->run), by_text);
	return 0;
}

static bool names_label(const char *text)
{
	const char *equals = strchr(text, '=');

	return !strncmp(text, LABEL, sizeof(LABEL) - 1) && equals &&
	       equals > text + sizeof(LABEL) - 1 && equals[1];
}

int view_job_named(struct view_jobs *j, const char *out, const char *text, const char *cluster,
		   struct view_job **job)
{
	struct asked a;
	struct base_arena scratch = { 0 };
	int err;

	*j = (struct view_jobs){ .job = NULL };
	*job = NULL;
	if (names_label(text))
		return find_labelled(j, out, text + sizeof(LABEL) - 1, job);
	if (!parse_name(text, &a))
		return -EINVAL;
	cluster = cluster ? view_job_safe(&scratch, cluster) : NULL;
	err = find_named(j, out, &a, cluster, job);
	base_arena_fini(&scratch);
	return err;
}

bool view_job_is_folder(const char *path)
{
	struct base_arena scratch = { 0 };
	struct view_job_identity id;
	size_t len = strlen(path);
	const char *name;
	bool is;

	while (len > 1 && path[len - 1] == '/')
		len--;
	for (name = path + len; name > path && name[-1] != '/'; name--)
		;
	is = from_folder_name(&scratch,
			      base_arena_copy(&scratch, name, (size_t)(path + len - name)), &id);
	base_arena_fini(&scratch);
	return is;
}

int view_job_of_folder(struct view_jobs *j, const char *folder, struct view_job **job)
{
	struct base_arena scratch = { 0 };
	char *path = base_arena_text(&scratch, folder), *name;
	struct view_job_identity id;
	int err = -EINVAL;

	*j = (struct view_jobs){ .job = NULL };
	*job = NULL;
	for (size_t n = strlen(path); n > 1 && path[n - 1] == '/'; n--)
		path[n - 1] = '\0';
	name = strrchr(path, '/');
	if (name)
		*name++ = '\0';
	if (from_folder_name(&scratch, name ? name : path, &id)) {
		struct asked a = { id.number[VIEW_JOB_ID], -1 };

		err = view_jobs_find(j, !name ? "." : *path ? path : "/", a.job, VIEW_JOB_THOROUGH);
		if (!err)
			err = pick(j, &a, false, id.text[VIEW_JOB_CLUSTER], job);
	}
	base_arena_fini(&scratch);
	return err;
}

char *view_job_reads(const char *run)
{
	char *beside;

	if (!view_job_is_folder(run))
		return view_confine_folder(run, false);
	return asprintf(&beside, "%s/..", run) < 0 ? NULL : beside;
}
