/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of two runs beside each other: one row of the table here is one row of every page. */
#include "findings/loader.h"
#include "compare_priv.h"

typedef bool take(const struct view_summary *s, int64_t *v);

static bool usd_run(const struct view_summary *s, int64_t *v)
{
	*v = s->cost.total;
	return s->cost.known;
}

static bool usd_wasted(const struct view_summary *s, int64_t *v)
{
	*v = s->cost.wasted;
	return s->cost.known;
}

static bool usd_starved(const struct view_summary *s, int64_t *v)
{
	*v = s->cost.starved;
	return s->cost.known;
}

static bool usd_step(const struct view_summary *s, int64_t *v)
{
	*v = compare_per_step(s, s->cost.total);
	return s->cost.known && s->result->steps;
}

/* Start-up and teardown do not grow with the steps. */
static bool usd_step_working(const struct view_summary *s, int64_t *v)
{
	*v = compare_per_step(s,
			      s->cost.total - ana_class_sum(s->cost.classes, ana_class_is_outside));
	return s->cost.known && s->result->steps;
}

static bool wall_run(const struct view_summary *s, int64_t *v)
{
	*v = s->wall_ns;
	return s->wall_ns > 0;
}

static bool gpu_run(const struct view_summary *s, int64_t *v)
{
	*v = s->result->gpu_ns;
	return true;
}

static bool gpu_step(const struct view_summary *s, int64_t *v)
{
	*v = compare_per_step(s, s->result->gpu_ns);
	return s->result->steps > 0;
}

static bool gpu_step_working(const struct view_summary *s, int64_t *v)
{
	*v = compare_per_step(s, s->result->gpu_ns -
					 ana_class_sum(s->result->classes, ana_class_is_outside));
	return s->result->steps > 0;
}

static bool steps(const struct view_summary *s, int64_t *v)
{
	*v = s->result->steps > INT64_MAX ? INT64_MAX : (int64_t)s->result->steps;
	return s->result->steps > 0;
}

static bool step_median(const struct view_summary *s, int64_t *v)
{
	*v = s->result->step_median_ns;
	return s->result->steps && *v >= 0;
}

static bool step_p95(const struct view_summary *s, int64_t *v)
{
	*v = s->result->step_p95_ns;
	return s->result->steps && *v >= 0;
}

static bool share_busy(const struct view_summary *s, int64_t *v)
{
	*v = base_ppm(view_busy_ns(s), s->result->gpu_ns);
	return s->result->gpu_ns > 0;
}

static bool share_starved(const struct view_summary *s, int64_t *v)
{
	*v = base_ppm(s->starved_ns, s->result->gpu_ns);
	return s->result->gpu_ns > 0;
}

static bool share_starved_working(const struct view_summary *s, int64_t *v)
{
	int64_t working = view_working_ns(s);

	*v = base_ppm(s->starved_ns, working);
	return working > 0;
}

static bool share_wasted(const struct view_summary *s, int64_t *v)
{
	*v = base_ppm(s->wasted_ns, s->result->gpu_ns);
	return s->result->gpu_ns > 0;
}

static bool workers(const struct view_summary *s, int64_t *v)
{
	*v = view_loader_workers(s);
	return *v >= 0;
}

static bool workers_needed(const struct view_summary *s, int64_t *v)
{
	*v = s->loader.need.needed;
	return s->loader.has_need;
}

static bool prefetch(const struct view_summary *s, int64_t *v)
{
	const struct ana_loader_facts *l = view_loader_facts(s);

	*v = l ? l->prefetch : 0;
	return l && l->known & ANA_LOADER_PREFETCH;
}

static bool batch_size(const struct view_summary *s, int64_t *v)
{
	const struct ana_loader_facts *l = view_loader_facts(s);

	*v = l ? l->batch_size : 0;
	return l && l->known & ANA_LOADER_BATCH;
}

static bool batch_ns(const struct view_summary *s, int64_t *v)
{
	const struct ana_loader_facts *l = view_loader_facts(s);

	*v = s->loader.fetch_ns;
	return l && l->made && *v >= 0;
}

static bool exposed_batch(const struct view_summary *s, int64_t *v)
{
	const struct ana_result *r = s->result;

	*v = r->batches ? base_div_even(r->loader_exposed_ns, (__int128)r->batches) : 0;
	return r->batches > 0;
}

static bool batch_bytes(const struct view_summary *s, int64_t *v)
{
	*v = s->loader.batch_bytes;
	return *v > 0;
}

static bool read_rate(const struct view_summary *s, int64_t *v)
{
	*v = s->loader.read_bytes_per_s;
	return s->loader.batch_bytes > 0 && *v >= 0;
}

