/* SPDX-License-Identifier: Apache-2.0 */
#include "job_look.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/vec.h"
#include "core/clock.h"
#include "work_marks.h"

struct listing {
	struct coll_work_job *job;
	const char *name; /* of the job's folder */
	char stem[COLL_RUN_BYTES + 16]; /* all its runs' names begin so */
	size_t objects;
};

/* The run whose name goes on behind the stem with these characters. False: it is another job's. */
static bool run_of(const struct listing *l, const char *key, size_t len, char run[COLL_RUN_BYTES])
{
	size_t stem = strlen(l->stem);

	if (stem + len >= COLL_RUN_BYTES || strspn(key, COLL_NAME_CHARACTERS) != len)
		return false;
	memcpy(run, l->stem, stem);
	memcpy(run + stem, key, len);
	run[stem + len] = '\0';
	return coll_job_has_run(l->name, run);
}

/* A run's objects come one after another. */
static int turn_to(struct coll_work_job *j, const char *run)
{
	struct coll_work_job_run *r;

	if (j->runs && !strcmp(j->run[j->runs - 1].name, run))
		return 0;
	if (j->runs == COLL_WORK_JOB_RUNS_MAX)
		return -E2BIG;
	if (!base_vec_more(j->run, j->runs, j->room))
		return -ENOMEM;
	r = &j->run[j->runs++];
	*r = (struct coll_work_job_run){ .look.piece = NULL };
	snprintf(r->name, sizeof(r->name), "%s", run);
	coll_work_look_begin(&r->look);
	return 0;
}

/* "0-0/FILE/FIRST-LAST" */
static int found(void *arg, const struct objects_seen *s)
{
	const char *slash = strchr(s->key, '/');
	struct objects_seen below = *s;
	struct listing *l = arg;
	char run[COLL_RUN_BYTES];
	int err;

	if (!slash || !run_of(l, s->key, (size_t)(slash - s->key), run))
		return 0;
	if (l->objects++ == COLL_WORK_PIECES_MAX)
		return -E2BIG;
	err = turn_to(l->job, run);
	if (err)
		return err;
	below.key = slash + 1;
	return coll_work_look_add(&l->job->run[l->job->runs - 1].look, &below);
}

static bool is_there(const struct coll_work_job *j, const char *run)
{
	for (size_t i = 0; i < j->runs; i++)
		if (j->run[i].look.pieces && !strcmp(j->run[i].name, run))
			return true;
	return false;
}

/* "0-0/": workers wrote of that run. */
static int found_marks(void *arg, const struct objects_seen *s)
{
	size_t len = strlen(s->key);
	struct listing *l = arg;
	char run[COLL_RUN_BYTES];

	if (len && s->key[len - 1] == '/' && run_of(l, s->key, len - 1, run))
		l->job->lost |= !is_there(l->job, run);
	return 0;
}

static int list_runs(struct listing *l, struct objects *o, const char *team,
		     struct objects_trouble *t)
{
	char below[COLL_WORK_PLACE_BYTES];
	int64_t now_s;
	int err;

	snprintf(below, sizeof(below), "%s%s%s", team, *team ? "/" : "", l->stem);
	err = objects_browse(o, below, false, 0, found, l, &now_s, t);
	if (err == -E2BIG)
		snprintf(
			t->why, sizeof(t->why),
			"more lies there than the runs of a job are made of, or a small file that is none");
	if (err)
		return err;
	snprintf(below, sizeof(below), COLL_WORK_FOLDER "%s/%s", *team ? team : COLL_WORK_NOBODY,
		 l->stem);
	return objects_browse(o, below, true, 0, found_marks, l, &now_s, t);
}

/* What is told of the job is of its runs, too. */
static void add_run(struct coll_work_look *l, struct coll_work_job_run *r)
{
	char content[32];

	if (!r->look.pieces)
		return;
	coll_work_look_end(&r->look);
	snprintf(content, sizeof(content), "\n%016" PRIx64 "\n", r->look.content);
	l->content = base_hash_text(base_hash_text(l->content, r->name), content);
	l->segments += r->look.segments;
	l->bytes += r->look.bytes;
	if (l->oldest_s > r->look.oldest_s)
		l->oldest_s = r->look.oldest_s;
	if (l->newest_s < r->look.newest_s)
		l->newest_s = r->look.newest_s;
}

static void add_runs(struct coll_work_look *l, struct coll_work_job *j)
{
	size_t pieces = l->pieces;

	for (size_t i = 0; i < j->runs; i++) {
		add_run(l, &j->run[i]);
		pieces += j->run[i].look.pieces;
	}
	if (l->now_s < l->newest_s) /* nothing seems older than it is */
		l->now_s = l->newest_s;
	l->revision = l->newest_s * COLL_SECOND_NS + (int64_t)pieces;
}

int coll_work_job_look(struct coll_work_look *l, struct coll_work_job *j, struct objects *o,
		       const struct coll_work_place *p, struct objects_trouble *t)
{
	struct listing all = { .job = j, .name = p->run };
	char folder[COLL_WORK_PLACE_BYTES];
	int err;

	coll_work_place_run(folder, p);
	l->job = coll_job_dir_is(p->run);
	err = coll_work_look(l, o, folder, t);
	if (err || !l->job || !l->allocations)
		return err;
	coll_job_runs(all.stem, sizeof(all.stem), p->run);
	err = list_runs(&all, o, p->team, t);
	add_runs(l, j);
	return err;
}

void coll_work_job_fini(struct coll_work_job *j)
{
	for (size_t i = 0; i < j->runs; i++)
		coll_work_look_fini(&j->run[i].look);
	free(j->run);
	*j = (struct coll_work_job){ .run = NULL };
}
