/* SPDX-License-Identifier: Apache-2.0 */
/* From a job's summary to its rest: what it held, by price, and when that was. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/minmax.h"
#include "base/vec.h"
#include "cost/waste.h"
#include "digest_line.h"
#include "job_rest.h"

#define MINUTE_NS 60000000000LL
#define JOIN_NS 1000000000LL /* what is made one with its neighbour first, if there is no room */
#define TIME_MOST_NS (INT64_C(1) << 60)

bool fleet_rest_is(const struct view_summary *s)
{
	return s->parts > 0 && view_job_known(&s->job) && s->result->runs_apart;
}

static int64_t rest_ns(const struct view_summary *s, size_t g)
{
	const struct ana_gpu *gpu = &s->result->gpu[g];
	int64_t ns = 0;

	for (size_t i = 0; i < gpu->vacants; i++)
		view_cost_add(&ns, gpu->vacant[i].end - gpu->vacant[i].start);
	return ns;
}

/* Where tasks were not recorded, nobody knows that nothing used it. */
static enum ana_class class_of(const struct view_summary *s, size_t g)
{
	return s->result->gpu[g].vacancy.unseen_ns ? ANA_EXCLUDED_UNOBSERVED
						   : ANA_EXCLUDED_NO_PROCESS;
}

static int64_t rest_usd(const struct view_summary *s, size_t g)
{
	if (!s->cost.known || g >= s->cost.gpus)
		return 0;
	if (class_of(s, g) == ANA_EXCLUDED_NO_PROCESS)
		return s->cost.gpu_class[g][ANA_EXCLUDED_NO_PROCESS];
	return view_cost_amount(s->cost.rate[g].nano_usd_per_hour, rest_ns(s, g));
}

struct edge { /* so many more GPUs are unused from here on */
	int64_t at, gpus;
};

struct spans {
	struct edge *edge;
	size_t edges, edge_room;
	struct fleet_rest_span *span;
	size_t n, room;
};

static int by_time(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return x->at != y->at ? (x->at < y->at ? -1 : 1) : 0;
}

/* @t is on the axis, which is of the same clock as when the job began. */
static int add_edge(struct spans *w, const struct view_summary *s, int64_t t, int64_t gpus)
{
	int64_t at;

	if (!base_vec_more(w->edge, w->edges, w->edge_room))
		return -ENOMEM;
	if (__builtin_sub_overflow(t, s->start_unix_ns, &at))
		at = t;
	w->edge[w->edges++] = (struct edge){ base_clamp(at, -TIME_MOST_NS, TIME_MOST_NS), gpus };
	return 0;
}

static int gather(struct spans *w, const struct view_summary *s, const uint8_t *line, uint8_t of)
{
	int err = 0;

	w->edges = 0;
	for (size_t g = 0; g < s->result->gpus; g++) {
		const struct ana_gpu *gpu = &s->result->gpu[g];

		for (size_t i = 0; line[g] == of && i < gpu->vacants && !err; i++) {
			err = add_edge(w, s, gpu->vacant[i].start, 1);
			if (!err)
				err = add_edge(w, s, gpu->vacant[i].end, -1);
		}
	}
	if (w->edges)
		qsort(w->edge, w->edges, sizeof(*w->edge), by_time);
	return err;
}

/* Between two edges the count is the same; where it goes on the same, the span does. */
static int add_span(struct spans *w, uint8_t line, int64_t from, int64_t to, int64_t gpus)
{
	struct fleet_rest_span *last = w->n ? &w->span[w->n - 1] : NULL;
	int64_t held;

	if (!gpus || from == to)
		return 0;
	if (__builtin_mul_overflow(to - from, gpus, &held))
		held = INT64_MAX;
	if (last && last->line == line && last->gpus == gpus &&
	    last->from_ns + last->wall_ns == from) {
		last->wall_ns += to - from;
		view_cost_add(&last->held_ns, held);
		return 0;
	}
	if (!base_vec_more(w->span, w->n, w->room))
		return -ENOMEM;
	w->span[w->n++] = (struct fleet_rest_span){ line, from, to - from, gpus, held };
	return 0;
}

