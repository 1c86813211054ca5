/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lane is a run of the job with what it alone has told; each of its segments is a strand. Where
 * several strands had a GPU at once, what became of that time is told if it is the same of all.
 */
#include "beside.h"

#include <errno.h>
#include <stdlib.h>

struct lane {
	uint32_t part;
	struct saves_input in; /* whose arrays are these: */
	struct live_save *save;
	struct live_load *load;
	struct live_written *written;
	struct saves_process *process;
	struct saves_gpu *gpu;
	struct ana_spans *held; /* of each GPU */
	struct live_checkpoints c;
};

struct strand {
	struct saves_segment s;
	uint32_t lane;
	int64_t word_ns; /* the last one of its processes */
	bool later; /* another began after that */
	bool crossed; /* another was there at the same time */
};

struct beside {
	const struct saves_input *in;
	struct lane *lane;
	size_t lanes;
	struct strand *strand; /* by when they began */
	size_t strands;
};

struct edge { /* @by more strands that have the GPU call it @part */
	int64_t t_ns;
	enum saves_part part;
	int by;
};

/* ---- lanes ---- */

static bool are_beside(const struct saves_input *in, const struct view_insurance *o)
{
	uint32_t *part = calloc(o->segments + 1, sizeof(*part));
	bool *seen = calloc(o->segments + 1, sizeof(*seen)), beside = false;

	for (size_t i = 0; part && seen && i < in->processes && !beside; i++) {
		const struct saves_process *p = &in->process[i];
		size_t k = p->holds && p->end_ns > p->start_ns ? saves_segment_at(o, p->start_ns)
							       : SIZE_MAX;

		if (k == SIZE_MAX)
			continue;
		beside = seen[k] && part[k] != p->part;
		part[k] = p->part;
		seen[k] = true;
	}
	free(part);
	free(seen);
	return beside;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* One for each run that held a GPU. */
static int make_lanes(struct beside *w)
{
	uint32_t *part = calloc(w->in->processes + 1, sizeof(*part));
	size_t n = 0;

	for (size_t i = 0; part && i < w->in->processes; i++)
		if (w->in->process[i].holds)
			part[n++] = w->in->process[i].part;
	if (part)
		qsort(part, n, sizeof(*part), by_number);
	w->lane = calloc(n + 1, sizeof(*w->lane));
	for (size_t i = 0; part && w->lane && i < n; i++)
		if (!i || part[i] != part[i - 1])
			w->lane[w->lanes++].part = part[i];
	free(part);
	return part && w->lane ? 0 : -ENOMEM;
}

static bool is_of(const struct lane *l, const struct saves_input *all, uint32_t process)
{
	return process < all->processes && all->process[process].part == l->part;
}

static int make_room(struct lane *l, const struct saves_input *all)
{
	size_t processes = 1, saves = 1, loads = 1, writtens = 1;

	for (size_t i = 0; i < all->processes; i++)
		processes += is_of(l, all, (uint32_t)i);
	for (size_t i = 0; i < all->saves; i++)
		saves += is_of(l, all, all->save[i].process);
	for (size_t i = 0; i < all->loads; i++)
		loads += is_of(l, all, all->load[i].process);
	for (size_t i = 0; i < all->writtens; i++)
		writtens += is_of(l, all, all->written[i].process);
	l->save = calloc(saves, sizeof(*l->save));
	l->load = calloc(loads, sizeof(*l->load));
	l->written = calloc(writtens, sizeof(*l->written));
	l->process = calloc(processes, sizeof(*l->process));
	l->gpu = calloc(all->gpus + 1, sizeof(*l->gpu));
	l->held = calloc(all->gpus + 1, sizeof(*l->held));
	return l->save && l->load && l->written && l->process && l->gpu && l->held ? 0 : -ENOMEM;
}

/* What is told keeps the numbers that its processes have in all: they only tell them apart. */
static void take_told(struct lane *l, const struct saves_input *all)
{
	for (size_t i = 0; i < all->processes; i++)
		if (is_of(l, all, (uint32_t)i))
			l->process[l->in.processes++] = all->process[i];
	for (size_t i = 0; i < all->saves; i++)
		if (is_of(l, all, all->save[i].process))
			l->save[l->in.saves++] = all->save[i];
	for (size_t i = 0; i < all->loads; i++)
		if (is_of(l, all, all->load[i].process))
			l->load[l->in.loads++] = all->load[i];
	for (size_t i = 0; i < all->writtens; i++)
		if (is_of(l, all, all->written[i].process))
			l->written[l->in.writtens++] = all->written[i];
	l->in.save = l->save;
	l->in.load = l->load;
	l->in.written = l->written;
	l->in.process = l->process;
	l->in.gpu = l->gpu;
	l->in.gpus = all->gpus;
	l->in.over = all->over;
}

/* When its last kernels came and ended is known of a GPU of its own; of others it was no later. */
static int take_gpu(struct lane *l, const struct saves_gpu *all, size_t g)
{
	struct ana_spans *held = &l->held[g];
	int err = 0;

	for (size_t i = 0; i < all->lives && !err; i++)
		if (all->life[i].part == l->part)
			err = ana_spans_add(held, all->life[i].start_ns, all->life[i].end_ns);
	ana_spans_merge(held);
	l->gpu[g] = (struct saves_gpu){ .held = held->span,
					.helds = held->count,
					.held_ns = ana_spans_measure(held),
					.submitted_ns = held->count ? all->submitted_ns : 0,
					.last_end_ns = held->count ? all->last_end_ns : 0 };
	return err;
}

static int fill_lane(struct lane *l, const struct saves_input *all)
{
	int err = make_room(l, all);

	if (!err)
		take_told(l, all);
	for (size_t g = 0; g < all->gpus && !err; g++)
		err = take_gpu(l, &all->gpu[g], g);
	return err ? err : live_checkpoints_make(l->save, l->in.saves, &l->c);
}

/* ---- strands ---- */

static int64_t word_of(const struct lane *l, const struct saves_segment *s, int64_t before_ns)
{
	int64_t word = s->start_ns;

	for (size_t i = 0; i < l->in.processes; i++) {
		const struct saves_process *p = &l->process[i];

		if (p->holds && p->start_ns >= s->start_ns && p->start_ns < before_ns)
			word = base_max(word, base_min(p->word_ns, p->end_ns));
	}
	return word;
}

/* A lane by itself has no others beside it: this goes no deeper. */
static int add_strands(struct beside *w, uint32_t lane)
{
	const struct lane *l = &w->lane[lane];
	struct view_insurance o;
	struct strand *more;
	int err = saves_insure(&l->in, &o);

	if (err)
		return err;
	more = realloc(w->strand, (w->strands + o.segments + 1) * sizeof(*more));
	w->strand = more ? more : w->strand;
	for (size_t k = 0; more && k < o.segments; k++) {
		struct strand *x = &w->strand[w->strands++];
		bool last = k + 1 == o.segments;

		*x = (struct strand){ .s = o.segment[k], .lane = lane };
		x->s.redone_from_ns = x->s.maybe_from_ns = LIVE_NEVER;
		x->s.opened = false;
		x->word_ns = word_of(l, &x->s, last ? INT64_MAX : o.segment[k + 1].start_ns);
	}
	saves_insure_fini(&o);
	return more ? 0 : -ENOMEM;
}

static int by_start(const void *a, const void *b)
{
	const struct strand *x = a, *y = b;

	if (x->s.start_ns != y->s.start_ns)
		return x->s.start_ns < y->s.start_ns ? -1 : 1;
	return x->lane < y->lane ? -1 : x->lane > y->lane;
}

static void compare(struct beside *w)
{
	int64_t newest = w->strands ? w->strand[w->strands - 1].s.start_ns : 0;
	int64_t until = INT64_MIN;

	for (size_t i = 0; i < w->strands; i++) {
		struct strand *x = &w->strand[i];

		x->later = newest > x->word_ns;
		x->crossed = x->s.start_ns < until ||
			     (i + 1 < w->strands && w->strand[i + 1].s.start_ns < x->s.end_ns);
		until = base_max(until, x->s.end_ns);
	}
}

static int make_strands(struct beside *w)
{
	int err = 0;

	for (size_t i = 0; i < w->lanes && !err; i++) {
		err = fill_lane(&w->lane[i], w->in);
		if (!err)
			err = add_strands(w, (uint32_t)i);
	}
	if (!err && w->strands)
		qsort(w->strand, w->strands, sizeof(*w->strand), by_start);
	compare(w);
	return err;
}

/* ---- restarts ---- */

static int64_t first_save(const struct lane *l, const struct strand *y)
{
	for (size_t i = 0; i < l->in.saves; i++)
		if (l->save[i].start_ns >= y->s.start_ns)
			return l->save[i].start_ns;
	return LIVE_NEVER;
}

/* The strand of that lane in which @t lies; SIZE_MAX: none, or it was not over before @before. */
static size_t strand_at(const struct beside *w, uint32_t lane, int64_t t, int64_t before)
{
	size_t found = SIZE_MAX;

	for (size_t i = 0; i < w->strands && w->strand[i].s.start_ns <= t; i++)
		if (w->strand[i].lane == lane)
			found = i;
	return found != SIZE_MAX && w->strand[found].word_ns < before ? found : SIZE_MAX;
}

struct begun { /* with a checkpoint of a strand */
	size_t strand; /* SIZE_MAX: not known */
	int64_t from_ns;
	size_t oldest; /* ... that it opened; it may have gone on with that one */
	int64_t oldest_ns;
};

static void look_in(const struct beside *w, uint32_t lane, const struct strand *y,
		    const struct live_load *load, struct begun *b)
{
	const struct lane *l = &w->lane[lane];
	size_t save = live_opened(l->save, l->in.saves, &l->c, load, y->s.start_ns), of;
	int64_t from;

	if (save == SIZE_MAX)
		return;
	from = l->c.checkpoint[l->c.of_save[save]].start_ns;
	of = strand_at(w, lane, from, y->s.start_ns);
	if (of == SIZE_MAX)
		return;
	if (b->strand == SIZE_MAX || from > b->from_ns) {
		b->strand = of;
		b->from_ns = from;
	}
	if (b->oldest == SIZE_MAX || from < b->oldest_ns) {
		b->oldest = of;
		b->oldest_ns = from;
	}
}

static struct begun began_with(const struct beside *w, const struct strand *y)
{
	const struct lane *own = &w->lane[y->lane];
	int64_t until = base_min(first_save(own, y), y->s.end_ns - 1);
	struct begun b = { SIZE_MAX, 0, SIZE_MAX, 0 };

	for (size_t i = 0; i < own->in.loads; i++) {
		const struct live_load *l = &own->load[i];

		if (l->t_ns < y->s.start_ns || l->t_ns > until)
			continue;
		for (size_t k = 0; k < w->lanes; k++)
			look_in(w, (uint32_t)k, y, l, &b);
	}
	return b;
}

/* What came between @of and @y is done again, too, if it began with the same or was by itself. */
static bool came_between(const struct beside *w, const struct strand *z, size_t of,
			 const struct strand *y)
{
	bool same = z->s.opened && z->s.opened_segment == of;

	return z->s.start_ns > w->strand[of].word_ns && z->word_ns < y->s.start_ns &&
	       (same || !z->crossed);
}

/* From the oldest that it opened on. */
static void maybe_restart(struct beside *w, size_t at, const struct begun *b)
{
	saves_maybe_redo(&w->strand[b->oldest].s, b->oldest_ns);
	for (size_t i = b->oldest + 1; i < at; i++) {
		struct strand *z = &w->strand[i];

		if (i == b->strand || came_between(w, z, b->oldest, &w->strand[at]))
			saves_maybe_redo(&z->s, z->s.start_ns);
	}
}

static void restart(struct beside *w, size_t at)
{
	struct strand *y = &w->strand[at];
	struct begun b = began_with(w, y);

	if (b.strand == SIZE_MAX)
		return;
	y->s.opened = true;
	y->s.opened_segment = (uint32_t)b.strand;
	saves_redo(&w->strand[b.strand].s, b.from_ns);
	for (size_t i = b.strand + 1; i < at; i++)
		if (came_between(w, &w->strand[i], b.strand, y))
			saves_redo(&w->strand[i].s, w->strand[i].s.start_ns);
	maybe_restart(w, at, &b);
}

/* ---- what became of it ---- */

static size_t add_edges(struct edge *e, int64_t from, int64_t to, enum saves_part part)
{
	if (from >= to)
		return 0;
	e[0] = (struct edge){ from, part, 1 };
	e[1] = (struct edge){ to, part, -1 };
	return 2;
}

#define STRETCHES 4

/* Of a time for which the strand had the GPU: so many stretches at most. */
static size_t cut_span(struct edge *e, const struct strand *x, struct ana_span had)
{
	struct saves_cut c = saves_cut_of(&x->s, !x->later);
	int64_t from = base_max(had.start, x->s.start_ns), to = base_min(had.end, x->s.end_ns);
	size_t n = add_edges(e, from, base_min(to, c.durable_ns), SAVES_DURABLE);

	n += add_edges(e + n, base_max(from, c.durable_ns), base_min(to, c.unknown_ns),
		       SAVES_UNKNOWN);
	n += add_edges(e + n, base_max(from, c.unknown_ns), base_min(to, c.rest_ns), c.rest);
	return n + add_edges(e + n, base_max(from, c.rest_ns), to, SAVES_OTHER);
}

static int by_time(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return x->t_ns < y->t_ns ? -1 : x->t_ns > y->t_ns;
}

/* What all that had it call the same is that. */
static void sweep(struct edge *e, size_t edges, int64_t part[SAVES_PARTS])
{
	int had[SAVES_PARTS] = { 0 };

	if (edges)
		qsort(e, edges, sizeof(*e), by_time);
	for (size_t i = 0; i < edges; i++) {
		enum saves_part of = SAVES_PARTS;
		int names = 0;

		had[e[i].part] += e[i].by;
		for (int p = 0; p < SAVES_PARTS; p++) {
			names += had[p] > 0;
			of = had[p] > 0 ? (enum saves_part)p : of;
		}
		if (names && i + 1 < edges)
			ana_sum(&part[names > 1 ? SAVES_UNKNOWN : of], e[i + 1].t_ns - e[i].t_ns);
	}
}

static int book(const struct beside *w, size_t g, int64_t part[SAVES_PARTS])
{
	struct edge *e;
	size_t n = 0, spans = 0;
	int64_t sum = 0;

	for (size_t i = 0; i < w->strands; i++)
		spans += w->lane[w->strand[i].lane].held[g].count;
	e = calloc(2 * STRETCHES * spans + 1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	for (size_t i = 0; i < w->strands; i++) {
		const struct ana_spans *held = &w->lane[w->strand[i].lane].held[g];

		for (size_t k = 0; k < held->count; k++)
			n += cut_span(e + n, &w->strand[i], held->span[k]);
	}
	sweep(e, n, part);
	free(e);
	for (int p = 0; p < SAVES_OTHER; p++)
		ana_sum(&sum, part[p]);
	part[SAVES_OTHER] = w->in->gpu[g].held_ns - sum;
	return 0;
}

static int book_all(const struct beside *w, int64_t (*gpu_part)[SAVES_PARTS])
{
	int err = 0;

	for (size_t g = 0; g < w->in->gpus && !err; g++)
		err = book(w, g, gpu_part[g]);
	return err;
}

/* ---- all of it ---- */

static void take_parts(const struct beside *w, struct view_insurance *o,
		       int64_t (*gpu_part)[SAVES_PARTS])
{
	free(o->gpu_part);
	o->gpu_part = gpu_part;
	for (int p = 0; p < SAVES_PARTS; p++) {
		o->part[p] = 0;
		for (size_t g = 0; g < w->in->gpus; g++)
			ana_sum(&o->part[p], gpu_part[g][p]);
	}
}

static void take_segments(const struct beside *w, struct view_insurance *o,
			  struct saves_segment *segment)
{
	free(o->segment);
	o->segment = segment;
	o->segments = w->strands;
	o->kills = o->failures = 0;
	for (size_t i = 0; i < w->strands; i++) {
		segment[i] = w->strand[i].s;
		o->kills += segment[i].end == SAVES_END_KILLED;
		o->failures += segment[i].end == SAVES_END_FAILED;
	}
	o->chain = (struct saves_chain){ 0 };
}

static void lane_fini(struct lane *l)
{
	for (size_t g = 0; l->held && g < l->in.gpus; g++)
		ana_spans_fini(&l->held[g]);
	free(l->save);
	free(l->load);
	free(l->written);
	free(l->process);
	free(l->gpu);
	free(l->held);
	live_checkpoints_fini(&l->c);
}

int saves_beside(const struct saves_input *in, struct view_insurance *o)
{
	struct beside w = { .in = in };
	int64_t(*part)[SAVES_PARTS];
	struct saves_segment *segment;
	int err;

	if (!are_beside(in, o))
		return 0;
	part = calloc(in->gpus + 1, sizeof(*part));
	err = part ? make_lanes(&w) : -ENOMEM;
	if (!err)
		err = make_strands(&w);
	for (size_t i = 0; i < w.strands && !err; i++)
		restart(&w, i);
	if (!err)
		err = book_all(&w, part);
	segment = calloc(w.strands + 1, sizeof(*segment));
	if (!err && segment) {
		take_parts(&w, o, part);
		take_segments(&w, o, segment);
	} else {
		err = err ? err : -ENOMEM;
		free(part);
		free(segment);
	}
	for (size_t i = 0; i < w.lanes; i++)
		lane_fini(&w.lane[i]);
	free(w.lane);
	free(w.strand);
	return err;
}
