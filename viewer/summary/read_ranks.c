/* SPDX-License-Identifier: Apache-2.0 */
/* The ranks of summary.json back into the model, in the writer's order. */
#include "fields.h"
#include "summary_priv.h"
#include "findings/words.h"

static void read_where(struct view_summary *s, const struct base_json *n, struct ana_rank *r)
{
	const struct base_json *where = base_json_get(n, "where");
	int c = ana_class_by_name(base_json_get_text(n, "top_cause", ""));

	r->top_cause = (enum ana_class)(c < 0 ? ANA_CLASSES : c);
	r->file = summary_text(s, where, "file");
	r->function = summary_text(s, where, "function");
	r->line = summary_u32(where, "line");
	r->role = (uint8_t)summary_by_name(base_json_get_text(where, "role", NULL), view_role_names,
					   VIEW_ROLES, 0);
}

static bool is_int(const struct base_json *n, const char *key)
{
	const struct base_json *v = base_json_get(n, key);

	return v && v->type == BASE_JSON_NUMBER;
}

/* False: it speaks of a GPU that is not there. */
static bool read_row(struct view_summary *s, const struct base_json *n, struct ana_rank *r)
{
	r->gpu = summary_u32(n, "gpu");
	r->process = summary_u32(n, "process");
	if (r->gpu >= s->result->gpus)
		return false;
	r->has_rank = is_int(n, "rank");
	r->rank = (int32_t)summary_within(n, "rank", 0, INT32_MIN, INT32_MAX);
	summary_read_fields(s, n, summary_rank_counts, r);
	r->lateness_median_ns = summary_stamp(n, "lateness_median_ns");
	r->caused_ns = summary_total(n, "caused_ns");
	summary_read_classes(base_json_get(n, "causes"), r->causes);
	r->waited_ns = summary_span(n, "waited_ns");
	r->culprit = (enum ana_culprit)summary_by_name(base_json_get_text(n, "culprit", NULL),
						       ana_culprit_names, ANA_CULPRITS, 0);
	read_where(s, n, r);
	r->has_straggler = is_int(n, "straggler_ppm");
	r->straggler_ppm =
		summary_within(n, "straggler_ppm", 0, -(INT64_C(1) << 40), INT64_C(1) << 40);
	r->straggler = base_json_get_bool(n, "straggler", false);
	r->state = (enum ana_rank_state)summary_by_name(base_json_get_text(n, "state", NULL),
							ana_rank_state_names, ANA_RANK_STATES, 0);
	r->last_name = summary_text(s, n, "last_collective");
	r->last_ns = summary_stamp(n, "last_ns");
	r->ended_ns = summary_stamp(base_json_get(n, "death"), "ended_ns");
	r->left = base_json_get_uint(base_json_get(n, "death"), "waiting", 0);
	r->left_ns = summary_total(base_json_get(n, "death"), "waited_ns");
	if (is_int(base_json_get(n, "behind_death"), "row"))
		r->behind = summary_u32(base_json_get(n, "behind_death"), "row") + 1;
	r->behind_ns = summary_span(base_json_get(n, "behind_death"), "ns");
	return true;
}

static void read_rows(struct view_summary *s, const struct base_json *rows)
{
	struct ana_ranks *r = &s->result->ranks;

	r->row = base_arena_array(&s->mem, base_json_count(rows), sizeof(*r->row));
	s->rank_nano_usd =
		base_arena_array(&s->mem, base_json_count(rows), sizeof(*s->rank_nano_usd));
	s->left_nano_usd =
		base_arena_array(&s->mem, base_json_count(rows), sizeof(*s->left_nano_usd));
	BASE_JSON_EACH(n, rows) {
		s->rank_nano_usd[r->rows] = summary_usd(n, "caused_usd", 0);
		s->left_nano_usd[r->rows] = summary_usd(base_json_get(n, "death"), "waited_usd", 0);
		r->rows += read_row(s, n, &r->row[r->rows]);
	}
}

static void read_clocks(struct view_summary *s, const struct base_json *clocks)
{
	struct ana_ranks *r = &s->result->ranks;

	r->clock = base_arena_array(&s->mem, base_json_count(clocks), sizeof(*r->clock));
	BASE_JSON_EACH(n, clocks) {
		struct ana_clock *c = &r->clock[r->clocks++];

		summary_read_fields(s, n, summary_clock, c);
		c->residual_ns = is_int(n, "residual_ns") ? summary_span(n, "residual_ns") : -1;
		c->points = base_json_get_uint(n, "points", 0);
	}
}

static void read_group(struct view_summary *s, const struct base_json *n, struct ana_group *g)
{
	const struct base_json *members = base_json_get(n, "members");
	int64_t row;

	g->name = summary_text_or_empty(s, n, "name");
	g->member = base_arena_array(&s->mem, base_json_count(members), sizeof(*g->member));
	BASE_JSON_EACH(m, members)
		if (base_json_to_int(m, &row) && row >= 0 && (size_t)row < s->result->ranks.rows)
			g->member[g->members++] = (uint32_t)row;
	summary_read_fields(s, n, summary_group, g);
}

void summary_read_ranks(struct view_summary *s, const struct base_json *ranks)
{
	const struct base_json *groups = base_json_get(ranks, "groups");
	struct ana_ranks *r = &s->result->ranks;

	read_rows(s, base_json_get(ranks, "rows"));
	read_clocks(s, base_json_get(ranks, "clocks"));
	r->group = base_arena_array(&s->mem, base_json_count(groups), sizeof(*r->group));
	BASE_JSON_EACH(n, groups)
		read_group(s, n, &r->group[r->groups++]);
	summary_read_fields(s, ranks, summary_ranks, r);
	r->p2p_matched = base_json_get_uint(ranks, "p2p_matched", 0);
}
