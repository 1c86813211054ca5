/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list of few.
 */
#include "team.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "alert/runs.h"
#include "core/log.h"
#include "retain/admit.h"

static void close_stream(struct coll_team *team, struct coll_stream *s)
{
	coll_feeder_release(s);
	coll_store_close(team->store, s);
}

/* What the disk holds is not known any more; the next frame of the stream opens it anew. */
static void on_failed(struct coll_feeder *f, struct coll_stream *s)
{
	close_stream((struct coll_team *)((char *)f - offsetof(struct coll_team, feeder)), s);
}

static struct coll_team *link_team(struct coll_teams *t, struct coll_team *team)
{
	team->feeder =
		(struct coll_feeder){ .store = team->store, .is_team = true, .failed = on_failed };
	team->next = t->list;
	t->list = team;
	return team;
}

/* False: there is no folder for it. */
static bool open_store(struct coll_teams *t, struct coll_team *team)
{
	char path[PATH_MAX];
	int err;

	snprintf(path, sizeof(path), "%s/%s", t->base, team->name);
	err = coll_store_init(&team->own, path, t->count);
	if (err) {
		coll_log("cannot store runs in %s: %s", path, strerror(-err));
		coll_store_fini(&team->own);
		return false;
	}
	team->store = &team->own;
	coll_store_keep_links(team->store);
	if (t->retention)
		coll_admit_attach(t->retention, &team->own, team->name);
	if (t->runs)
		coll_runs_watch(t->runs, &team->own);
	return true;
}

struct coll_team *coll_team_get(struct coll_teams *t, const char *name)
{
	struct coll_team *team = t->list;

	while (team && strcmp(team->name, name))
		team = team->next;
	if (team)
		return team;
	team = calloc(1, sizeof(*team));
	if (!team)
		return NULL;
	snprintf(team->name, sizeof(team->name), "%s", name);
	if (!t->base || open_store(t, team))
		return link_team(t, team);
	free(team);
	return NULL;
}

struct coll_team *coll_team_sharing(struct coll_teams *t, struct coll_store *store)
{
	struct coll_team *team = calloc(1, sizeof(*team));

	if (!team)
		return NULL;
	team->store = store;
	if (store)
		coll_store_keep_links(store);
	return link_team(t, team);
}

const char *coll_team_base(const struct coll_team *team)
{
	return team->store ? team->store->base : team->name;
}

bool coll_team_has(const struct coll_team *team, const char *dir)
{
	const char *base = coll_team_base(team);
	size_t len = strlen(base);

	return !strncmp(dir, base, len) && dir[len] == '/' && !strchr(dir + len + 1, '/');
}

void coll_team_close_idle(struct coll_team *team, int64_t before_ns, int64_t bye_before_ns)
{
	struct coll_fed_stream *fed, *next;

	for (fed = team->feeder.first; fed; fed = next) {
		struct coll_stream *s = fed->stream;

		next = fed->next;
		if (fed->heard_ns < (s->bye ? bye_before_ns : before_ns) && !coll_stream_dirty(s))
			close_stream(team, s);
	}
}

void coll_team_was_away(struct coll_team *team, int64_t away_ns)
{
	struct coll_fed_stream *fed;

	for (fed = team->feeder.first; fed; fed = fed->next)
		fed->heard_ns += away_ns;
}

void coll_teams_fini(struct coll_teams *t)
{
	while (t->list) {
		struct coll_team *team = t->list;

		t->list = team->next;
		while (team->feeder.first)
			close_stream(team, team->feeder.first->stream);
		if (team->store == &team->own)
			coll_store_fini(&team->own);
		free(team);
	}
}
