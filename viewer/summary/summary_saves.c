/* SPDX-License-Identifier: Apache-2.0 */
/* What a kill costs, and what kills have cost: the member `saves` of summary.json (LEDGER 9). */
#include <errno.h>
#include <string.h>
#include "base/units.h"
#include "cost/rates.h"
#include "fields.h"
#include "saves/money.h"
#include "saves/saves_read.h"
#include "summary_priv.h"

#define TOLD_NS INT64_C(600000000000) /* a run of that length is told that nothing is saved */

/*
 * Where no kill was seen: one in so many GPU-hours. 419 unexpected interruptions of 16,384 GPUs in
 * 54 days; The Llama 3 Herd of Models, 3.3.4, arXiv 2407.21783, 2024-07-31.
 */
#define KILL_GPU_HOURS 50677
/* One kill tells no rate of kills; and Young's formula holds where saves are short. */
#define BROKE_LEAST 2
#define COSTS_LEAST 4
#define HOUR_NS INT64_C(3600000000000)

static void set_money(struct view_saves *v, const struct view_insurance *i, struct view_summary *s)
{
	int64_t *price = base_arena_array(&s->mem, s->cost.gpus + 1, sizeof(*price));
	struct saves_money m;

	v->mean_nano_usd = v->now_nano_usd = -1;
	v->chain = i->chain;
	if (!s->cost.known)
		return;
	for (size_t g = 0; g < s->cost.gpus; g++)
		price[g] = s->cost.rate[g].nano_usd_per_hour;
	m = saves_money_of(i, price, s->cost.gpus);
	v->mean_nano_usd = m.mean;
	v->now_nano_usd = m.now;
	memcpy(v->nano_usd, m.part, sizeof(v->nano_usd));
	for (size_t k = 0; k < v->chain.marks; k++)
		memcpy(v->chain.mark[k].usd, m.moved[k], sizeof(m.moved[k]));
}

/* What saves cost while they lasted, and how often they would best be made. */
static void set_interval(struct view_saves *v, const struct view_insurance *i,
			 const struct ana_result *r)
{
	int64_t waited = r->classes[ANA_HOST_CHECKPOINT] + r->skew_causes[ANA_HOST_CHECKPOINT] +
			 i->waited_last_ns;
	uint64_t broke = i->kills + i->failures;
	int64_t best;

	for (size_t g = 0; g < r->gpus; g++)
		waited -= r->gpu[g].saving_after_ns;
	v->exposed_ns = v->best_ns = -1;
	v->between_seen = broke > 0;
	v->between_ns = broke ? i->instants_ns / (int64_t)broke
			      : HOUR_NS * KILL_GPU_HOURS / (int64_t)r->gpus;
	if (!i->checkpoints)
		return;
	v->exposed_ns = waited / (int64_t)i->checkpoints / (int64_t)r->gpus;
	if (v->exposed_ns <= 0 || (broke && broke < BROKE_LEAST))
		return;
	best = saves_best_interval(v->exposed_ns, v->between_ns);
	if (best / COSTS_LEAST >= v->exposed_ns)
		v->best_ns = best;
}

/* GPUs of one price alone: else there is no one spot price. */
static void set_spot(struct view_saves *v, const struct view_summary *s, int64_t loss_ns)
{
	const struct view_rate *held = s->cost.rate;

	v->spot_pays_ns = -1;
	for (size_t g = 1; g < s->cost.gpus; g++)
		if (!view_rate_same(&s->cost.rate[g], held))
			return;
	if (!s->cost.known || !s->cost.gpus || !strcmp(held->price_model, "spot") ||
	    !view_rates_spot(held, &v->spot))
		return;
	v->has_spot = true;
	v->spot_pays_ns =
		saves_spot_pays_ns(held->nano_usd_per_hour, v->spot.nano_usd_per_hour, loss_ns);
}

static void copy_segments(struct view_saves *v, const struct view_insurance *i,
			  struct base_arena *mem)
{
	v->segments = base_min(i->segments, VIEW_SEGMENTS_MAX);
	v->segment = base_arena_array(mem, v->segments, sizeof(*v->segment));
	memcpy(v->segment, i->segment, v->segments * sizeof(*v->segment));
}

