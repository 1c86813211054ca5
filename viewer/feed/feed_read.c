/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of batches and samples of their makers to times and lines. */
#include "feed.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/evidence/loaders.h"
#include "analysis/evidence/pystack.h"
#include "analysis/evidence/shares.h"
#include "analysis/read/row_feed.h"
#include "base/vec.h"
#include "check/student.h"
#include "wire/reader.h"

#define LOADERS_MAX 64u /* of different settings */
#define LINES_MAX 512u /* of one loader */
#define WARM_LEAST 3u /* batches of a maker, from which on its first one does not count */
#define SURE_LEAST 8u /* batches, from which on an interval says something */
#define OUTSIDE 0.05 /* the chance of a mean outside of it */

struct made { /* one batch */
	int64_t start_ns, end_ns, own_ns, cpu_ns, delay_ns;
	uint32_t pid, tid;
	const struct ana_loader_facts *facts; /* of its loader */
	size_t maker;
	bool first; /* of its maker */
};

struct maker { /* a thread that makes batches of a loader */
	uint32_t pid, tid;
	const struct ana_loader_facts *facts;
	uint64_t made;
};

struct looks { /* samples of one stream */
	struct wire_sample *sample;
	size_t count, room;
};

struct reading {
	struct feed *feed;
	struct view_trace *trace;
	struct wire_scratch *scratch;
	struct made *made;
	size_t count, room;
	struct maker *maker; /* of the stream that is read */
	size_t makers, maker_room;
	struct looks looks;
	struct ana_pystacks stacks; /* of the stream that is read */
};

/*
 * ---- batches ----------------------------------------------------------------------------------
 */

/* The loader of these settings, as far as they matter here; beyond a bound the last one. */
static struct feed_loader *loader_of(struct feed *f, const struct ana_loader_facts *a)
{
	const char *kind = a->kind ? a->kind : "", *dataset = a->dataset ? a->dataset : "";
	int64_t workers = a->known & ANA_LOADER_WORKERS ? (int64_t)a->workers : -1;
	int64_t batch = a->known & ANA_LOADER_BATCH ? (int64_t)a->batch_size : -1;
	struct feed_loader *l;

	for (size_t i = 0; i < f->loaders; i++) {
		l = &f->loader[i];
		if (l->workers == workers && l->batch == batch && !strcmp(l->kind, kind) &&
		    !strcmp(l->dataset ? l->dataset : "", dataset))
			return l;
	}
	if (f->loaders == LOADERS_MAX)
		return &f->loader[LOADERS_MAX - 1];
	l = &f->loader[f->loaders++];
	*l = (struct feed_loader){
		.kind = base_arena_text(&f->mem, kind),
		.dataset = dataset[0] ? base_arena_text(&f->mem, dataset) : NULL,
		.workers = workers,
		.batch = batch,
		.prefetch = a->known & ANA_LOADER_PREFETCH ? (int64_t)a->prefetch : -1,
	};
	return l;
}

static int64_t in_ns(uint64_t n)
{
	return n > INT64_MAX / 4 ? INT64_MAX / 4 : (int64_t)n;
}

static int add_made(struct reading *r, const struct wire_batch *b,
		    const struct ana_loader_facts *facts)
{
	int64_t took = b->end_ns - b->start_ns, delay = in_ns(b->delay_ns), cpu = in_ns(b->cpu_ns);
	int64_t own = took - delay > cpu ? took - delay : cpu;

	if (took <= 0)
		return 0;
	if (!base_vec_more(r->made, r->count, r->room))
		return -ENOMEM;
	r->made[r->count++] = (struct made){ .start_ns = b->start_ns,
					     .end_ns = b->end_ns,
					     .own_ns = own > took ? took : own,
					     .cpu_ns = cpu < took ? cpu : took,
					     .delay_ns = delay < took ? delay : took,
					     .pid = b->pid,
					     .tid = b->tid,
					     .facts = facts };
	return 0;
}

