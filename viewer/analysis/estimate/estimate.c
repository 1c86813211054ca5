/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is seen on the way: which time is to be estimated, what the host did in it, and what that
 * came to where all was recorded.
 */
#include "estimate_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS_MAX 4096
#define CELLS_MAX 65536u
#define JOINED_NS INT64_C(50000000) /* readings so close follow on each other */
#define LONG_NS INT64_C(5000000) /* of a CPU's work: a piece as long is work of its own */

struct ana_estimator {
	const struct ana_plan *plan;
	struct ana_estimate_gpu *gpu; /* by device */
};

static int given_up(const struct ana_plan *p, const struct ana_device *d,
		    struct ana_estimate_gpu *g)
{
	struct ana_spans *s = &g->given_up;
	size_t u, i;
	int err = 0;

	for (u = 0; u < d->uses; u++) {
		const struct view_stream *v = p->source[d->use[u].source].s;

		for (i = 0; i < v->losses && !err; i++) {
			const Wire__LossSpan *l = v->loss[i];

			if ((l->reason != WIRE__LOSS_REASON__LOSS_GOVERNOR &&
			     l->reason != WIRE__LOSS_REASON__LOSS_FOREIGN) ||
			    (l->has_device && l->device != d->use[u].ordinal))
				continue;
			g->governed |= l->reason == WIRE__LOSS_REASON__LOSS_GOVERNOR;
			err = ana_spans_add(s, ana_clamp_time(l->start_ns),
					    ana_clamp_time(l->end_ns));
		}
	}
	ana_spans_merge(s);
	return err;
}

/* Each time once, though several may have asked about it. */
static size_t once(struct view_meter *m, size_t n)
{
	int64_t until = INT64_MIN;
	size_t i, kept = 0;

	for (i = 0; i < n; i++) {
		int64_t start = base_max(m[i].start_ns, until), ns = m[i].end_ns - start;

		if (ns <= 0 || ns < (m[i].end_ns - m[i].start_ns) / 10 * 9)
			continue;
		m[kept] = m[i];
		m[kept].start_ns = start;
		until = m[kept++].end_ns;
	}
	return kept;
}

/* The state of most of [start, end). */
static uint8_t top_of(struct ana_estimate_gpu *g, int64_t start, int64_t end)
{
	int64_t ns[ANA_STATES] = { 0 }, until;
	uint8_t top = 0;

	for (int64_t t = start; t < end; t = until) {
		uint8_t state = ana_states_at(&g->states, &g->state_at, t, &until);

		until = base_min(until, end);
		ns[state] += until - t;
	}
	for (uint8_t s = 1; s < ANA_STATES; s++)
		if (ns[s] > ns[top])
			top = s;
	return top;
}

static bool joined(const struct view_meter *m, size_t i)
{
	return i && m[i].start_ns - m[i - 1].end_ns < JOINED_NS;
}

/* Of too many readings every so manieth; none of these follows on another. */
static int make_cells(struct ana_estimate_gpu *g, struct ana_device *d, struct view_meter *m,
		      size_t n)
{
	size_t i, every = (n + CELLS_MAX - 1) / CELLS_MAX;

	if (!n)
		return 0;
	g->cell = calloc(n / every + 1, sizeof(*g->cell));
	if (!g->cell)
		return -ENOMEM;
	for (i = 0; i < n; i += every)
		g->cell[g->cells++] = (struct ana_estimate_cell){
			.start = m[i].start_ns,
			.end = m[i].end_ns,
			.busy = m[i].busy,
			.sm = m[i].sm,
			.has_sm = m[i].has_sm,
			.gpm = m[i].gpm,
			.joined = every == 1 && joined(m, i),
			.top = top_of(g, m[i].start_ns, m[i].end_ns),
			.held_ns = ana_spans_within(&d->held, m[i].start_ns, m[i].end_ns),
		};
	return 0;
}

static int read_meters(struct ana_estimate_gpu *g, const struct ana_plan *p, struct ana_device *d)
{
	struct view_meter *m;
	size_t n;
	int err = ana_plan_meters(p, d, &m, &n);

	if (!err)
		err = make_cells(g, d, m, once(m, n));
	free(m);
	return err;
}

/* Adds [start, end) to what was seen, or takes it from there. */
static void see(struct ana_estimate_gpu *g, int64_t start, int64_t end, uint8_t state, int64_t by)
{
	while (start < end) {
		size_t i = (size_t)((start - g->origin_ns) / g->block_ns);
		int64_t until = base_min(end, g->origin_ns + (int64_t)(i + 1) * g->block_ns);

		g->block[i].seen[state] += by * (until - start);
		start = until;
	}
}

