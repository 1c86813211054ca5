/* SPDX-License-Identifier: Apache-2.0 */
#include "lost.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"
#include "restarts.h"

/* ---- in digests ---- */

/* The summary's dollars are rounded for each GPU, and so sum up. */
void fleet_saves_make(struct fleet_digest *d, const struct view_summary *s)
{
	const struct view_saves *v = s->saves;

	if (!v)
		return;
	d->saves.known = true;
	d->saves.checkpoints = v->checkpoints < INT64_MAX ? (int64_t)v->checkpoints : INT64_MAX;
	d->saves.kills = v->kills < INT64_MAX ? (int64_t)v->kills : INT64_MAX;
	d->saves.failures = v->failures < INT64_MAX ? (int64_t)v->failures : INT64_MAX;
	for (int p = 0; p < FLEET_SAVES_PARTS; p++) {
		d->saves.ns[p] = base_max(v->ns[p], 0);
		d->saves.usd[p] = s->cost.known ? base_max(v->nano_usd[p], 0) : 0;
	}
	if (d->job[0] && !d->whole_job)
		d->chain = v->chain;
}

void fleet_saves_put(struct base_jsonout *j, const struct fleet_digest *d)
{
	if (!d->saves.known)
		return;
	base_json_object(j, "saves");
	base_json_int(j, "checkpoints", d->saves.checkpoints);
	base_json_int(j, "kills", d->saves.kills);
	if (d->saves.failures)
		base_json_int(j, "failures", d->saves.failures);
	for (int p = 0; p < FLEET_SAVES_PARTS; p++) {
		if (!d->saves.ns[p])
			continue;
		base_json_array(j, saves_part_names[p]);
		base_json_int(j, NULL, d->saves.ns[p]);
		base_json_int(j, NULL, d->saves.usd[p]);
		base_json_end(j);
	}
	saves_chain_put(j, &d->chain);
	base_json_end(j);
}

static bool read_count(const struct base_json *saves, const char *key, int64_t *out)
{
	const struct base_json *n = base_json_get(saves, key);

	*out = 0;
	return !n || (base_json_to_int(n, out) && *out >= 0);
}

static bool read_part(const struct base_json *n, int64_t *ns, int64_t *usd)
{
	*ns = *usd = 0;
	return !n || (n->type == BASE_JSON_ARRAY && base_json_count(n) == 2 &&
		      base_json_to_int(n->child, ns) && base_json_to_int(n->child->next, usd) &&
		      *ns >= 0 && *usd >= 0);
}

const char *fleet_saves_read(struct fleet_digest *d, const struct base_json *saves)
{
	struct fleet_saves *s = &d->saves;
	bool good;

	if (!saves)
		return NULL;
	s->known = true;
	good = saves->type == BASE_JSON_OBJECT &&
	       read_count(saves, "checkpoints", &s->checkpoints) &&
	       read_count(saves, "kills", &s->kills) && read_count(saves, "failures", &s->failures);
	for (int p = 0; good && p < FLEET_SAVES_PARTS; p++)
		good = read_part(base_json_get(saves, saves_part_names[p]), &s->ns[p], &s->usd[p]);
	good = good && saves_chain_read(&d->chain, base_json_get(saves, "chain"));
	return good ? NULL : "what it tells of saves is wrong";
}

/* ---- sums ---- */

base_wide fleet_lost_ns(const struct fleet_lost *l)
{
	return l->ns[SAVES_LOST] + l->ns[SAVES_REDONE];
}

base_wide fleet_lost_usd(const struct fleet_lost *l)
{
	return l->usd[SAVES_LOST] + l->usd[SAVES_REDONE];
}

