/* SPDX-License-Identifier: Apache-2.0 */
#include "vacant.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- in digests ---- */

void fleet_vacancy_make(struct fleet_digest *d, const struct view_summary *s)
{
	const struct ana_vacancy *v = &s->result->vacancy;
	struct fleet_vacancy *to = &d->vacancy;

	if (!v->known)
		return;
	to->known = true;
	to->gaps = base_max(v->gaps, 0);
	to->longest_ns = base_max(v->longest_ns, 0);
	to->unseen_ns = base_max(v->unseen_ns, 0);
	for (int p = 0; p < ANA_VACANTS; p++) {
		to->ns[p] = base_max(v->ns[p], 0);
		to->usd[p] = s->cost.known ? base_max(s->cost.vacant[p], 0) : 0;
	}
}

static void put_some(struct base_jsonout *j, const char *key, int64_t n)
{
	if (n)
		base_json_int(j, key, n);
}

void fleet_vacancy_put(struct base_jsonout *j, const struct fleet_digest *d)
{
	const struct fleet_vacancy *v = &d->vacancy;

	if (!v->known)
		return;
	base_json_object(j, "no_process");
	for (int p = 0; p < ANA_VACANTS; p++) {
		if (!v->ns[p])
			continue;
		base_json_array(j, ana_vacant_names[p]);
		base_json_int(j, NULL, v->ns[p]);
		base_json_int(j, NULL, v->usd[p]);
		base_json_end(j);
	}
	put_some(j, "gaps", v->gaps);
	put_some(j, "longest_ns", v->longest_ns);
	put_some(j, "unseen_ns", v->unseen_ns);
	base_json_end(j);
}

bool fleet_vacancy_fold(struct fleet_digest *d)
{
	struct fleet_vacancy *v = &d->vacancy;
	int least = ANA_VACANT_UNKNOWN;

	for (int p = 0; p < ANA_VACANT_UNKNOWN; p++)
		if (v->ns[p] && (least == ANA_VACANT_UNKNOWN || v->ns[p] < v->ns[least]))
			least = p;
	if (least == ANA_VACANT_UNKNOWN)
		return false;
	view_cost_add(&v->ns[ANA_VACANT_UNKNOWN], v->ns[least]);
	view_cost_add(&v->usd[ANA_VACANT_UNKNOWN], v->usd[least]);
	v->ns[least] = v->usd[least] = 0;
	return true;
}