static int make_blocks(struct ana_estimate_gpu *g, const struct ana_device *d)
{
	const struct ana_spans *held = &d->held;
	int64_t len, until;
	size_t i;

	g->origin_ns = held->span[0].start;
	len = held->span[held->count - 1].end - g->origin_ns;
	g->block_ns = base_max(ANA_ESTIMATE_BLOCK_NS, (len + BLOCKS_MAX - 1) / BLOCKS_MAX);
	g->blocks = (size_t)(len / g->block_ns) + 1;
	g->block = calloc(g->blocks, sizeof(*g->block));
	if (!g->block)
		return -ENOMEM;
	for (i = 0; i < held->count; i++)
		for (int64_t t = held->span[i].start; t < held->span[i].end; t = until) {
			uint8_t state = ana_states_at(&g->states, &g->state_at, t, &until);

			until = base_min(until, held->span[i].end);
			see(g, t, until, state, 1);
		}
	return 0;
}

/* What the clock's steps took from or gave to the axis, no meter knows. */
static bool can(const struct ana_device *d)
{
	return !d->imported && d->held.count && !d->clock_ns;
}

static int begin_gpu(struct ana_estimator *e, size_t i, struct wire_scratch *scratch)
{
	struct ana_device *d = &e->plan->device[i];
	struct ana_estimate_gpu *g = &e->gpu[i];
	int err;

	if (!can(d))
		return 0;
	err = given_up(e->plan, d, g);
	if (err || !g->given_up.count)
		return err;
	err = ana_states_make(&g->states, e->plan, d, scratch);
	if (!err)
		err = read_meters(g, e->plan, d);
	if (!err)
		err = make_blocks(g, d);
	g->on = !err;
	return err;
}

int ana_estimator_begin(struct ana_estimator **out, const struct ana_plan *p,
			const struct ana_options *o)
{
	struct ana_estimator *e = calloc(1, sizeof(*e));
	struct wire_scratch *scratch = wire_scratch_new();
	bool any = false;
	int err = 0;

	*out = NULL;
	if (e) {
		e->plan = p;
		e->gpu = calloc(p->devices ? p->devices : 1, sizeof(*e->gpu));
	}
	if (!e || !e->gpu || !scratch)
		err = -ENOMEM;
	for (size_t i = 0; !err && o->window == ANA_WINDOW_JOB && i < p->devices; i++) {
		err = begin_gpu(e, i, scratch);
		any |= e->gpu[i].on;
	}
	wire_scratch_free(scratch);
	if (err || !any)
		ana_estimator_free(e);
	else
		*out = e;
	return err;
}

void ana_estimator_free(struct ana_estimator *e)
{
	if (!e)
		return;
	for (size_t i = 0; e->gpu && i < e->plan->devices; i++) {
		ana_spans_fini(&e->gpu[i].given_up);
		ana_states_fini(&e->gpu[i].states);
		free(e->gpu[i].cell);
		free(e->gpu[i].block);
	}
	free(e->gpu);
	free(e);
}

/* The first cell that ends behind @t; looks mostly move forward. */
static size_t cell_at(struct ana_estimate_gpu *g, int64_t t)
{
	size_t low = 0, high = g->cells;

	if (g->cell_at < g->cells && g->cell[g->cell_at].end > t &&
	    (!g->cell_at || g->cell[g->cell_at - 1].end <= t))
		return g->cell_at;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (g->cell[mid].end > t)
			high = mid;
		else
			low = mid + 1;
	}
	return g->cell_at = low;
}

static void add_to_cells(struct ana_estimate_gpu *g, int64_t start, int64_t end, bool dark)
{
	for (size_t i = cell_at(g, start); i < g->cells && g->cell[i].start < end; i++) {
		int64_t ns = base_min(end, g->cell[i].end) - base_max(start, g->cell[i].start);

		g->cell[i].idle_ns += ns;
		g->cell[i].dark_ns += dark ? ns : 0;
	}
}

/* [start, end), in which the host was in one state, is to be estimated. */
static void add_target(struct ana_estimate_gpu *g, int64_t start, int64_t end, uint8_t state)
{
	g->target_ns += end - start;
	g->target[state] += end - start;
	for (size_t i = cell_at(g, start); i < g->cells && g->cell[i].start < end; i++) {
		int64_t ns = base_min(end, g->cell[i].end) - base_max(start, g->cell[i].start);

		g->cell[i].target_ns += ns;
		g->cell[i].held[state] += ns;
	}
}

/* Calls come before ranges, and a device's pauses are its own. */
static enum ana_class in_a_phase(const struct ana_piece *p)
{
	bool call = p->class == ANA_HOST_DISPATCH || p->class == ANA_HOST_SYNC ||
		    p->class == ANA_HOST_ALLOC || p->class == ANA_HOST_WARMUP;

	return ana_class_is_device(p->class) || (call && p->confidence == ANA_HIGH)
		       ? p->class
		       : ANA_HOST_PHASE;
}