static const struct {
	const char *id, *title;
	enum view_figure figure;
	enum view_part part;
	take *take;
} rows[] = {
	{ "usd_step", "cost per step", VIEW_FIGURE_USD, VIEW_PART_USD_RUN, usd_step },
	{ "usd_step_working", "... without start-up", VIEW_FIGURE_USD, VIEW_PART_USD_STEP,
	  usd_step_working },
	{ "usd_run", "cost of the run", VIEW_FIGURE_USD, VIEW_PART_USD_RUN, usd_run },
	{ "usd_wasted", "of it wasted", VIEW_FIGURE_USD, VIEW_PART_USD_RUN, usd_wasted },
	{ "usd_starved", "of it starved", VIEW_FIGURE_USD, VIEW_PART_USD_RUN, usd_starved },
	{ "share_starved_working", "GPUs waited for input", VIEW_FIGURE_PPM, VIEW_PART_SHARE,
	  share_starved_working },
	{ "share_starved", "... of all held time", VIEW_FIGURE_PPM, VIEW_PART_SHARE,
	  share_starved },
	{ "share_wasted", "wasted, of held time", VIEW_FIGURE_PPM, VIEW_PART_WASTE, share_wasted },
	{ "share_busy", "busy, of held time", VIEW_FIGURE_PPM, VIEW_PART_SHARE, share_busy },
	{ "steps", "steps", VIEW_FIGURE_COUNT, VIEW_PART_FACT, steps },
	{ "step_median", "median step", VIEW_FIGURE_NS, VIEW_PART_STEP, step_median },
	{ "step_p95", "p95 of a step", VIEW_FIGURE_NS, VIEW_PART_STEP, step_p95 },
	{ "gpu_step", "GPU time per step", VIEW_FIGURE_NS, VIEW_PART_GPU_RUN, gpu_step },
	{ "gpu_step_working", "... without start-up", VIEW_FIGURE_NS, VIEW_PART_GPU_STEP,
	  gpu_step_working },
	{ "gpu_run", "GPU time of the run", VIEW_FIGURE_NS, VIEW_PART_GPU_RUN, gpu_run },
	{ "wall_run", "wall time of the run", VIEW_FIGURE_NS, VIEW_PART_RUN, wall_run },
	{ "workers", "loader workers", VIEW_FIGURE_COUNT, VIEW_PART_FACT, workers },
	{ "workers_needed", "workers needed", VIEW_FIGURE_COUNT, VIEW_PART_LOADER, workers_needed },
	{ "prefetch", "prefetch factor", VIEW_FIGURE_COUNT, VIEW_PART_FACT, prefetch },
	{ "batch_size", "batch size", VIEW_FIGURE_COUNT, VIEW_PART_FACT, batch_size },
	{ "batch_ns", "making a batch", VIEW_FIGURE_NS, VIEW_PART_LOADER, batch_ns },
	{ "exposed_batch", "GPU waited per batch", VIEW_FIGURE_NS, VIEW_PART_LOADER,
	  exposed_batch },
	{ "batch_bytes", "read per batch", VIEW_FIGURE_BYTES, VIEW_PART_LOADER, batch_bytes },
	{ "read_rate", "read per second", VIEW_FIGURE_BYTES, VIEW_PART_LOADER, read_rate },
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static void set(struct view_measure *m, int i, bool known, int64_t v)
{
	m->known[i] = known;
	m->value[i] = known ? compare_bounded(v) : 0;
}

static void compare(struct view_measure *m, const struct view_pair *p)
{
	m->comparable = m->known[0] && m->known[1] && !p->why[m->part];
	if (!m->comparable)
		return;
	m->difference = m->value[1] - m->value[0];
	m->has_change = m->value[0] > 0;
	m->change_ppm = base_ppm(m->difference, m->value[0]);
}

/* Of all loaders, where nobody knows which train: what changed is not known. */
static bool is_of_any(const struct view_outcome *o)
{
	return o->source == VIEW_OUTCOME_LOADER && o->bound == VIEW_OUTCOME_AT_MOST;
}

/*
 * What a unit cost is what was paid for it, whatever the GPUs, their price and the number of steps:
 * that is what such runs are held against each other for. Only of other windows it is another sum.
 */
static void add_outcome(struct pairing *g, const char *unit)
{
	struct view_measure *m = &g->p->measure[g->p->measures++];
	struct base_arena *mem = &g->c->mem;
	char id[VIEW_UNIT_METRIC];

	*m = (struct view_measure){ .id = base_arena_text(mem, view_unit_metric(id, unit)),
				    .figure = VIEW_FIGURE_USD,
				    .part = VIEW_PART_USD_UNIT };
	for (int i = 0; i < 2; i++) {
		const struct view_outcome *o = view_outcome_of(g->s[i], unit);

		if (o)
			m->title = base_arena_printf(mem, "cost per %s", view_outcome_each(o, mem));
		set(m, i, o && o->nano_usd >= 0 && !is_of_any(o), o ? o->nano_usd : 0);
	}
	compare(m, g->p);
}

static void add_outcomes(struct pairing *g)
{
	for (size_t i = 0; i < g->s[0]->outcomes; i++)
		add_outcome(g, g->s[0]->outcome[i].unit);
	for (size_t i = 0; i < g->s[1]->outcomes; i++)
		if (!view_outcome_of(g->s[0], g->s[1]->outcome[i].unit))
			add_outcome(g, g->s[1]->outcome[i].unit);
}

void compare_measures(struct pairing *g)
{
	struct view_pair *p = g->p;

	p->measure =
		base_arena_array(&g->c->mem, ROWS + 2 * VIEW_OUTCOMES_MAX, sizeof(*p->measure));
	for (size_t r = 0; r < ROWS; r++) {
		struct view_measure *m = &p->measure[p->measures++];

		*m = (struct view_measure){ .id = rows[r].id,
					    .title = rows[r].title,
					    .figure = rows[r].figure,
					    .part = rows[r].part };
		for (int i = 0; i < 2; i++) {
			int64_t v = 0;
			bool known = rows[r].take(g->s[i], &v);

			set(m, i, known, v);
		}
		compare(m, p);
	}
	add_outcomes(g);
}
