/* SPDX-License-Identifier: Apache-2.0 */
/* The same for programs: an object, whose members gpustarve-loader(1) tells. */
#include "feed.h"

#include "base/jsonout.h"
#include "findings/words.h"

static void put_known(struct base_jsonout *j, const char *key, int64_t n)
{
	if (n < 0)
		base_json_null(j, key);
	else
		base_json_int(j, key, n);
}

static void put_need(struct base_jsonout *j, const struct feed *f, const struct feed_loader *l,
		     int64_t step_ns)
{
	struct view_worker_count n;
	struct feed_pace p;

	if (!step_ns || !feed_need(f, l, step_ns, &n))
		return;
	base_json_object(j, "need");
	base_json_int(j, "workers", n.needed);
	base_json_int(j, "workers_advised", n.advised);
	base_json_int(j, "cores", n.cores_needed);
	base_json_array(j, "pace");
	for (int64_t i = 0; i <= n.needed + 1 && i < 64; i++) {
		feed_pace(f, l, i, step_ns, &p);
		base_json_flat_object(j, NULL);
		base_json_int(j, "workers", i);
		base_json_int(j, "step_ns", p.step_ns);
		base_json_percent(j, "wait_pct", p.wait_ppm);
		base_json_end(j);
	}
	base_json_end(j);
	base_json_end(j);
}

static void put_lines(struct base_jsonout *j, const struct feed_loader *l)
{
	base_json_array(j, "lines");
	for (size_t i = 0; i < l->lines; i++) {
		const struct feed_line *x = &l->line[i];

		base_json_flat_object(j, NULL);
		base_json_string(j, "file", x->where.file);
		base_json_uint(j, "line", x->where.line);
		base_json_string(j, "function", x->where.function);
		base_json_string(j, "wait",
				 x->where.wait < VIEW_WAITS ? view_wait_names[x->where.wait]
							    : "unknown");
		base_json_string(j, "leaf", x->where.leaf);
		base_json_string(j, "target", x->where.target);
		base_json_int(j, "ns", x->ns);
		base_json_uint(j, "samples", x->where.samples);
		base_json_end(j);
	}
	base_json_end(j);
}

static void put_loader(struct base_jsonout *j, const struct feed *f, const struct feed_loader *l,
		       int64_t step_ns)
{
	base_json_object(j, NULL);
	base_json_string(j, "kind", l->kind);
	base_json_string(j, "dataset", l->dataset);
	put_known(j, "workers", l->workers);
	put_known(j, "prefetch", l->prefetch);
	put_known(j, "batch", l->batch);
	base_json_uint(j, "makers", l->makers);
	base_json_uint(j, "batches", l->made);
	base_json_uint(j, "left_out", l->warm);
	base_json_int(j, "batch_ns", l->mean_ns);
	put_known(j, "batch_low_ns", l->high_ns ? l->low_ns : -1);
	put_known(j, "batch_high_ns", l->high_ns ? l->high_ns : -1);
	base_json_int(j, "batch_median_ns", l->median_ns);
	base_json_int(j, "batch_p95_ns", l->p95_ns);
	base_json_int(j, "batch_cpu_ns", l->cpu_ns);
	base_json_int(j, "batch_delay_ns", l->delay_ns);
	base_json_int(j, "total_ns", l->total_ns);
	base_json_int(j, "sampled_ns", l->line_ns);
	put_lines(j, l);
	put_need(j, f, l, step_ns);
	base_json_end(j);
}

void feed_json(struct feed *f, int64_t step_ns, FILE *out)
{
	struct base_jsonout j = { .f = out };

	base_json_object(&j, NULL);
	put_known(&j, "step_ns", step_ns ? step_ns : -1);
	base_json_int(&j, "cores", f->cores);
	base_json_uint(&j, "processes", f->processes);
	base_json_array(&j, "loaders");
	for (size_t i = 0; i < f->loaders; i++)
		put_loader(&j, f, &f->loader[i], step_ns);
	base_json_end(&j);
	base_json_end(&j);
}
