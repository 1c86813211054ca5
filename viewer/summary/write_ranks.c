/* SPDX-License-Identifier: Apache-2.0 */
/* summary.json: the ranks side by side. One function per member, in the schema's order. */
#include "priv.h"
#include "base/units.h"
#include "findings/words.h"

static void put_cause(struct view_jsonout *j, const struct ana_rank *r)
{
	if (r->top_cause >= ANA_CLASSES) {
		view_json_null(j, "top_cause");
		view_json_null(j, "where");
		return;
	}
	view_json_string(j, "top_cause", ana_class_names[r->top_cause]);
	if (!r->file && !r->function) {
		view_json_null(j, "where");
		return;
	}
	view_json_flat_object(j, "where");
	view_json_string(j, "file", r->file);
	if (r->line)
		view_json_uint(j, "line", r->line);
	else
		view_json_null(j, "line");
	view_json_string(j, "function", r->function);
	view_json_string(j, "role", view_role_names[r->role < VIEW_ROLES ? r->role : 0]);
	view_json_end(j);
}

static void put_row(struct view_jsonout *j, const struct view_summary *s, size_t i)
{
	const struct ana_rank *r = &s->result->ranks.row[i];

	view_json_object(j, NULL);
	if (r->has_rank)
		view_json_int(j, "rank", r->rank);
	else
		view_json_null(j, "rank");
	view_json_string(j, "host", s->result->gpu[r->gpu].host);
	view_json_uint(j, "gpu", r->gpu);
	view_json_uint(j, "process", r->process);
	view_json_uint(j, "collectives", r->collectives);
	view_json_uint(j, "matched", r->matched);
	view_json_uint(j, "late", r->late);
	view_json_uint(j, "late_much", r->late_much);
	view_json_percent(j, "late_much_pct", view_ppm((int64_t)r->late_much, (int64_t)r->matched));
	view_json_int(j, "lateness_median_ns", r->lateness_median_ns);
	view_json_int(j, "caused_ns", r->caused_ns);
	view_json_usd(j, "caused_usd", s->rank_nano_usd[i], s->cost.known);
	summary_put_classes(j, "causes", r->causes);
	view_json_int(j, "waited_ns", r->waited_ns);
	view_json_string(j, "culprit", ana_culprit_names[r->culprit]);
	put_cause(j, r);
	if (r->has_straggler)
		view_json_int(j, "straggler_ppm", r->straggler_ppm);
	else
		view_json_null(j, "straggler_ppm");
	view_json_bool(j, "straggler", r->straggler);
	view_json_string(j, "state", ana_rank_state_names[r->state]);
	view_json_string(j, "last_collective", r->last_name);
	view_json_int(j, "last_ns", r->last_ns);
	view_json_end(j);
}

static void put_clocks(struct view_jsonout *j, const struct ana_ranks *r)
{
	view_json_array(j, "clocks");
	for (size_t i = 0; i < r->clocks; i++) {
		const struct ana_clock *c = &r->clock[i];

		view_json_flat_object(j, NULL);
		view_json_string(j, "host", c->host ? c->host : "");
		view_json_bool(j, "aligned", c->aligned);
		view_json_int(j, "offset_ns", c->offset_ns);
		view_json_int(j, "drift_ppb", c->drift_ppb);
		if (c->residual_ns >= 0)
			view_json_int(j, "residual_ns", c->residual_ns);
		else
			view_json_null(j, "residual_ns");
		view_json_uint(j, "points", c->points);
		view_json_end(j);
	}
	view_json_end(j);
}

static void put_groups(struct view_jsonout *j, const struct ana_ranks *r)
{
	view_json_array(j, "groups");
	for (size_t i = 0; i < r->groups; i++) {
		const struct ana_group *g = &r->group[i];

		view_json_flat_object(j, NULL);
		view_json_string(j, "name", g->name ? g->name : "");
		view_json_flat_array(j, "members");
		for (size_t k = 0; k < g->members; k++)
			view_json_uint(j, NULL, g->member[k]);
		view_json_end(j);
		view_json_uint(j, "matched", g->matched);
		view_json_uint(j, "refused", g->refused);
		view_json_int(j, "waited_ns", g->waited_ns);
		view_json_end(j);
	}
	view_json_end(j);
}

void summary_put_ranks(struct view_jsonout *j, const struct view_summary *s)
{
	const struct ana_ranks *r = &s->result->ranks;

	if (!r->rows)
		return;
	view_json_object(j, "ranks");
	view_json_array(j, "rows");
	for (size_t i = 0; i < r->rows; i++)
		put_row(j, s, i);
	view_json_end(j);
	put_clocks(j, r);
	put_groups(j, r);
	view_json_uint(j, "matched", r->matched);
	view_json_uint(j, "refused", r->refused);
	view_json_int(j, "refused_ns", r->refused_ns);
	view_json_uint(j, "p2p", r->p2p);
	view_json_int(j, "late_ns", r->late_ns);
	view_json_int(j, "step_ns", r->step_ns);
	view_json_end(j);
}
