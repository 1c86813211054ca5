/* SPDX-License-Identifier: Apache-2.0 */
#include "candidates.h"

#include <stdlib.h>
#include <string.h>
#include "base/hash.h"

struct coll_work_team {
	char name[COLL_WORK_TEAM_BYTES];
	size_t busy; /* other workers, as of the scan */
	uint64_t turn; /* when we were last at it; 0: never */
	struct {
		char *run[COLL_WORK_TEAM_RUNS];
		size_t n, met; /* met: those without room, too */
	} of[2]; /* [1]: they have a digest */
	struct coll_work_team *next;
};

static void forget_runs(struct coll_work_team *t)
{
	for (int again = 0; again < 2; again++) {
		for (size_t i = 0; i < t->of[again].n; i++)
			free(t->of[again].run[i]);
		t->of[again].n = t->of[again].met = 0;
	}
}

void coll_work_candidates_fini(struct coll_work_candidates *c)
{
	while (c->first) {
		struct coll_work_team *t = c->first;

		c->first = t->next;
		forget_runs(t);
		free(t);
	}
	c->teams = c->runs = c->waiting = 0;
}

void coll_work_candidates_begin(struct coll_work_candidates *c)
{
	for (struct coll_work_team *t = c->first; t; t = t->next) {
		forget_runs(t);
		t->busy = 0;
	}
	c->runs = c->waiting = 0;
}

static struct coll_work_team *team_of(struct coll_work_candidates *c, const char *name)
{
	struct coll_work_team *t = c->first;

	while (t && strcmp(t->name, name) != 0)
		t = t->next;
	if (t || c->teams == COLL_WORK_TEAMS_MAX || strlen(name) >= sizeof(t->name))
		return t;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	strcpy(t->name, name); /* NOLINT: its length was looked at */
	t->next = c->first;
	c->first = t;
	c->teams++;
	return t;
}

void coll_work_candidates_add(struct coll_work_candidates *c, const char *team, const char *run,
			      bool again)
{
	struct coll_work_team *t = team_of(c, team);
	size_t at;
	char *name;

	c->waiting += !again;
	if (!t)
		return;
	at = t->of[again].met++;
	if (at >= COLL_WORK_TEAM_RUNS)
		at = (size_t)random() % t->of[again].met;
	name = at < COLL_WORK_TEAM_RUNS ? strdup(run) : NULL;
	if (!name)
		return;
	if (at < t->of[again].n) {
		free(t->of[again].run[at]);
	} else {
		at = t->of[again].n++;
		c->runs++;
	}
	t->of[again].run[at] = name;
}

void coll_work_candidates_busy(struct coll_work_candidates *c, const char *team)
{
	struct coll_work_team *t = team_of(c, team);

	if (t)
		t->busy++;
}

static bool comes_before(const struct coll_work_team *a, const struct coll_work_team *b)
{
	return a->busy != b->busy ? a->busy < b->busy : a->turn < b->turn;
}

static struct coll_work_team *whose_turn(const struct coll_work_candidates *c, bool again)
{
	struct coll_work_team *t, *best = NULL;

	for (t = c->first; t; t = t->next)
		if (t->of[again].n && (!best || comes_before(t, best)))
			best = t;
	return best;
}

bool coll_work_candidates_next(struct coll_work_candidates *c, struct coll_work_place *p)
{
	bool again = false, ok;
	struct coll_work_team *t = whose_turn(c, false);
	size_t at;
	char *run;

	if (!t) {
		again = true;
		t = whose_turn(c, true);
	}
	if (!t)
		return false;
	at = (size_t)random() % t->of[again].n;
	run = t->of[again].run[at];
	t->of[again].run[at] = t->of[again].run[--t->of[again].n];
	c->runs--;
	t->turn = ++c->turn;
	ok = coll_work_place_of(p, t->name, run);
	free(run);
	return ok || coll_work_candidates_next(c, p);
}

static uint64_t hash_of(const struct coll_work_place *p)
{
	uint64_t h = base_hash_text(base_hash_text(BASE_HASH, p->team), "/");

	h = base_hash_text(h, p->run);
	return h ? h : 1;
}

void coll_work_candidates_saw(struct coll_work_candidates *c, const struct coll_work_place *p,
			      int64_t until_ns)
{
	uint64_t h = hash_of(p);

	c->seen[h % COLL_WORK_SEEN] = (struct coll_work_seen){ .run = h, .until_ns = until_ns };
}

int64_t coll_work_candidates_due(const struct coll_work_candidates *c,
				 const struct coll_work_place *p)
{
	uint64_t h = hash_of(p);
	const struct coll_work_seen *s = &c->seen[h % COLL_WORK_SEEN];

	return s->run == h ? s->until_ns : 0;
}