static bool read_some(const struct base_json *node, const char *key, int64_t *out)
{
	const struct base_json *n = base_json_get(node, key);

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

const char *fleet_vacancy_read(struct fleet_digest *d, const struct base_json *no_process)
{
	struct fleet_vacancy *v = &d->vacancy;
	bool good;

	if (!no_process)
		return NULL;
	v->known = true;
	good = no_process->type == BASE_JSON_OBJECT && read_some(no_process, "gaps", &v->gaps) &&
	       read_some(no_process, "longest_ns", &v->longest_ns) &&
	       read_some(no_process, "unseen_ns", &v->unseen_ns);
	for (int p = 0; good && p < ANA_VACANTS; p++)
		good = read_part(base_json_get(no_process, ana_vacant_names[p]), &v->ns[p],
				 &v->usd[p]);
	return good ? NULL : "what it tells of time without a process is wrong";
}

/* ---- sums ---- */

base_wide fleet_vacant_ns(const struct fleet_vacant *v)
{
	base_wide sum = 0;

	for (int p = 0; p < ANA_VACANTS; p++)
		sum += v->ns[p];
	return sum;
}

base_wide fleet_vacant_usd(const struct fleet_vacant *v)
{
	base_wide sum = 0;

	for (int p = 0; p < ANA_VACANTS; p++)
		sum += v->usd[p];
	return sum;
}

/* What was unused of a job is all that its rest has a price of. */
static void add_held(struct fleet_vacant *to, const struct fleet_digest *d)
{
	base_wide unpriced = 0, held = fleet_digest_held_ns(d);

	for (size_t i = 0; i < d->lines; i++)
		unpriced += d->line[i].priced ? 0 : d->line[i].held_ns;
	if (d->rest.job_ns && unpriced == held)
		unpriced = held ? d->rest.job_ns : 0;
	to->held_ns += d->rest.job_ns ? d->rest.job_ns : held;
	to->unpriced_ns += unpriced;
}

static void add(struct fleet_vacant *to, const struct fleet_digest *d)
{
	const struct fleet_vacancy *v = &d->vacancy;

	to->runs++;
	add_held(to, d);
	to->gaps += v->gaps;
	to->longest_ns = base_max(to->longest_ns, (base_wide)v->longest_ns);
	to->unseen_ns += v->unseen_ns;
	for (int p = 0; p < ANA_VACANTS; p++) {
		to->ns[p] += v->ns[p];
		to->usd[p] += v->usd[p];
	}
}

static void add_to(struct fleet_table *t, int keys, const char *const *key,
		   const struct fleet_digest *d)
{
	struct fleet_group *g = fleet_table_at(t, keys, key);

	if (!g->vacant)
		g->vacant = base_arena_alloc(&t->mem, sizeof(*g->vacant));
	add(g->vacant, d);
	g->sums.m[FLEET_RUNS] = g->vacant->runs;
	g->sums.m[FLEET_HELD_NS] = fleet_vacant_ns(g->vacant);
	g->sums.m[FLEET_USD] = fleet_vacant_usd(g->vacant);
}

static bool has_any(const struct fleet_vacancy *v)
{
	for (int p = 0; p < ANA_VACANTS; p++)
		if (v->ns[p])
			return true;
	return v->unseen_ns > 0;
}

struct digests {
	struct fleet_vacant_tables *t;
	struct fleet_digest *d;
};

/* Most runs are of no job, or their job's is not here: these need not be read. */
static void on_digest(void *arg, const struct fleet_cell *cell)
{
	struct digests *a = arg;
	const struct fleet_digest *d = a->d;
	const char *why, *text = cell[0].text;

	if (!text || !strstr(text, "\"no_process\":") ||
	    fleet_digest_read(a->d, text, strlen(text), &why) || !d->vacancy.known)
		return;
	const char *const key[FLEET_JOB_KEYS] = { d->job[0] ? d->job : d->run, d->user, d->team,
						  d->cluster };

	add(&a->t->total, d);
	add_to(&a->t->users, 1, &key[FLEET_JOB_USER], d);
	if (has_any(&d->vacancy))
		add_to(&a->t->jobs, FLEET_JOB_KEYS, key, d);
}

int fleet_vacant_collect(struct fleet_vacant_tables *t, struct fleet_store *s,
			 const struct fleet_query *q)
{
	struct digests a = { t, malloc(sizeof(*a.d)) };
	int err = -ENOMEM;

	if (a.d)
		err = fleet_store_read(s, FLEET_VIEW_DIGESTS, q, on_digest, &a);
	free(a.d);
	return err;
}

/* No part of a sum is above the sum of all runs; all parts are added. */
bool fleet_vacant_fits(const struct fleet_vacant_tables *t)
{
	const struct fleet_vacant *v = &t->total;
	bool fits = v->held_ns <= BASE_WIDE_MAX && v->gaps <= BASE_WIDE_MAX &&
		    v->unseen_ns <= BASE_WIDE_MAX;

	for (int p = 0; p < ANA_VACANTS; p++)
		fits = fits && v->ns[p] <= BASE_WIDE_MAX / ANA_VACANTS &&
		       v->usd[p] <= BASE_WIDE_MAX / ANA_VACANTS;
	return fits;
}

void fleet_vacant_fini(struct fleet_vacant_tables *t)
{
	fleet_table_fini(&t->users);
	fleet_table_fini(&t->jobs);
}
