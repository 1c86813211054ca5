/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pointers to runs, wherever these are.
 */
#include "run_view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t runs_of(const struct coll_run_index *x, const char *team)
{
	const struct coll_run_folder *f = x->folders;

	while (team && f && strcmp(f->name, team) != 0)
		f = f->next;
	return team ? f ? f->runs : 0 : x->count;
}

static bool is_of(const struct coll_indexed_run *e, const char *team)
{
	return !team || !strcmp(e->dir.team, team);
}

static void read_list(struct coll_run_index *x, struct coll_indexed_run *e, const char *team)
{
	struct coll_indexed_run *next;

	for (; e; e = next) {
		next = e->next;
		if (is_of(e, team))
			coll_run_index_read(x, e);
	}
}

static int take_indexed(struct coll_run_view *v, struct coll_run_index *x, const char *team)
{
	struct coll_indexed_run *e;
	size_t room;

	read_list(x, x->stale, team);
	read_list(x, x->open, team);
	room = runs_of(x, team);
	v->indexed = true;
	v->run = calloc(room + 1, sizeof(*v->run));
	if (!v->run)
		return -ENOMEM;
	for (size_t i = 0; i < COLL_RUN_INDEX_BUCKETS; i++)
		for (e = x->bucket[i]; e; e = e->chain)
			if (e->read && is_of(e, team) && v->count < room)
				v->run[v->count++] = &e->dir;
	return 0;
}

static int read_all(struct coll_run_view *v, const char *folder, const char *team)
{
	int err = team ? coll_run_dirs_scan_folder(&v->read, folder, team)
		       : coll_run_dirs_scan(&v->read, folder);

	if (err)
		return err;
	v->run = calloc(v->read.count + 1, sizeof(*v->run));
	if (!v->run)
		return -ENOMEM;
	for (; v->count < v->read.count; v->count++)
		v->run[v->count] = &v->read.run[v->count];
	return 0;
}

int coll_run_view_make(struct coll_run_view *v, struct coll_run_index *x, const char *folder,
		       const char *team)
{
	*v = (struct coll_run_view){ .count = 0 };
	if (coll_run_index_has(x, team) && runs_of(x, team) > COLL_RUN_VIEW_SMALL)
		return take_indexed(v, x, team);
	return read_all(v, folder, team);
}

void coll_run_view_fini(struct coll_run_view *v)
{
	free(v->run);
	coll_run_dirs_fini(&v->read);
	*v = (struct coll_run_view){ .count = 0 };
}