static void take(struct view_summary *s, const struct view_insurance *i)
{
	struct view_saves *v = base_arena_alloc(&s->mem, sizeof(*v));
	const struct ana_result *r = s->result;
	int64_t gpus = (int64_t)r->gpus, loss;
	char wide[64];

	v->saves = i->saves;
	v->whole = i->whole;
	v->failed = i->failed;
	v->synced = i->synced;
	v->untold = i->untold;
	v->unsure = i->unsure;
	v->deleted = i->deleted;
	v->unmoved = i->unmoved;
	v->writtens = i->writtens;
	v->written_bytes = i->written_bytes;
	v->written_ns = i->writtens ? i->written_ns : -1;
	v->checkpoints = i->checkpoints;
	v->state = i->state;
	v->kills = i->kills;
	v->failures = i->failures;
	v->starts = i->segments;
	memcpy(v->ns, i->part, sizeof(v->ns));
	v->loss2 = base_arena_text(&s->mem, base_wide_text(wide, i->loss2));
	v->instants_ns = i->instants_ns;
	v->mean_ns = saves_mean_ns(i);
	v->worst_ns = i->worst_ns;
	v->now_ns = i->now_ns;
	v->every_ns = i->every_ns;
	v->silent_ns = i->silent_ns;
	v->lost_silent_ns = i->lost_silent_ns;
	v->start_up_ns = r->classes[ANA_EXCLUDED_STARTUP] / gpus / (int64_t)i->segments;
	set_money(v, i, s);
	set_interval(v, i, r);
	loss = v->mean_ns / gpus + v->start_up_ns;
	v->grade = saves_grade(i, loss);
	set_spot(v, s, loss);
	copy_segments(v, i, &s->mem);
	s->saves = v;
}

/* It may have begun with a save of another run of its job. */
static bool is_restart(const struct view_summary *s, const struct view_insurance *i)
{
	bool job = view_job_known(&s->job);

	for (size_t k = 0; k < s->labels; k++)
		job = job || !strcmp(s->label[k].key, "job");
	return job && i->chain.openings > 0;
}

int summary_make_saves(struct view_summary *s, const struct view_trace *t)
{
	struct view_insurance i;
	bool told = t && s->window == ANA_WINDOW_JOB && !view_kind_serves(s->kind.kind);
	int err = told ? saves_of_run(&i, t, s->result) : 1;

	if (err)
		return err < 0 ? err : 0;
	if (i.saves || i.untold || i.writtens || i.kills || i.failures ||
	    i.instants_ns >= TOLD_NS || is_restart(s, &i))
		take(s, &i);
	saves_insure_fini(&i);
	return 0;
}

static void put_grade(struct base_jsonout *j, const struct view_saves *v)
{
	char grade[2] = { v->grade, 0 };

	base_json_string(j, "grade", v->grade ? grade : NULL);
}

static void put_spot(struct base_jsonout *j, const struct view_saves *v)
{
	if (!v->has_spot) {
		base_json_null(j, "spot");
		return;
	}
	base_json_object(j, "spot");
	base_json_usd(j, "usd_per_gpu_hour", v->spot.nano_usd_per_hour, true);
	base_json_string(j, "label", v->spot.label);
	base_json_string(j, "source", v->spot.source);
	base_json_string(j, "date", v->spot.date);
	if (v->spot_pays_ns >= 0)
		base_json_int(j, "pays_ns", v->spot_pays_ns);
	else
		base_json_null(j, "pays_ns");
	base_json_end(j);
}

static void put_segment(struct base_jsonout *j, const struct saves_segment *s)
{
	base_json_flat_object(j, NULL);
	base_json_int(j, "start_ns", s->start_ns);
	base_json_int(j, "end_ns", s->end_ns);
	base_json_string(j, "end", saves_end_names[s->end]);
	if (s->covered_ns > s->start_ns)
		base_json_int(j, "saved_until_ns", s->covered_ns);
	else
		base_json_null(j, "saved_until_ns");
	if (s->opened)
		base_json_int(j, "opened_segment", s->opened_segment);
	else
		base_json_null(j, "opened_segment");
	base_json_end(j);
}

static void put_parts(struct base_jsonout *j, const struct view_saves *v, bool priced)
{
	base_json_object(j, "parts");
	for (int p = 0; p < SAVES_PARTS; p++) {
		base_json_flat_object(j, saves_part_names[p]);
		base_json_int(j, "ns", v->ns[p]);
		base_json_usd(j, "usd", v->nano_usd[p], priced);
		base_json_end(j);
	}
	base_json_end(j);
}

