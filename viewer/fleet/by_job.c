/* SPDX-License-Identifier: Apache-2.0 */
#include "by_job.h"

#include "base/csv.h"
#include "base/units.h"
#include "fleet_out.h"

size_t fleet_table_shown(const struct fleet *f, const struct fleet_table *t)
{
	return t->groups < f->options.top ? t->groups : f->options.top;
}

const char *fleet_job_name(const struct fleet_group *g, bool jobs, struct base_arena *mem)
{
	if (!jobs)
		return fleet_shown(g->key[0]);
	return base_arena_printf(mem, "%s of %s", g->key[FLEET_JOB_NAME],
				 fleet_shown(g->key[FLEET_JOB_USER]));
}

/* --- JSON --- */

static void json_name(struct base_jsonout *j, const char *key, const char *name)
{
	base_json_string(j, key, name[0] ? name : NULL);
}

static void json_keys(struct base_jsonout *j, const struct fleet_group *g, bool job)
{
	if (!job) {
		json_name(j, "name", g->key[0]);
		return;
	}
	base_json_string(j, "name", g->key[FLEET_JOB_NAME]);
	json_name(j, "user", g->key[FLEET_JOB_USER]);
	json_name(j, "team", g->key[FLEET_JOB_TEAM]);
	json_name(j, "cluster", g->key[FLEET_JOB_CLUSTER]);
}

static void json_table(struct base_jsonout *j, const char *name, const struct fleet_table *t,
		       bool jobs, void (*put)(struct base_jsonout *j, const struct fleet_group *g))
{
	base_json_array(j, name);
	for (size_t i = 0; i < t->groups; i++) {
		base_json_flat_object(j, NULL);
		json_keys(j, &t->group[i], jobs);
		put(j, &t->group[i]);
		base_json_end(j);
	}
	base_json_end(j);
}

void fleet_json_jobs(struct base_jsonout *j, const struct fleet_table *users,
		     const struct fleet_table *jobs,
		     void (*put)(struct base_jsonout *j, const struct fleet_group *g))
{
	json_table(j, "user", users, false, put);
	json_table(j, "job", jobs, true, put);
}

void fleet_json_parts(struct base_jsonout *j, const struct fleet_parts *p)
{
	char key[32];

	for (int i = 0; i < p->parts; i++) {
		snprintf(key, sizeof(key), "%s_ns", p->name[i]);
		base_json_wide(j, key, p->ns[i]);
	}
	for (int i = 0; i < p->parts; i++) {
		snprintf(key, sizeof(key), "%s_usd", p->name[i]);
		base_json_usd(j, key, p->usd[i], true);
	}
}

/* --- CSV --- */

void fleet_csv_job(FILE *out, const struct fleet_group *g)
{
	base_csv_put_guarded(out, g->key[FLEET_JOB_NAME]);
	for (int k = FLEET_JOB_USER; k < FLEET_JOB_KEYS; k++) {
		fputc(',', out);
		base_csv_put_guarded(out, fleet_shown(g->key[k]));
	}
}

void fleet_csv_parts_head(FILE *out, const struct fleet_parts *p)
{
	for (int i = 0; i < p->parts; i++)
		fprintf(out, ",%s_ns", p->name[i]);
	for (int i = 0; i < p->parts; i++)
		fprintf(out, ",%s_usd", p->name[i]);
	fputs("\r\n", out);
}

void fleet_csv_parts(FILE *out, const struct fleet_parts *p)
{
	base_unit text;

	for (int i = 0; i < p->parts; i++)
		fprintf(out, ",%s", base_wide_text(text, p->ns[i]));
	for (int i = 0; i < p->parts; i++)
		fprintf(out, ",%s", base_dollars_exact(text, p->usd[i]));
	fputs("\r\n", out);
}