/* Which loader a batch is of is known once all rows of the stream are. */
static int read_batches(struct reading *r, const struct view_stream *s, struct ana_loaders *loaders)
{
	struct ana_row_feed rows;
	const struct wire_batch *b;
	int err = ana_row_feed_init(&rows, r->trace, s, WIRE_KIND_BATCH, r->scratch);

	while (!err && (b = ana_row_feed_batch(&rows, INT64_MAX)))
		err = ana_loaders_add(loaders, b);
	if (!err)
		err = rows.err;
	ana_row_feed_fini(&rows);
	return err;
}

static int read_made(struct reading *r, const struct view_stream *s,
		     const struct ana_loaders *loaders)
{
	const struct ana_loader_facts *facts;
	struct ana_row_feed rows;
	const struct wire_batch *b;
	int err = ana_row_feed_init(&rows, r->trace, s, WIRE_KIND_BATCH, r->scratch);

	while (!err && (b = ana_row_feed_batch(&rows, INT64_MAX))) {
		facts = ana_loaders_get(loaders, b->loader);
		if (!facts && loaders->count)
			facts = &loaders->loader[loaders->count - 1].facts;
		if (b->what == WIRE_BATCH_FETCH && facts)
			err = add_made(r, b, facts);
	}
	if (!err)
		err = rows.err;
	ana_row_feed_fini(&rows);
	return err;
}

/*
 * ---- samples ----------------------------------------------------------------------------------
 */

static int by_thread(const void *a, const void *b)
{
	const struct wire_sample *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->t_ns < y->t_ns ? -1 : x->t_ns > y->t_ns;
}

static int read_looks(struct reading *r, const struct view_stream *s)
{
	struct looks *l = &r->looks;
	struct ana_row_feed rows;
	const struct wire_sample *w;
	int err = ana_row_feed_init(&rows, r->trace, s, WIRE_KIND_SAMPLE, r->scratch);

	l->count = 0;
	while (!err && (w = ana_row_feed_sample(&rows, INT64_MAX))) {
		if (!base_vec_more(l->sample, l->count, l->room))
			err = -ENOMEM;
		else
			l->sample[l->count++] = *w;
	}
	if (!err)
		err = rows.err;
	ana_row_feed_fini(&rows);
	if (l->count)
		qsort(l->sample, l->count, sizeof(*l->sample), by_thread);
	return err;
}