void summary_put_saves(struct base_jsonout *j, const struct view_summary *s)
{
	const struct view_saves *v = s->saves;

	if (!v)
		return;
	base_json_object(j, "saves");
	summary_put_fields(j, summary_saves, v);
	base_json_string(j, "state_small",
			 v->state.small ? saves_small_names[v->state.small] : NULL);
	put_parts(j, v, s->cost.known);
	base_json_string(j, "loss_ns2", v->loss2);
	base_json_usd(j, "mean_loss_usd", v->mean_nano_usd, v->mean_nano_usd >= 0);
	base_json_usd(j, "now_usd", v->now_nano_usd, v->now_nano_usd >= 0);
	base_json_bool(j, "kills_seen", v->between_seen);
	put_grade(j, v);
	put_spot(j, v);
	base_json_array(j, "segments");
	for (size_t i = 0; i < v->segments; i++)
		put_segment(j, &v->segment[i]);
	base_json_end(j);
	saves_chain_put(j, &v->chain);
	base_json_end(j);
}

static void read_spot(struct view_saves *v, const struct base_json *n)
{
	v->has_spot = n && n->type == BASE_JSON_OBJECT;
	v->spot_pays_ns = summary_within(n, "pays_ns", -1, -1, INT64_MAX);
	v->spot.known = v->has_spot;
	v->spot.nano_usd_per_hour = summary_usd(n, "usd_per_gpu_hour", 0);
	snprintf(v->spot.label, sizeof(v->spot.label), "%.90s", base_json_get_text(n, "label", ""));
	snprintf(v->spot.source, sizeof(v->spot.source), "%.150s",
		 base_json_get_text(n, "source", ""));
	snprintf(v->spot.date, sizeof(v->spot.date), "%.30s", base_json_get_text(n, "date", ""));
}

static void read_segments(struct view_summary *s, struct view_saves *v,
			  const struct base_json *segments)
{
	v->segment = base_arena_array(&s->mem, VIEW_SEGMENTS_MAX, sizeof(*v->segment));
	BASE_JSON_EACH(n, segments) {
		struct saves_segment *k = &v->segment[v->segments];

		if (v->segments == VIEW_SEGMENTS_MAX)
			return;
		k->start_ns = summary_stamp(n, "start_ns");
		k->end_ns = summary_stamp(n, "end_ns");
		k->end = (enum saves_end)summary_by_name(base_json_get_text(n, "end", ""),
							 saves_end_names, SAVES_ENDS,
							 SAVES_END_ORDERED);
		k->covered_ns = base_max(summary_stamp(n, "saved_until_ns"), k->start_ns);
		k->opened_segment =
			(uint32_t)summary_within(n, "opened_segment", UINT32_MAX, 0, UINT32_MAX);
		k->opened = k->opened_segment != UINT32_MAX;
		v->segments++;
	}
}

void summary_read_saves(struct view_summary *s, const struct base_json *saves)
{
	struct view_saves *v;
	const struct base_json *parts = base_json_get(saves, "parts");

	/* What an older one told of inference is no loss. */
	if (!saves || saves->type != BASE_JSON_OBJECT || view_kind_serves(s->kind.kind))
		return;
	v = base_arena_alloc(&s->mem, sizeof(*v));
	summary_read_fields(s, saves, summary_saves, v);
	for (int p = 0; p < SAVES_PARTS; p++) {
		const struct base_json *n = base_json_get(parts, saves_part_names[p]);

		v->ns[p] = summary_within(n, "ns", 0, -SUMMARY_TOTAL_MAX, SUMMARY_TOTAL_MAX);
		v->nano_usd[p] = summary_usd(n, "usd", 0);
	}
	v->state.small =
		(enum live_small)summary_by_name(base_json_get_text(saves, "state_small", ""),
						 saves_small_names, LIVE_SMALLS, LIVE_SMALL_NOT);
	v->loss2 = summary_text_or_empty(s, saves, "loss_ns2");
	v->mean_nano_usd = summary_usd(saves, "mean_loss_usd", -1);
	v->now_nano_usd = summary_usd(saves, "now_usd", -1);
	v->between_seen = base_json_get_bool(saves, "kills_seen", false);
	v->grade = base_json_get_text(saves, "grade", "")[0];
	read_spot(v, base_json_get(saves, "spot"));
	read_segments(s, v, base_json_get(saves, "segments"));
	if (!saves_chain_read(&v->chain, base_json_get(saves, "chain")))
		v->chain = (struct saves_chain){ 0 };
	s->saves = v;
}
