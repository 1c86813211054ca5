/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of runs by team and name, and two lists of those that are to be looked at again.
 */
#include "run_index.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/log.h"
#include "wire/keyed_hash.h"

int coll_run_index_init(struct coll_run_index *x, const char *base)
{
	*x = (struct coll_run_index){ .base = strdup(base) };
	x->bucket = calloc(COLL_RUN_INDEX_BUCKETS, sizeof(*x->bucket));
	if (!x->base || !x->bucket || !coll_run_index_folder(x, ""))
		return -ENOMEM;
	return 0;
}

static void unlist(struct coll_indexed_run *e)
{
	if (!e->link)
		return;
	*e->link = e->next;
	if (e->next)
		e->next->link = e->link;
	e->link = NULL;
}

static void list(struct coll_indexed_run **head, struct coll_indexed_run *e)
{
	unlist(e);
	e->next = *head;
	e->link = head;
	if (e->next)
		e->next->link = &e->next;
	*head = e;
}

static struct coll_indexed_run **bucket_of(struct coll_run_index *x, const char *team,
					   const char *name)
{
	const struct wire_secret s = wire_secret();
	char key[2 * NAME_MAX + 2];
	int len = snprintf(key, sizeof(key), "%s/%s", team, name);

	return &x->bucket[wire_keyed_hash(key, (size_t)len, &s) % COLL_RUN_INDEX_BUCKETS];
}

/* Where it is, or would be. */
static struct coll_indexed_run **find(struct coll_run_index *x, const char *team, const char *name)
{
	struct coll_indexed_run **p = bucket_of(x, team, name);

	while (*p && (strcmp((*p)->dir.name, name) != 0 || strcmp((*p)->dir.team, team) != 0))
		p = &(*p)->chain;
	return p;
}

static void run_free(struct coll_indexed_run *e)
{
	free(e->dir.name);
	free(e);
}

static void drop(struct coll_run_index *x, struct coll_indexed_run *e)
{
	struct coll_indexed_run **p = find(x, e->dir.team, e->dir.name);

	*p = e->chain;
	unlist(e);
	e->folder->runs--;
	x->count--;
	run_free(e);
}

static void drop_all(struct coll_run_index *x)
{
	struct coll_indexed_run *e;
	struct coll_run_folder *f;

	for (size_t i = 0; x->bucket && i < COLL_RUN_INDEX_BUCKETS; i++) {
		while ((e = x->bucket[i])) {
			x->bucket[i] = e->chain;
			run_free(e);
		}
	}
	while ((f = x->folders)) {
		x->folders = f->next;
		free(f->name);
		free(f);
	}
	if (x->walk.names)
		closedir(x->walk.names);
	x->walk.names = NULL;
	x->stale = x->open = NULL;
	x->count = 0;
}

void coll_run_index_fini(struct coll_run_index *x)
{
	if (x->base) /* else it was never begun */
		drop_all(x);
	free(x->bucket);
	free(x->base);
	*x = (struct coll_run_index){ .base = NULL };
}

static void give_up(struct coll_run_index *x, const char *why)
{
	coll_log("%s: %s: sweeps and lists look at every file", x->base, why);
	drop_all(x);
	x->given_up = true;
	x->whole = false;
}

struct coll_run_folder *coll_run_index_folder(struct coll_run_index *x, const char *name)
{
	struct coll_run_folder **p = &x->folders, *f;
	size_t count = 0;

	for (; *p; p = &(*p)->next, count++)
		if (!strcmp((*p)->name, name))
			return *p;
	f = count < COLL_RUN_INDEX_FOLDERS ? calloc(1, sizeof(*f)) : NULL;
	if (f)
		f->name = strdup(name);
	if (!f || !f->name) {
		free(f);
		give_up(x, "too many folders, or no memory");
		return NULL;
	}
	*p = f;
	return f;
}

static struct coll_indexed_run *run_new(struct coll_run_folder *folder, const char *name)
{
	struct coll_indexed_run *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->folder = folder;
	e->dir.team = folder->name;
	e->dir.name = strdup(name);
	if (e->dir.name)
		return e;
	free(e);
	return NULL;
}

/* NULL: no run, or all was given up. */
static struct coll_indexed_run *add(struct coll_run_index *x, struct coll_run_folder *folder,
				    const char *name)
{
	struct coll_indexed_run **p = find(x, folder->name, name), *e = *p;

	if (e || !coll_run_dir_name_ok(name))
		return e;
	e = x->count < COLL_RUN_INDEX_MAX ? run_new(folder, name) : NULL;
	if (!e) {
		give_up(x, "too many runs, or no memory");
		return NULL;
	}
	*p = e;
	folder->runs++;
	x->count++;
	coll_run_index_stale(x, e);
	return e;
}