static void add_idle(struct ana_estimate_gpu *g, int64_t start, int64_t end, uint8_t state,
		     const struct ana_piece *p)
{
	enum ana_class class = p->class;

	g->weight[state][class] += end - start;
	if (state > ANA_STATE_PHASE && !ana_estimate_unknown((int)class))
		g->phase[in_a_phase(p)] += end - start;
	while (start < end) {
		size_t i = (size_t)((start - g->origin_ns) / g->block_ns);
		int64_t until = base_min(end, g->origin_ns + (int64_t)(i + 1) * g->block_ns);

		g->block[i].idle[state] += until - start;
		g->block[i].told[class] += until - start;
		start = until;
	}
}

/* Part of a piece, in which the host was in one state. */
static void add_part(struct ana_estimate_gpu *g, const struct ana_piece *p, int64_t start,
		     int64_t end, uint8_t state)
{
	bool unobserved = p->class == ANA_EXCLUDED_UNOBSERVED;
	int64_t until;

	if (unobserved || p->class == ANA_DEVICE_LOST || !p->gap)
		see(g, start, end, state, -1);
	else
		add_idle(g, start, end, state, p);
	for (; unobserved && start < end; start = until) {
		bool inside = ana_spans_at(&g->given_up, start, &until);

		until = base_min(until, end);
		if (inside)
			add_target(g, start, until, state);
	}
}

/* How long gaps are tells how coarse work is. */
static void note_gap(struct ana_estimate_gpu *g, const struct ana_piece *p)
{
	if (!p->gap || p->class == ANA_EXCLUDED_UNOBSERVED || p->class == ANA_DEVICE_LOST)
		return;
	g->gaps += p->start_ns == p->gap_start_ns;
	ana_sum(&g->gap_ns, p->end_ns - p->start_ns);
}

/* Pieces from half to twice that length would be of the other class if they took a little else. */
static void note_length(struct ana_estimate_gpu *g, const struct ana_piece *p)
{
	int64_t ns = p->end_ns - p->start_ns;

	if (!p->gap || !ana_estimate_of_pair((int)p->class))
		return;
	g->pair_ns += ns;
	g->near_ns += ns >= LONG_NS / 2 && ns < 2 * LONG_NS ? ns : 0;
}

void ana_estimator_piece(struct ana_estimator *e, const struct ana_piece *p)
{
	struct ana_estimate_gpu *g;
	int64_t t, end, until;

	if (p->gpu >= e->plan->devices || !e->gpu[p->gpu].on)
		return;
	g = &e->gpu[p->gpu];
	t = base_max(p->start_ns, g->origin_ns);
	end = base_min(p->end_ns, g->origin_ns + (int64_t)g->blocks * g->block_ns);
	if (t >= end)
		return;
	note_gap(g, p);
	note_length(g, p);
	add_to_cells(g, t, end, p->class == ANA_EXCLUDED_UNOBSERVED || p->class == ANA_DEVICE_LOST);
	for (; t < end; t = until) {
		uint8_t state = ana_states_at(&g->states, &g->state_at, t, &until);

		until = base_min(until, end);
		add_part(g, p, t, until, state);
	}
}

static void sum_part(struct ana_estimated_part *to, const struct ana_estimated_part *p)
{
	ana_sum(&to->ns, p->ns);
	ana_sum(&to->low_ns, p->low_ns);
	ana_sum(&to->high_ns, p->high_ns);
}

static void sum(struct ana_estimated *to, const struct ana_estimated *g)
{
	ana_sum(&to->of_ns, g->of_ns);
	ana_sum(&to->metered_ns, g->metered_ns);
	ana_sum(&to->unknown_ns, g->unknown_ns);
	sum_part(&to->busy, &g->busy);
	for (int c = 0; c < ANA_CLASSES; c++)
		sum_part(&to->classes[c], &g->classes[c]);
}

int ana_estimator_finish(struct ana_estimator *e, const struct ana_options *o, struct ana_result *r)
{
	struct ana_allotted *a = malloc(sizeof(*a));
	struct ana_estimated all = { 0 }, one;
	int err = 0;

	if (!a)
		return -ENOMEM;
	for (size_t i = 0; i < e->plan->devices && !err; i++) {
		if (!e->gpu[i].on || !e->gpu[i].target_ns)
			continue;
		memset(&one, 0, sizeof(one));
		ana_estimate_allot(&e->gpu[i], a);
		ana_estimate_doubt(&e->gpu[i], a, &one);
		sum(&all, &one);
		if (o->on_estimate)
			err = ana_estimate_tell(&e->gpu[i], a, &one, (uint32_t)i, o);
	}
	if (all.of_ns > all.unknown_ns)
		r->estimated = all;
	free(a);
	return err;
}
