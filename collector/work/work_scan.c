/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A team's runs are listed, then its marks, and each mark is given to its run, which a search
 * finds.
 */
#include "work_scan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"
#include "core/clock.h"
#include "wire/keys.h"

#define DAY_S 86400

struct item {
	const char *run;
	uint64_t chance;
	int64_t settled_s; /* newest digest or dead mark, the store's clock; 0: none */
	bool digest, dead, busy, left;
};

struct names {
	struct base_arena mem;
	struct item *item; /* in order of their names */
	size_t n, room;
	uint64_t salt, below; /* those whose chance is less stay */
	int64_t now_s;
	struct coll_work_scan *scan;
	const char *team;
	bool met; /* anything at all */
};

static int stopped(const struct coll_work_scan *s)
{
	return s->stop && atomic_load(s->stop) ? -ECANCELED : 0;
}

/* Half of them go, by chance. */
static void thin(struct names *all)
{
	size_t kept = 0;

	all->below /= 2;
	for (size_t i = 0; i < all->n; i++)
		if (all->item[i].chance < all->below)
			all->item[kept++] = all->item[i];
	all->n = kept;
}

static int add_name(struct names *all, const char *name, size_t len)
{
	uint64_t chance = base_hash(base_hash(BASE_HASH, &all->salt, sizeof(all->salt)), name, len);

	chance ^= chance >> 29; /* high bits of short names are alike */
	chance *= UINT64_C(0xbf58476d1ce4e5b9);
	if (chance >= all->below)
		return 0;
	if (all->n == COLL_WORK_SCAN_RUNS)
		thin(all);
	if (!base_vec_more(all->item, all->n, all->room))
		return -ENOMEM;
	all->item[all->n++] =
		(struct item){ .run = base_arena_copy(&all->mem, name, len), .chance = chance };
	return 0;
}

/* Folders alone; what is hidden is ours. */
static int on_folder(void *arg, const struct objects_seen *s)
{
	struct names *all = arg;
	size_t len = strlen(s->key);
	int err = stopped(all->scan);

	all->met = true;
	if (err || s->key[0] == '.' || len < 2 || s->key[len - 1] != '/' || len > COLL_RUN_BYTES)
		return err;
	return add_name(all, s->key, len - 1);
}

static int list_folders(struct names *all, const char *below, struct objects_trouble *t)
{
	all->salt = (uint64_t)random();
	all->below = UINT64_MAX;
	return objects_browse(all->scan->store, below, true, 0, on_folder, all, &all->now_s, t);
}

static int name_order(const void *a, const void *b)
{
	return strcmp(((const struct item *)a)->run, ((const struct item *)b)->run);
}

static struct item *find(const struct names *all, const char *run)
{
	const struct item wanted = { .run = run };

	return all->n ? bsearch(&wanted, all->item, all->n, sizeof(wanted), name_order) : NULL;
}

static void take_mark(const struct names *all, struct item *it, const struct coll_work_mark *m)
{
	const struct coll_work_rules *r = &all->scan->rules;
	struct coll_work_marks now = { .now_s = all->now_s };

	switch (m->kind) {
	case COLL_WORK_DIGEST:
	case COLL_WORK_DEAD:
		it->digest |= m->kind == COLL_WORK_DIGEST;
		it->dead |= m->kind == COLL_WORK_DEAD;
		if (it->settled_s < m->changed_s)
			it->settled_s = m->changed_s;
		break;
	case COLL_WORK_LEASE:
		if (!r->lease_s || coll_work_mark_age(&now, m, all->scan->ahead_s) < r->lease_s)
			it->busy = true;
		else
			it->left = true;
		break;
	default:
		break;
	}
}

/* "RUN/MARK". */
static int on_mark(void *arg, const struct objects_seen *s)
{
	const char *slash = strchr(s->key, '/');
	char run[COLL_RUN_BYTES];
	struct names *all = arg;
	struct coll_work_mark m;
	struct item *it;
	int err = stopped(all->scan);

	if (err || !slash || slash - s->key >= COLL_RUN_BYTES ||
	    !coll_work_mark_read(&m, slash + 1))
		return err;
	snprintf(run, sizeof(run), "%.*s", (int)(slash - s->key), s->key);
	m.changed_s = s->changed_s;
	it = find(all, run);
	if (it)
		take_mark(all, it, &m);
	return 0;
}

/* The list of runs said what time it is, a moment ago. */
static int list_marks(struct names *all, struct objects_trouble *t)
{
	char below[COLL_WORK_PLACE_BYTES];
	int64_t now_s;

	snprintf(below, sizeof(below), COLL_WORK_FOLDER "%s/",
		 *all->team ? all->team : COLL_WORK_NOBODY);
	return objects_browse(all->scan->store, below, false, 0, on_mark, all, &now_s, t);
}