static int sweep(struct spans *w, uint8_t line)
{
	int64_t gpus = 0;
	int err = 0;

	for (size_t i = 0; i < w->edges && !err; i++) {
		if (i)
			err = add_span(w, line, w->edge[i - 1].at, w->edge[i].at, gpus);
		gpus += w->edge[i].gpus;
	}
	return err;
}

/* Neighbours of a line, of which little is lost if they are one. */
static size_t join_close(struct fleet_rest_span *span, size_t n, int64_t ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		if (kept && span[kept - 1].line == span[i].line &&
		    fleet_rest_blurred(&span[kept - 1], &span[i]) <= ns)
			fleet_rest_join(&span[kept - 1], &span[i]);
		else
			span[kept++] = span[i];
	}
	return kept;
}

static void keep_few(struct spans *w)
{
	for (int64_t ns = JOIN_NS; w->n > FLEET_REST_SPANS_MAX;
	     ns = ns > TIME_MOST_NS ? ns : ns * 2)
		w->n = join_close(w->span, w->n, ns);
}

static int set_spans(struct fleet_digest *d, const struct view_summary *s, const uint8_t *line)
{
	struct spans w = { 0 };
	int err = 0;

	_Static_assert(FLEET_LINES_MAX <= FLEET_REST_SPANS_MAX, "one for each line in any case");
	for (size_t l = 0; l < d->lines && !err; l++) {
		err = gather(&w, s, line, (uint8_t)l);
		if (!err)
			err = sweep(&w, (uint8_t)l);
	}
	keep_few(&w);
	for (size_t i = 0; i < w.n && !err; i++)
		d->rest.span[d->rest.spans++] = w.span[i];
	free(w.edge);
	free(w.span);
	return err;
}

/* --- how much --- */

static void add_share(struct fleet_digest *d, const char *name, int64_t ns, int64_t usd)
{
	size_t i = 0;

	while (i < d->shares && strcmp(d->share[i].class, name) != 0)
		i++;
	if (i == d->shares)
		fleet_tame(d->share[d->shares++].class, sizeof(d->share[i].class), name);
	view_cost_add(&d->share[i].ns, ns);
	view_cost_add(&d->share[i].usd, usd);
}

static void add_gpu(struct fleet_digest *d, struct fleet_line *l, const struct view_summary *s,
		    size_t g)
{
	enum ana_class c = class_of(s, g);
	int64_t ns = rest_ns(s, g), usd = l->priced ? rest_usd(s, g) : 0;
	int64_t minutes = c == ANA_EXCLUDED_NO_PROCESS ? ns / MINUTE_NS : 0;

	l->gpus++;
	view_cost_add(&l->held_ns, ns);
	view_cost_add(&l->usd, usd);
	view_cost_add(&l->wasted_ns, s->waste[c] ? ns : 0);
	view_cost_add(&l->wasted_usd, s->waste[c] ? usd : 0);
	view_cost_add(&l->minutes[ANA_BAND_IDLE], minutes);
	if (l->priced)
		view_cost_add(&l->idle_usd, view_cost_amount(s->cost.rate[g].nano_usd_per_hour,
							     minutes * MINUTE_NS));
	add_share(d, ana_class_names[c], ns, usd);
}

/* GPUs that runs held all the time are no part of it. */
int fleet_rest_make(struct fleet_digest *d, const struct view_summary *s)
{
	uint8_t *line = malloc(s->result->gpus + 1);
	int err;

	if (!line)
		return -ENOMEM;
	d->rest.job_ns = s->result->gpu_ns;
	for (size_t g = 0; g < s->result->gpus; g++) {
		struct fleet_line *l = rest_ns(s, g) ? fleet_digest_line(d, s, g) : NULL;

		line[g] = l ? (uint8_t)(l - d->line) : UINT8_MAX;
		if (l)
			add_gpu(d, l, s, g);
	}
	err = set_spans(d, s, line);
	free(line);
	return err;
}
