/* SPDX-License-Identifier: Apache-2.0 */
#include "lost.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
	for (int p = 0; p < FLEET_SAVES_PARTS; p++) {
		d->saves.ns[p] = base_max(v->ns[p], 0);
		d->saves.usd[p] = s->cost.known ? base_max(v->nano_usd[p], 0) : 0;
	}
}

void fleet_saves_put(struct base_jsonout *j, const struct fleet_digest *d)
{
	if (!d->saves.known)
		return;
	base_json_object(j, "saves");
	base_json_int(j, "checkpoints", d->saves.checkpoints);
	base_json_int(j, "kills", d->saves.kills);
	for (int p = 0; p < FLEET_SAVES_PARTS; p++) {
		if (!d->saves.ns[p])
			continue;
		base_json_array(j, saves_part_names[p]);
		base_json_int(j, NULL, d->saves.ns[p]);
		base_json_int(j, NULL, d->saves.usd[p]);
		base_json_end(j);
	}
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
	       read_count(saves, "kills", &s->kills);
	for (int p = 0; good && p < FLEET_SAVES_PARTS; p++)
		good = read_part(base_json_get(saves, saves_part_names[p]), &s->ns[p], &s->usd[p]);
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

static void add(struct fleet_lost *to, const struct fleet_digest *d)
{
	to->runs++;
	to->held_ns += fleet_digest_held_ns(d);
	for (size_t i = 0; i < d->lines; i++)
		to->unpriced_ns += d->line[i].priced ? 0 : d->line[i].held_ns;
	to->checkpoints += d->saves.checkpoints;
	to->kills += d->saves.kills;
	for (int p = 0; p < FLEET_SAVES_PARTS; p++) {
		to->ns[p] += d->saves.ns[p];
		to->usd[p] += d->saves.usd[p];
	}
}

static void add_to(struct fleet_table *t, int keys, const char *const *key,
		   const struct fleet_digest *d)
{
	struct fleet_group *g = fleet_table_at(t, keys, key);

	if (!g->lost)
		g->lost = base_arena_alloc(&t->mem, sizeof(*g->lost));
	add(g->lost, d);
	g->sums.m[FLEET_RUNS] = g->lost->runs;
	g->sums.m[FLEET_HELD_NS] = fleet_lost_ns(g->lost);
	g->sums.m[FLEET_USD] = fleet_lost_usd(g->lost);
}

static bool has_any(const struct fleet_saves *s)
{
	for (int p = SAVES_UNSAVED; p < FLEET_SAVES_PARTS; p++)
		if (s->ns[p])
			return true;
	return s->kills > 0;
}

struct digests {
	struct fleet_lost_tables *t;
	struct fleet_digest *d;
};

/* Most that tell nothing of saves need not be read. */
static void on_digest(void *arg, const struct fleet_cell *cell)
{
	struct digests *a = arg;
	const struct fleet_digest *d = a->d;
	const char *why, *text = cell[0].text;

	if (!text || !strstr(text, "\"saves\":") ||
	    fleet_digest_read(a->d, text, strlen(text), &why) || !d->saves.known)
		return;
	const char *const key[FLEET_LOST_KEYS] = { d->job[0] ? d->job : d->run, d->user, d->team,
						   d->cluster };
	add(&a->t->total, d);
	add_to(&a->t->users, 1, &key[FLEET_LOST_USER], d);
	if (has_any(&d->saves))
		add_to(&a->t->jobs, FLEET_LOST_KEYS, key, d);
}

int fleet_lost_collect(struct fleet_lost_tables *t, struct fleet_store *s,
		       const struct fleet_query *q)
{
	struct digests a = { t, malloc(sizeof(*a.d)) };
	int err = a.d ? fleet_store_read(s, FLEET_VIEW_DIGESTS, q, on_digest, &a) : -ENOMEM;

	free(a.d);
	return err;
}

/* No part of a sum is above the sum of all runs; two of them are added. */
bool fleet_lost_fits(const struct fleet_lost_tables *t)
{
	const struct fleet_lost *l = &t->total;
	bool fits = l->held_ns <= BASE_WIDE_MAX && l->kills <= BASE_WIDE_MAX &&
		    l->checkpoints <= BASE_WIDE_MAX;

	for (int p = 0; p < FLEET_SAVES_PARTS; p++)
		fits = fits && l->ns[p] <= BASE_WIDE_MAX / 2 && l->usd[p] <= BASE_WIDE_MAX / 2;
	return fits;
}

void fleet_lost_fini(struct fleet_lost_tables *t)
{
	fleet_table_fini(&t->users);
	fleet_table_fini(&t->jobs);
}