/* The first sample of the batch's maker at or after its beginning, and behind the last. */
static void looks_at(const struct looks *l, const struct made *m, size_t *from, size_t *to)
{
	struct wire_sample key = { .pid = m->pid, .tid = m->tid, .t_ns = m->start_ns };
	size_t low = 0, high = l->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (by_thread(&l->sample[mid], &key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	*from = low;
	while (low < l->count && l->sample[low].pid == m->pid && l->sample[low].tid == m->tid &&
	       l->sample[low].t_ns <= m->end_ns)
		low++;
	*to = low;
}

/*
 * ---- lines ------------------------------------------------------------------------------------
 */

static bool same(const char *own, struct ana_text t)
{
	return own ? strlen(own) == t.len && !memcmp(own, t.at, t.len) : !t.len;
}

static const char *copy(struct feed *f, struct ana_text t)
{
	return t.len ? base_arena_copy(&f->mem, t.at, t.len) : NULL;
}

static struct feed_line *line_of(struct feed *f, struct feed_loader *l, const struct ana_pystack *k,
				 const struct wire_sample *w)
{
	uint8_t wait = ana_sample_runs(w) ? WIRE_WAIT_NONE : w->wait;
	struct feed_line *x;

	for (size_t i = 0; i < l->lines; i++) {
		x = &l->line[i];
		if (x->where.line == k->line && x->where.wait == wait &&
		    same(x->where.function, k->function) && same(x->where.file, k->file))
			return x;
	}
	if (l->lines == LINES_MAX)
		return NULL;
	if (!l->line)
		l->line = base_arena_array(&f->mem, LINES_MAX, sizeof(*l->line));
	x = &l->line[l->lines++];
	x->where = (struct view_hotspot){ .known = true,
					  .role = WIRE_ROLE_WORKER,
					  .wait = wait,
					  .function = copy(f, k->function),
					  .file = copy(f, k->file),
					  .line = k->line };
	return x;
}

/*
 * The innermost frame that has most of the line's time (Boyer and Moore, as
 * analysis/evidence/hotspots.h).
 */
static void vote_leaf(struct feed *f, struct feed_line *x, const struct ana_pystack *k, int64_t ns)
{
	struct ana_text leaf;
	char text[1024];
	int n = snprintf(text, sizeof(text), "%.*s\t%.*s", (int)k->leaf_function.len,
			 k->leaf_function.at, (int)k->leaf_file.len, k->leaf_file.at);

	if (k->user_leaf || !k->leaf_function.len || n <= 0 || (size_t)n >= sizeof(text))
		n = 0;
	leaf = (struct ana_text){ text, (uint32_t)n };
	if (same(x->where.leaf, leaf)) {
		x->leaf_lead += ns;
	} else if (x->leaf_lead >= ns) {
		x->leaf_lead -= ns;
	} else {
		x->leaf_lead = ns - x->leaf_lead;
		x->where.leaf = copy(f, leaf);
	}
}

static void add_look(struct reading *r, struct feed_loader *l, const struct wire_sample *w,
		     int64_t ns)
{
	const struct ana_pystack *k = ana_pystacks_get(&r->stacks, w->stack);
	struct feed_line *x = line_of(r->feed, l, k, w);

	if (!x)
		return;
	x->ns += ns;
	x->where.samples++;
	vote_leaf(r->feed, x, k, ns);
	if (!x->where.target)
		x->where.target = copy(r->feed, ana_pystacks_text(&r->stacks, w->target));
	if (!x->where.fs)
		x->where.fs = copy(r->feed, ana_pystacks_text(&r->stacks, w->fs));
	l->samples++;
}

/*
 * A batch's time on a CPU goes to the samples in it that show its maker running, to each as much
 * (one that waits for a CPU is shown so, too), the rest to those that show it blocked; where there
 * are none of a kind, to the others.
 */
static void add_lines(struct reading *r, struct feed_loader *l, const struct made *m)
{
	int64_t cpu = m->cpu_ns < m->own_ns ? m->cpu_ns : m->own_ns,
		ns[2] = { m->own_ns - cpu, cpu };
	size_t from, to, count[2] = { 0, 0 };

	looks_at(&r->looks, m, &from, &to);
	if (from == to)
		return;
	for (size_t i = from; i < to; i++)
		count[ana_sample_runs(&r->looks.sample[i])]++;
	for (int k = 0; k < 2; k++)
		if (!count[k]) {
			ns[!k] += ns[k];
			ns[k] = 0;
		}
	l->line_ns += m->own_ns;
	for (size_t i = from; i < to; i++) {
		bool runs = ana_sample_runs(&r->looks.sample[i]);

		add_look(r, l, &r->looks.sample[i], ns[runs] / (int64_t)count[runs]);
	}
}

/*
 * ---- sums -------------------------------------------------------------------------------------
 */

static int by_number(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int by_line(const void *a, const void *b)
{
	const struct feed_line *x = a, *y = b;

	return x->ns > y->ns ? -1 : x->ns < y->ns;
}

static int by_total(const void *a, const void *b)
{
	const struct feed_loader *x = a, *y = b;

	return x->total_ns > y->total_ns ? -1 : x->total_ns < y->total_ns;
}

static void set_spread(struct feed_loader *l)
{
	int64_t *sorted = malloc(l->made * sizeof(*sorted));
	double sum = 0, mean = (double)l->total_ns / (double)l->made, half;

	if (sorted) {
		memcpy(sorted, l->made_ns, l->made * sizeof(*sorted));
		qsort(sorted, l->made, sizeof(*sorted), by_number);
		l->median_ns = sorted[(l->made - 1) / 2];
		l->p95_ns = sorted[(l->made - 1) * 95 / 100];
		free(sorted);
	}
	l->mean_ns = l->total_ns / (int64_t)l->made;
	if (l->made < SURE_LEAST)
		return;
	for (size_t i = 0; i < l->made; i++)
		sum += ((double)l->made_ns[i] - mean) * ((double)l->made_ns[i] - mean);
	half = check_student(OUTSIDE, (double)l->made - 1) *
	       sqrt(sum / (double)(l->made - 1) / (double)l->made);
	l->low_ns = half < mean ? (int64_t)(mean - half) : 0;
	l->high_ns = (int64_t)(mean + half) + 1;
}

/* Who made it: its place among the makers of the stream. */
static int name_maker(struct reading *r, struct made *m)
{
	for (m->maker = 0; m->maker < r->makers; m->maker++) {
		const struct maker *k = &r->maker[m->maker];

		if (k->pid == m->pid && k->tid == m->tid && k->facts == m->facts)
			break;
	}
	if (m->maker == r->makers) {
		if (!base_vec_more(r->maker, r->makers, r->maker_room))
			return -ENOMEM;
		r->maker[r->makers++] =
			(struct maker){ .pid = m->pid, .tid = m->tid, .facts = m->facts };
	}
	m->first = !r->maker[m->maker].made++;
	return 0;
}

static int add_sums(struct feed_loader *l, const struct made *m)
{
	if (!base_vec_more(l->made_ns, l->made, l->made_room))
		return -ENOMEM;
	l->made_ns[l->made++] = m->own_ns;
	l->total_ns += m->own_ns;
	l->cpu_ns += m->cpu_ns;
	l->delay_ns += m->delay_ns;
	return 0;
}

/*
 * The first batch of a maker opens files, imports modules and fills caches: it tells of no other.
 */
static int add_one(struct reading *r, const struct made *m)
{
	struct feed_loader *l = loader_of(r->feed, m->facts);

	l->makers += m->first;
	if (m->first && r->maker[m->maker].made >= WARM_LEAST) {
		l->warm++;
		return 0;
	}
	add_lines(r, l, m);
	return add_sums(l, m);
}

static int add_stream(struct reading *r, const struct view_stream *s)
{
	struct ana_loaders loaders;
	int err;

	ana_loaders_init(&loaders, s->strings);
	ana_pystacks_init(&r->stacks, s->strings);
	r->count = r->makers = 0;
	err = read_batches(r, s, &loaders);
	if (!err)
		err = read_made(r, s, &loaders);
	if (!err && r->count)
		err = read_looks(r, s);
	for (size_t i = 0; !err && i < r->count; i++)
		err = name_maker(r, &r->made[i]);
	for (size_t i = 0; !err && i < r->count; i++)
		err = add_one(r, &r->made[i]);
	ana_pystacks_fini(&r->stacks);
	ana_loaders_fini(&loaders);
	return err;
}

static void finish(struct feed *f)
{
	for (size_t i = 0; i < f->loaders; i++) {
		struct feed_loader *l = &f->loader[i];

		if (l->made) {
			set_spread(l);
			l->cpu_ns /= (int64_t)l->made;
			l->delay_ns /= (int64_t)l->made;
		}
		if (l->lines)
			qsort(l->line, l->lines, sizeof(*l->line), by_line);
	}
	qsort(f->loader, f->loaders, sizeof(*f->loader), by_total);
	while (f->loaders && !f->loader[f->loaders - 1].made)
		free(f->loader[--f->loaders].made_ns);
}

static int64_t cores_here(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 0 : CPU_COUNT(&set);
}

int feed_read(struct feed *f, const char *dir)
{
	struct reading r = { .feed = f };
	const char *why;
	int err;

	*f = (struct feed){ .cores = cores_here() };
	f->loader = base_arena_array(&f->mem, LOADERS_MAX, sizeof(*f->loader));
	err = view_trace_open(&r.trace, dir, &why);
	if (err)
		return err == -ENOENT ? -ENODATA : err;
	r.scratch = wire_scratch_new();
	if (!r.scratch)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < r.trace->streams; i++)
		err = add_stream(&r, &r.trace->stream[i]);
	f->processes = r.trace->streams;
	finish(f);
	wire_scratch_free(r.scratch);
	view_trace_close(r.trace);
	free(r.made);
	free(r.maker);
	free(r.looks.sample);
	return err ? err : f->loaders ? 0 : -ENODATA;
}

void feed_fini(struct feed *f)
{
	for (size_t i = 0; i < f->loaders; i++)
		free(f->loader[i].made_ns);
	base_arena_fini(&f->mem);
	*f = (struct feed){ 0 };
}