static void add(struct fleet_lost *to, const struct fleet_restart *r)
{
	to->runs++;
	to->held_ns += r->held_ns;
	to->unpriced_ns += r->unpriced_ns;
	to->checkpoints += r->saves.checkpoints;
	to->kills += r->saves.kills;
	to->failures += r->saves.failures;
	for (int p = 0; p < FLEET_SAVES_PARTS; p++) {
		to->ns[p] += r->saves.ns[p];
		to->usd[p] += r->saves.usd[p];
	}
	if (!r->saves.kills && !r->saves.failures)
		return;
	to->undecided_ns += r->saves.ns[SAVES_UNKNOWN];
	to->undecided_usd += r->saves.usd[SAVES_UNKNOWN];
}

static void add_to(struct fleet_table *t, int keys, const char *const *key,
		   const struct fleet_restart *r)
{
	struct fleet_group *g = fleet_table_at(t, keys, key);

	if (!g->lost)
		g->lost = base_arena_alloc(&t->mem, sizeof(*g->lost));
	add(g->lost, r);
	g->sums.m[FLEET_RUNS] = g->lost->runs;
	g->sums.m[FLEET_HELD_NS] = fleet_lost_ns(g->lost);
	g->sums.m[FLEET_USD] = fleet_lost_usd(g->lost);
}

static bool has_any(const struct fleet_saves *s)
{
	for (int p = SAVES_UNSAVED; p < FLEET_SAVES_PARTS; p++)
		if (s->ns[p])
			return true;
	return s->kills > 0 || s->failures > 0;
}

static bool counts(const struct fleet_restart *r)
{
	return r->within && r->saves.known;
}

static void add_run(struct fleet_lost_tables *t, const struct fleet_restart *r)
{
	if (!counts(r))
		return;
	add(&t->total, r);
	add_to(&t->users, 1, &r->key[FLEET_JOB_USER], r);
	if (has_any(&r->saves))
		add_to(&t->jobs, FLEET_JOB_KEYS, r->key, r);
}

/* A job that is listed is told with all its runs, as its user is. */
static void add_rest(struct fleet_lost_tables *t, const struct fleet_restart *r)
{
	if (counts(r) && !has_any(&r->saves) && fleet_table_find(&t->jobs, FLEET_JOB_KEYS, r->key))
		add_to(&t->jobs, FLEET_JOB_KEYS, r->key, r);
}

struct digests {
	struct fleet_lost_tables *t;
	const struct fleet_query *q;
	struct fleet_digest *d;
	struct fleet_table jobs; /* keys: tenant, then fleet_job_key */
	struct fleet_restart *run; /* of jobs: others may have to do with them */
	size_t runs, room;
	struct base_arena mem;
	int err;
};

static struct fleet_restart run_of(const struct fleet_digest *d, const struct fleet_query *q)
{
	const struct saves_chain *c = &d->chain;
	struct fleet_restart r = { .within = d->start_unix_ns >= q->since_ns &&
					     d->start_unix_ns < q->until_ns,
				   .held_ns = fleet_digest_held_ns(d),
				   .start_ns = d->start_unix_ns,
				   .saves = d->saves };

	r.word_ns = d->wall_ns < INT64_MAX - r.start_ns ? r.start_ns + d->wall_ns : INT64_MAX;
	if (c->known) {
		r.start_ns = c->start_ns;
		r.word_ns = base_max(c->word_ns, c->start_ns);
	}
	for (size_t i = 0; i < d->lines; i++)
		r.unpriced_ns += d->line[i].priced ? 0 : d->line[i].held_ns;
	return r;
}

static void keep(struct digests *a, struct fleet_restart r, const char *const *key)
{
	const struct fleet_digest *d = a->d;
	const struct fleet_group *g = fleet_table_at(&a->jobs, FLEET_JOB_KEYS + 1, key);

	if (!base_vec_more(a->run, a->runs, a->room)) {
		a->err = -ENOMEM;
		return;
	}
	r.job = (uint32_t)(g - a->jobs.group);
	r.run = base_arena_text(&a->mem, d->run);
	r.key = base_arena_alloc(&a->mem, FLEET_JOB_KEYS * sizeof(*r.key));
	memcpy((void *)(uintptr_t)r.key, g->key + 1, FLEET_JOB_KEYS * sizeof(*r.key));
	if (d->chain.known) {
		struct saves_chain *c = base_arena_alloc(&a->mem, sizeof(*c));

		*c = d->chain;
		r.chain = c;
	}
	a->run[a->runs++] = r;
}

