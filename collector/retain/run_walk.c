/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A walk: BASE's names, among them the folders of teams, theirs one after the other, and then the
 * table itself for what was not met.
 */
#include "run_walk.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/log.h"

#define STEP_NS (COLL_SECOND_NS / 200)
#define FIRST_STEP_NS (COLL_SECOND_NS / 50)

/* What a step may still look at. */
struct step {
	size_t runs, names;
	int64_t until_ns; /* monotonic */
};

static void begin(struct coll_run_index *x, int64_t now_ns)
{
	x->walk.number++;
	x->walk.next_ns = now_ns + COLL_WALK_EVERY_S * COLL_SECOND_NS;
	x->walk.folder = x->folders;
	x->walk.at = COLL_WALK_NAMES;
}

static void leave_folder(struct coll_run_index *x)
{
	if (x->walk.names)
		closedir(x->walk.names);
	x->walk.names = NULL;
	x->walk.folder = x->walk.folder->next;
	x->walk.bucket = 0;
	if (!x->walk.folder)
		x->walk.at = COLL_WALK_UNSEEN;
}

static void enter_folder(struct coll_run_index *x)
{
	int fd = coll_run_folder_open(x->base, x->walk.folder->name);

	x->walk.names = fd < 0 ? NULL : fdopendir(fd);
	if (x->walk.names)
		return;
	if (fd >= 0)
		close(fd);
	x->walk.folder->walked = 0;
	leave_folder(x);
}

/* Whether it is a folder shows when its turn comes. */
static void meet(struct coll_run_index *x, const struct dirent *e)
{
	struct coll_run_folder *folder = x->walk.folder;

	if (e->d_type != DT_DIR && e->d_type != DT_UNKNOWN)
		return;
	if (coll_run_dir_name_ok(e->d_name))
		coll_run_index_meet(x, folder, dirfd(x->walk.names), e->d_name);
	else if (!*folder->name && coll_run_folder_name_ok(e->d_name))
		coll_run_index_folder(x, e->d_name);
}

static void next_name(struct coll_run_index *x, struct step *s)
{
	struct dirent *e = readdir(x->walk.names);

	if (!e) {
		x->walk.folder->walked = x->walk.number;
		leave_folder(x);
		return;
	}
	s->names--;
	s->runs -= coll_run_dir_name_ok(e->d_name);
	meet(x, e);
}

/* It may be gone, or have come behind us. */
static void next_bucket(struct coll_run_index *x)
{
	struct coll_indexed_run *e;

	for (e = x->bucket[x->walk.bucket]; e; e = e->chain)
		if (e->walked != x->walk.number)
			coll_run_index_stale(x, e);
	if (++x->walk.bucket < COLL_RUN_INDEX_BUCKETS)
		return;
	x->walk.at = COLL_WALK_RESTS;
	if (!x->whole)
		coll_note("%s: all %zu runs are known", x->base, x->count);
	x->whole = true;
}

static void read_stale(struct coll_run_index *x, const struct step *s)
{
	for (int i = 0; i < COLL_WALK_STALE && x->stale && coll_now_ns() < s->until_ns; i++) {
		struct coll_indexed_run *e = x->stale;

		coll_run_index_read(x, e);
		if (x->stale == e) /* for want of something of ours */
			return;
	}
}

static void go_on(struct coll_run_index *x, struct step *s)
{
	while (!x->given_up && s->runs && s->names && coll_now_ns() < s->until_ns) {
		if (x->walk.at == COLL_WALK_RESTS)
			return;
		if (x->walk.at == COLL_WALK_UNSEEN)
			next_bucket(x);
		else if (x->walk.names)
			next_name(x, s);
		else
			enter_folder(x);
	}
}

void coll_run_walk_tick(struct coll_run_index *x, int64_t now_ns)
{
	struct step s = { .runs = x->whole ? COLL_WALK_RUNS : COLL_WALK_FIRST_RUNS,
			  .names = COLL_WALK_NAMES_MAX,
			  .until_ns = coll_now_ns() + (x->whole ? STEP_NS : FIRST_STEP_NS) };

	if (!x->base || x->given_up)
		return;
	read_stale(x, &s);
	if (x->walk.at == COLL_WALK_RESTS && now_ns >= x->walk.next_ns)
		begin(x, now_ns);
	go_on(x, &s);
}