static struct coll_indexed_run *run_of(struct coll_run_index *x, const char *team, const char *name)
{
	struct coll_run_folder *folder;

	if (!x || !x->base || x->given_up || strlen(team) > NAME_MAX || strlen(name) > NAME_MAX)
		return NULL;
	folder = coll_run_index_folder(x, team);
	return folder ? add(x, folder, name) : NULL;
}

static struct coll_indexed_run *run_at(struct coll_run_index *x, const char *dir)
{
	size_t len = x && x->base ? strlen(x->base) : 0;
	const char *rest, *slash;
	char team[NAME_MAX + 1];

	if (!len || strncmp(dir, x->base, len) != 0 || dir[len] != '/')
		return NULL;
	rest = dir + len + 1;
	slash = strchr(rest, '/');
	snprintf(team, sizeof(team), "%.*s", slash ? (int)(slash - rest) : 0, rest);
	return run_of(x, team, slash ? slash + 1 : rest);
}

/* An open one is looked at again anyway, and once more when it is closed. */
void coll_run_index_stale(struct coll_run_index *x, struct coll_indexed_run *e)
{
	if (!e->open)
		list(&x->stale, e);
}

void coll_run_index_touch(struct coll_run_index *x, const char *dir)
{
	struct coll_indexed_run *e = run_at(x, dir);

	if (e)
		coll_run_index_stale(x, e);
}

void coll_run_index_touch_run(struct coll_run_index *x, const char *team, const char *run)
{
	struct coll_indexed_run *e = run_of(x, team, run);

	if (e)
		coll_run_index_stale(x, e);
}

void coll_run_index_opened(struct coll_run_index *x, const char *dir)
{
	struct coll_indexed_run *e = run_at(x, dir);

	if (e && !e->open++)
		list(&x->open, e);
}

void coll_run_index_closed(struct coll_run_index *x, const char *dir)
{
	struct coll_indexed_run *e = run_at(x, dir);

	if (e && (!e->open || !--e->open))
		coll_run_index_stale(x, e);
}

void coll_run_index_keep(struct coll_run_index *x, const char *team, const char *run,
			 const struct coll_run_kept *kept)
{
	struct coll_indexed_run *e = run_of(x, team, run);

	if (!e || e->dir.newest_ns != kept->newest_ns)
		return;
	e->dir.rules = kept->rules;
	e->dir.keep_ns = kept->keep_ns;
}

bool coll_run_index_has(const struct coll_run_index *x, const char *team)
{
	const struct coll_run_folder *f;

	if (!x || !x->whole)
		return false;
	for (f = x->folders; team && f; f = f->next)
		if (!strcmp(f->name, team))
			return f->walked != 0;
	return !team;
}

/* What its labels said holds until something else lies there. */
static void take(struct coll_indexed_run *e, const struct coll_run_dir *now)
{
	struct coll_run_dir old = e->dir;

	e->dir = *now;
	e->dir.team = old.team;
	e->dir.name = old.name;
	if (old.newest_ns == now->newest_ns && old.bytes == now->bytes) {
		e->dir.rules = old.rules;
		e->dir.keep_ns = old.keep_ns;
	}
	e->read = true;
	if (!e->open)
		unlist(e);
}

/* For want of descriptors or memory: it is asked for again. */
static bool is_ours(int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOMEM;
}

/* It is gone, or none may read it. An open one may come back. */
static void leave_out(struct coll_run_index *x, struct coll_indexed_run *e)
{
	e->read = false;
	if (!e->open)
		drop(x, e);
}

static void read_in(struct coll_run_index *x, struct coll_indexed_run *e, int folder_fd)
{
	struct coll_run_dir now;
	int err = coll_run_dir_measure(&now, folder_fd, e->dir.name);

	if (!err)
		take(e, &now);
	else if (!is_ours(err))
		leave_out(x, e);
}

void coll_run_index_read(struct coll_run_index *x, struct coll_indexed_run *e)
{
	int fd = coll_run_folder_open(x->base, e->dir.team);

	if (fd >= 0) {
		read_in(x, e, fd);
		close(fd);
	} else if (!is_ours(fd)) {
		e->folder->walked = 0;
		leave_out(x, e);
	}
}

void coll_run_index_meet(struct coll_run_index *x, struct coll_run_folder *folder, int folder_fd,
			 const char *name)
{
	struct coll_indexed_run *e = add(x, folder, name);

	if (!e)
		return;
	e->walked = x->walk.number;
	if (!e->open)
		read_in(x, e, folder_fd);
}