static bool serves(const struct fleet_digest *d)
{
	for (int k = 0; k < FACTS_RUN_KINDS; k++)
		if (view_kind_serves((enum facts_run_kind)k) &&
		    !strcmp(d->kind, facts_run_kinds[k]))
			return true;
	return false;
}

/* Somewhere in it stands the name of such a kind. */
static bool may_serve(const char *text)
{
	for (int k = 0; k < FACTS_RUN_KINDS; k++)
		if (view_kind_serves((enum facts_run_kind)k) && strstr(text, facts_run_kinds[k]))
			return true;
	return false;
}

/* Most that tell nothing of saves, are of no job and serve nobody need not be read. */
static void on_digest(void *arg, const struct fleet_cell *cell)
{
	struct digests *a = arg;
	const struct fleet_digest *d = a->d;
	const char *why, *text = cell[0].text;
	struct fleet_restart r;

	if (!text ||
	    (!strstr(text, "\"saves\":") && !strstr(text, "\"job\":") && !may_serve(text)) ||
	    fleet_digest_read(a->d, text, strlen(text), &why) || d->rest.job_ns)
		return;
	if (serves(d)) {
		a->t->serving += run_of(d, a->q).within;
		return;
	}
	if (!d->saves.known && !d->job[0])
		return;
	const char *const key[FLEET_JOB_KEYS + 1] = { d->tenant, d->job[0] ? d->job : d->run,
						      d->user, d->team, d->cluster };
	r = run_of(d, a->q);
	if (d->job[0] && !d->whole_job) {
		keep(a, r, key);
		return;
	}
	r.key = key + 1;
	add_run(a->t, &r);
}

/* What became of a run a later one may tell, whenever that was. */
int fleet_lost_collect(struct fleet_lost_tables *t, struct fleet_store *s,
		       const struct fleet_query *q)
{
	struct digests a = { .t = t, .q = q, .d = malloc(sizeof(*a.d)) };
	struct fleet_query all = *q;
	int err = a.d ? 0 : -ENOMEM;

	all.since_ns = INT64_MIN;
	all.until_ns = INT64_MAX;
	if (!err)
		err = fleet_store_read(s, FLEET_VIEW_DIGESTS, &all, on_digest, &a);
	if (!err)
		err = a.err ? a.err : fleet_restarts_join(a.run, a.runs);
	for (size_t i = 0; i < a.runs && !err; i++)
		add_run(t, &a.run[i]);
	for (size_t i = 0; i < a.runs && !err; i++)
		add_rest(t, &a.run[i]);
	fleet_table_fini(&a.jobs);
	base_arena_fini(&a.mem);
	free(a.run);
	free(a.d);
	return err;
}

/* No part of a sum is above the sum of all runs; two of them are added. */
bool fleet_lost_fits(const struct fleet_lost_tables *t)
{
	const struct fleet_lost *l = &t->total;
	bool fits = l->held_ns <= BASE_WIDE_MAX && l->kills <= BASE_WIDE_MAX &&
		    l->failures <= BASE_WIDE_MAX && l->checkpoints <= BASE_WIDE_MAX;

	for (int p = 0; p < FLEET_SAVES_PARTS; p++)
		fits = fits && l->ns[p] <= BASE_WIDE_MAX / 2 && l->usd[p] <= BASE_WIDE_MAX / 2;
	return fits;
}

void fleet_lost_fini(struct fleet_lost_tables *t)
{
	fleet_table_fini(&t->users);
	fleet_table_fini(&t->jobs);
}
