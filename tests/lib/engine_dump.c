/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints what the engine finds in a run, GPU by GPU, with the names of ref_ledger.py, so that tests
 * can compare both; and shows paths of the engine that no command reaches: --stream takes imports
 * like live runs, --threads sets the pool.
 *
 *	engine_dump [--window device] [--stream] [--threads N] RUN...
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/ledger.h"
#include "trace/trace.h"

static void put(const char *name, int64_t v)
{
	printf(", \"%s\": %" PRId64, name, v);
}

static void put_copies(const struct ana_copies copies[ANA_COPY_DIRS])
{
	const char *comma = "";
	int d;

	printf(", \"copies\": {");
	for (d = 0; d < ANA_COPY_DIRS; d++) {
		const struct ana_copies *c = &copies[d];

		if (!c->count)
			continue;
		printf("%s\"%s\": {\"count\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"ns\": %" PRId64
		       ", \"exposed_ns\": %" PRId64 ", \"pageable_count\": %" PRIu64
		       ", \"pageable_bytes\": %" PRIu64 ", \"synchronous\": %" PRIu64 "}",
		       comma, ana_copy_names[d], c->count, c->bytes, c->ns, c->exposed_ns,
		       c->pageable_count, c->pageable_bytes, c->synchronous);
		comma = ", ";
	}
	printf("}");
}

static void put_classes(const char *key, const int64_t classes[ANA_CLASSES])
{
	const char *comma = "";
	int c;

	printf(", \"%s\": {", key);
	for (c = 0; c < ANA_CLASSES; c++) {
		if (!classes[c])
			continue;
		printf("%s\"%s\": %" PRId64, comma, ana_class_names[c], classes[c]);
		comma = ", ";
	}
	printf("}");
}

static void put_work(const struct ana_work *w)
{
	const char *comma = "";

	printf(", \"work\": {");
	for (int i = 0; i < ANA_WORKS; i++) {
		if (!w->count[i])
			continue;
		printf("%s\"%s %s\": [%" PRId64 ", %" PRIu64 "]", comma,
		       facts_kinds[i / FACTS_PRECISIONS].name,
		       facts_precisions[i % FACTS_PRECISIONS].name, w->ns[i], w->count[i]);
		comma = ", ";
	}
	printf("}");
}

static void put_judgement(const struct ana_judgement *j)
{
	const char *severity = ana_severity_names[j->severity];

	printf(", \"verdict\": \"%s\", \"severity\": %s%s%s, \"flagged\": %s",
	       ana_verdict_names[j->verdict], severity ? "\"" : "", severity ? severity : "null",
	       severity ? "\"" : "", j->flagged ? "true" : "false");
}

static void put_gpu(const struct ana_gpu *g)
{
	printf("{\"index\": %" PRIu32, g->index);
	put("ops", (int64_t)g->ops);
	put("streams", g->streams);
	put("ops_without_launch", (int64_t)g->ops_without_launch);
	put("span_ns", g->span_ns);
	put("held_ns", g->held_ns);
	put("busy_ns", g->busy_ns);
	put("compute_ns", g->compute_ns);
	put("comm_exposed_ns", g->comm_exposed_ns);
	put("copy_exposed_ns", g->copy_exposed_ns);
	put("idle_ns", g->idle_ns);
	put("empty_ns", g->empty_ns);
	put("queued_ns", g->queued_ns);
	put("gaps", (int64_t)g->gaps);
	put("loader_wait_ns", g->loader_wait_ns);
	put("loader_exposed_ns", g->loader_exposed_ns);
	put_classes("classes", g->classes);
	put_classes("skew_causes", g->skew_causes);
	put_judgement(&g->judgement);
	put_copies(g->copies);
	put_work(&g->work);
	printf("}");
}

/* What must hold of every result, whatever the trace. */
static int check(const struct ana_result *r)
{
	size_t i, b;
	int c, k, bad = 0;

	for (c = 0; c < ANA_CLASSES; c++) {
		int64_t sited = 0;

		for (i = 0; i < r->hotspots; i++)
			sited += r->hotspot[i].class == (enum ana_class)c ? r->hotspot[i].ns : 0;
		if (sited > r->classes[c])
			fprintf(stderr, "sites of %s sum to %" PRId64 ", more than %" PRId64 "\n",
				ana_class_names[c], sited, r->classes[c]);
		bad |= sited > r->classes[c];
	}
	for (i = 0; i < r->gpus; i++) {
		const struct ana_gpu *g = &r->gpu[i];
		int64_t sum = 0, line = 0, causes = 0, work = 0;

		for (c = 0; c < ANA_CLASSES; c++) {
			int64_t of = 0;

			sum += g->classes[c];
			causes += g->skew_causes[c];
			for (k = 0; k < ANA_CONFIDENCES; k++)
				of += g->confidence[c][k];
			bad |= of != g->classes[c] || g->classes[c] < 0;
			for (b = 0; b < r->timeline[i].count; b++)
				line += r->timeline[i].bucket[b].classes[c];
		}
		for (k = 0; k < ANA_WORKS; k++)
			work += g->work.ns[k];
		bad |= work != g->classes[ANA_COMPUTE];
		bad |= causes != g->classes[ANA_COMM_SKEW];
		bad |= sum != g->held_ns || g->idle_ns != g->empty_ns + g->queued_ns;
		bad |= g->span_ns != g->busy_ns + g->idle_ns;
		bad |= r->timeline[i].count && line != sum;
		if (bad)
			fprintf(stderr,
				"GPU %zu: sums differ: classes %" PRId64 ", held %" PRId64
				", timeline %" PRId64 "\n",
				i, sum, g->held_ns, line);
	}
	return bad;
}

static int dump(const char *path, const struct ana_options *o)
{
	struct view_trace *t;
	struct ana_result *r;
	const char *why;
	size_t i;
	int err = view_trace_open(&t, path, &why);

	if (err) {
		fprintf(stderr, "%s: %s\n", path, why);
		return 1;
	}
	err = ana_run(t, o, &r);
	if (err) {
		fprintf(stderr, "%s: %s\n", path, strerror(-err));
		view_trace_close(t);
		return 1;
	}
	printf("[");
	for (i = 0; i < r->gpus; i++) {
		printf("%s", i ? ",\n " : "");
		put_gpu(&r->gpu[i]);
	}
	printf("]\n");
	err = check(r);
	ana_result_free(r);
	view_trace_close(t);
	return err;
}

int main(int argc, char **argv)
{
	struct ana_options o = { .timeline_buckets = 64, .top_gaps = 8 };
	int i, bad = 0;

	for (i = 1; i < argc && argv[i][0] == '-'; i++) {
		if (!strcmp(argv[i], "--stream"))
			o.exact_calls = 1;
		else if (!strcmp(argv[i], "--window") && ++i < argc)
			o.window = !strcmp(argv[i], "device") ? ANA_WINDOW_DEVICE : ANA_WINDOW_JOB;
		else if (!strcmp(argv[i], "--threads") && ++i < argc)
			o.threads = (unsigned int)atoi(argv[i]);
		else
			return 2;
	}
	for (; i < argc; i++)
		bad |= dump(argv[i], &o);
	return bad;
}
