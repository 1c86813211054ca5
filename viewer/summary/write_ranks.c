/* SPDX-License-Identifier: Apache-2.0 */
/* summary.json: the ranks side by side. One function per member, in the schema's order. */
#include "fields.h"
#include "summary_priv.h"
#include "base/units.h"
#include "findings/words.h"

static void put_cause(struct base_jsonout *j, const struct ana_rank *r)
{
	if (r->top_cause >= ANA_CLASSES) {
		base_json_null(j, "top_cause");
		base_json_null(j, "where");
		return;
	}
	base_json_string(j, "top_cause", ana_class_names[r->top_cause]);
	if (!r->file && !r->function) {
		base_json_null(j, "where");
		return;
	}
	base_json_flat_object(j, "where");
	base_json_string(j, "file", r->file);
	if (r->line)
		base_json_uint(j, "line", r->line);
	else
		base_json_null(j, "line");
	base_json_string(j, "function", r->function);
	base_json_string(j, "role", view_role_names[r->role < VIEW_ROLES ? r->role : 0]);
	base_json_end(j);
}

static void put_death(struct base_jsonout *j, const struct view_summary *s, size_t i)
{
	const struct ana_rank *r = &s->result->ranks.row[i];

	if (r->state != ANA_RANK_DEAD) {
		base_json_null(j, "death");
		return;
	}
	base_json_flat_object(j, "death");
	base_json_int(j, "ended_ns", r->ended_ns);
	base_json_uint(j, "waiting", r->left);
	base_json_int(j, "waited_ns", r->left_ns);
	base_json_usd(j, "waited_usd", s->left_nano_usd[i], s->cost.known);
	base_json_end(j);
}

static void put_behind(struct base_jsonout *j, const struct ana_rank *r)
{
	if (!r->behind) {
		base_json_null(j, "behind_death");
		return;
	}
	base_json_flat_object(j, "behind_death");
	base_json_uint(j, "row", r->behind - 1);
	base_json_int(j, "ns", r->behind_ns);
	base_json_end(j);
}

static void put_row(struct base_jsonout *j, const struct view_summary *s, size_t i)
{
	const struct ana_rank *r = &s->result->ranks.row[i];

	base_json_object(j, NULL);
	if (r->has_rank)
		base_json_int(j, "rank", r->rank);
	else
		base_json_null(j, "rank");
	base_json_string(j, "host", s->result->gpu[r->gpu].host);
	base_json_uint(j, "gpu", r->gpu);
	base_json_uint(j, "process", r->process);
	summary_put_fields(j, summary_rank_counts, r);
	base_json_percent(j, "late_much_pct", base_ppm((int64_t)r->late_much, (int64_t)r->matched));
	base_json_int(j, "lateness_median_ns", r->lateness_median_ns);
	base_json_int(j, "caused_ns", r->caused_ns);
	base_json_usd(j, "caused_usd", s->rank_nano_usd[i], s->cost.known);
	summary_put_classes(j, "causes", r->causes);
	base_json_int(j, "waited_ns", r->waited_ns);
	base_json_string(j, "culprit", ana_culprit_names[r->culprit]);
	put_cause(j, r);
	if (r->has_straggler)
		base_json_int(j, "straggler_ppm", r->straggler_ppm);
	else
		base_json_null(j, "straggler_ppm");
	base_json_bool(j, "straggler", r->straggler);
	base_json_string(j, "state", ana_rank_state_names[r->state]);
	base_json_string(j, "last_collective", r->last_name);
	base_json_int(j, "last_ns", r->last_ns);
	put_death(j, s, i);
	put_behind(j, r);
	base_json_end(j);
}

static void put_clocks(struct base_jsonout *j, const struct ana_ranks *r)
{
	base_json_array(j, "clocks");
	for (size_t i = 0; i < r->clocks; i++) {
		const struct ana_clock *c = &r->clock[i];

		base_json_flat_object(j, NULL);
		summary_put_fields(j, summary_clock, c);
		if (c->residual_ns >= 0)
			base_json_int(j, "residual_ns", c->residual_ns);
		else
			base_json_null(j, "residual_ns");
		base_json_uint(j, "points", c->points);
		base_json_end(j);
	}
	base_json_end(j);
}

static void put_groups(struct base_jsonout *j, const struct ana_ranks *r)
{
	base_json_array(j, "groups");
	for (size_t i = 0; i < r->groups; i++) {
		const struct ana_group *g = &r->group[i];

		base_json_flat_object(j, NULL);
		base_json_string(j, "name", g->name ? g->name : "");
		base_json_flat_array(j, "members");
		for (size_t k = 0; k < g->members; k++)
			base_json_uint(j, NULL, g->member[k]);
		base_json_end(j);
		summary_put_fields(j, summary_group, g);
		base_json_end(j);
	}
	base_json_end(j);
}

void summary_put_ranks(struct base_jsonout *j, const struct view_summary *s)
{
	const struct ana_ranks *r = &s->result->ranks;

	if (!r->rows)
		return;
	base_json_object(j, "ranks");
	base_json_array(j, "rows");
	for (size_t i = 0; i < r->rows; i++)
		put_row(j, s, i);
	base_json_end(j);
	put_clocks(j, r);
	put_groups(j, r);
	summary_put_fields(j, summary_ranks, r);
	if (r->p2p)
		base_json_uint(j, "p2p_matched", r->p2p_matched);
	base_json_end(j);
}