/*
 * Whether a run with a digest is to be looked at for what came since: when as much time has
 * passed as it had had the digest when it was last looked at. Of those that were never, and are a
 * day old, that is then: a worker that starts anew need not look at all that ever was.
 */
static bool is_due_again(const struct names *all, const struct item *it,
			 const struct coll_work_place *p, int64_t now_ns)
{
	int64_t due_ns = coll_work_candidates_due(all->scan->found, p);
	int64_t age_s = all->now_s - it->settled_s;

	if (due_ns)
		return due_ns <= now_ns;
	if (age_s < DAY_S)
		return true;
	coll_work_candidates_saw(all->scan->found, p, now_ns + DAY_S * COLL_SECOND_NS);
	return false;
}

static void offer(struct names *all, const struct item *it, const struct coll_work_place *p)
{
	struct coll_work_candidates *found = all->scan->found;
	int64_t now_ns = coll_now_ns();
	bool settled = it->settled_s > 0;

	if (it->busy)
		coll_work_candidates_busy(found, p->team);
	else if (settled ? is_due_again(all, it, p, now_ns)
			 : coll_work_candidates_due(found, p) <= now_ns)
		coll_work_candidates_add(found, p->team, p->run, settled);
}

static void take_run(struct names *all, const struct item *it)
{
	struct coll_work_scan *s = all->scan;
	struct coll_work_told told = { .digest = it->digest,
				       .dead = it->dead,
				       .busy = it->busy,
				       .left = it->left,
				       .settled_s = -1 };

	if (!coll_work_place_of(&told.place, all->team, it->run))
		return;
	if (it->settled_s)
		told.settled_s = all->now_s - it->settled_s;
	s->runs++;
	s->dead += it->dead && !it->digest;
	if (s->tell)
		s->tell(s->arg, &told);
	else
		offer(all, it, &told.place);
}

static int take_team(struct names *all, struct objects_trouble *t)
{
	int err;

	if (all->n)
		qsort(all->item, all->n, sizeof(*all->item), name_order);
	err = list_marks(all, t);
	for (size_t i = 0; i < all->n && !err; i++)
		take_run(all, &all->item[i]);
	return err;
}

static void names_fini(struct names *all)
{
	free(all->item);
	base_arena_fini(&all->mem);
}

static int scan_team(struct coll_work_scan *s, const char *team, struct objects_trouble *t)
{
	struct names all = { .scan = s, .team = team };
	char below[COLL_WORK_TEAM_BYTES + 1];
	int err;

	snprintf(below, sizeof(below), "%s/", team);
	err = list_folders(&all, below, t);
	if (!err)
		err = take_team(&all, t);
	names_fini(&all);
	s->teams++;
	return err;
}

/* The first key below a folder says whether a run begins there: 1, or a team: 0. */
static int on_first(void *arg, const struct objects_seen *s)
{
	*(int *)arg = wire_key_is_segment(s->key) || !strchr(s->key, '/');
	return 0;
}

static int is_run(struct coll_work_scan *s, const char *name, int *run, struct objects_trouble *t)
{
	char below[COLL_RUN_BYTES + 1];
	int64_t now_s;

	*run = 1;
	if (!coll_work_team_ok(name))
		return 0;
	snprintf(below, sizeof(below), "%s/", name);
	return objects_browse(s->store, below, false, 1, on_first, run, &now_s, t);
}

/* Runs of no team lie where teams do. */
static int scan_top(struct coll_work_scan *s, struct names *top, struct objects_trouble *t)
{
	struct names alone = { .scan = s, .team = "", .below = UINT64_MAX, .now_s = top->now_s };
	int err = 0, run;

	for (size_t i = 0; i < top->n && !err; i++) {
		err = is_run(s, top->item[i].run, &run, t);
		if (err)
			break;
		err = run ? add_name(&alone, top->item[i].run, strlen(top->item[i].run))
			  : scan_team(s, top->item[i].run, t);
	}
	if (!err && alone.n)
		err = take_team(&alone, t);
	names_fini(&alone);
	return err;
}

int coll_work_scan(struct coll_work_scan *s, struct objects_trouble *t)
{
	struct names top = { .scan = s, .team = "" };
	int err;

	s->teams = s->runs = s->dead = 0;
	if (s->found)
		coll_work_candidates_begin(s->found);
	err = list_folders(&top, "", t);
	if (!err)
		err = scan_top(s, &top, t);
	s->empty = !err && !top.met;
	names_fini(&top);
	return err;
}
