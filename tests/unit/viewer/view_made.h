/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results made by hand, for tests of what shows them: as many GPUs as wanted, classes that add up,
 * and names that try to break every page. Allocated as the engine does it, so that
 * ana_result_free can have them.
 */
#ifndef TESTS_VIEW_MADE_H
#define TESTS_VIEW_MADE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cost/cost.h"
#include "summary/summary.h"
#include "wire/evidence.h"

#define MADE_HOUR_NS 3600000000000LL
#define MADE_EVIL "</title><script>alert(1)</script>\"'&\x1b[31m\xff\xe2\x80\xae"

static void made_gpu(struct ana_gpu *g, uint32_t i, const char *name, bool starved)
{
	char uuid[64];

	snprintf(uuid, sizeof(uuid), "GPU-%08x-0000-4000-8000-000000000000", i);
	g->host = strdup("node1");
	g->index = i;
	g->uuid = strdup(uuid);
	g->name = strdup(name);
	g->held_ns = MADE_HOUR_NS + i;
	g->span_ns = MADE_HOUR_NS - 1000000000;
	g->ops = 1000;
	g->streams = 2;
	g->nvml_utilization_pct = -1;
	g->held_start_ns = 1794232931000000000LL;
	g->held_end_ns = g->held_start_ns + g->held_ns;
	g->classes[ANA_INPUT_UNKNOWN] = starved ? MADE_HOUR_NS / 4 : MADE_HOUR_NS / 1000;
	g->classes[ANA_HOST_SYNC] = MADE_HOUR_NS / 100;
	g->classes[ANA_EXCLUDED_STARTUP] = 1000000000;
	g->classes[ANA_COMPUTE] = g->held_ns;
	for (int c = 0; c < ANA_CLASSES; c++)
		if (c != ANA_COMPUTE)
			g->classes[ANA_COMPUTE] -= g->classes[c];
	g->busy_ns = g->compute_ns = g->classes[ANA_COMPUTE];
	g->idle_ns = g->empty_ns = g->span_ns - g->busy_ns;
	g->confidence[ANA_INPUT_UNKNOWN][ANA_HIGH] = g->classes[ANA_INPUT_UNKNOWN];
	g->confidence[ANA_HOST_SYNC][ANA_HIGH] = g->classes[ANA_HOST_SYNC];
	g->judgement = ana_verdict_of(g->held_ns, g->classes);
}

static void made_timeline(struct ana_timeline *t, const struct ana_gpu *g, size_t buckets)
{
	t->bucket = calloc(buckets ? buckets : 1, sizeof(*t->bucket));
	t->count = buckets;
	for (size_t b = 0; b < buckets; b++) {
		struct ana_bucket *k = &t->bucket[b];
		k->start_ns = g->held_start_ns + g->held_ns / (int64_t)buckets * (int64_t)b;
		k->end_ns = k->start_ns + g->held_ns / (int64_t)buckets;
		for (int c = 0; c < ANA_CLASSES; c++)
			k->classes[c] =
				g->classes[c] / (int64_t)buckets + (int64_t)(b * 7919 % 997);
	}
}

static void made_totals(struct ana_result *r)
{
	for (size_t i = 0; i < r->gpus; i++) {
		r->gpu_ns += r->gpu[i].held_ns;
		for (int c = 0; c < ANA_CLASSES; c++) {
			r->classes[c] += r->gpu[i].classes[c];
			for (int k = 0; k < ANA_CONFIDENCES; k++)
				r->confidence[c][k] += r->gpu[i].confidence[c][k];
			if (ana_class_is_input(c))
				r->starved_ns += r->gpu[i].classes[c];
			if (ana_class_is_waste(c))
				r->wasted_ns += r->gpu[i].classes[c];
		}
	}
	r->judgement = ana_verdict_of(r->gpu_ns, r->classes);
}

static struct ana_result *made_result(size_t gpus, const char *name, size_t buckets)
{
	struct ana_result *r = calloc(1, sizeof(*r));

	r->gpus = gpus;
	r->gpu = calloc(gpus, sizeof(*r->gpu));
	r->timeline = calloc(gpus, sizeof(*r->timeline));
	for (size_t i = 0; i < gpus; i++) {
		made_gpu(&r->gpu[i], (uint32_t)i, name, i == 0);
		made_timeline(&r->timeline[i], &r->gpu[i], buckets);
	}
	made_totals(r);
	r->top_gaps = 2;
	r->top_gap = calloc(2, sizeof(*r->top_gap));
	r->top_gap[0] = (struct ana_gap){ .gpu = 0,
					  .start_ns = r->gpu[0].held_start_ns + 5,
					  .end_ns = r->gpu[0].held_start_ns + 9000,
					  .empty_ns = 8000,
					  .major = ANA_INPUT_UNKNOWN,
					  .pid = 4242,
					  .tid = 4243 };
	r->top_gap[1] = r->top_gap[0];
	r->processes = 1;
	r->process = calloc(1, sizeof(*r->process));
	r->process[0] = (struct ana_process){ strdup("node1"),
					      4242,
					      true,
					      3,
					      strdup("trainer"),
					      strdup("exit"),
					      r->gpu[0].held_start_ns,
					      r->gpu[0].held_end_ns,
					      true };
	r->step_source = ANA_STEPS_RANGE;
	r->steps = 100;
	r->step_median_ns = 36000000000LL;
	r->step_p95_ns = 37000000000LL;
	r->loader_kind = strdup("DataLoader");
	r->batches = 100;
	r->loader_wait_ns = 5000;
	r->loader_exposed_ns = 4000;
	r->loader_hidden_ns = 1000;
	r->copies[ANA_H2D] = (struct ana_copies){ 10, 1000, 4, 400, 4, 5000, 600 };
	r->quality.events = 12345;
	r->quality.trace_bytes = 43210;
	r->complete = true;
	r->level = strdup("1");
	return r;
}

static struct view_rate *made_rates(size_t gpus, const char *name, int64_t nano)
{
	struct view_rate *rate = calloc(gpus, sizeof(*rate));

	for (size_t i = 0; i < gpus; i++) {
		rate[i] = (struct view_rate){ .known = nano > 0,
					      .nano_usd_per_hour = nano,
					      .list_nano_usd_per_hour = nano,
					      .fraction_num = 1,
					      .fraction_den = 1 };
		snprintf(rate[i].gpu, sizeof(rate[i].gpu), "%.127s", name);
		if (nano <= 0)
			continue;
		strcpy(rate[i].label, "aws p5.48xlarge us-east-1");
		strcpy(rate[i].price_model, "on-demand");
		strcpy(rate[i].source, "a list");
		strcpy(rate[i].date, "2026-11-09");
	}
	return rate;
}

static char *made_text(const char *text)
{
	return text ? strdup(text) : NULL;
}

/*
 * Adds a hotspot; its strings are copied. Hotspots are given most time first, as the engine does.
 */
static void made_site(struct ana_result *r, struct ana_hotspot hotspot)
{
	r->hotspot = realloc(r->hotspot, (r->hotspots + 1) * sizeof(*r->hotspot));
	hotspot.function = made_text(hotspot.function);
	hotspot.file = made_text(hotspot.file);
	hotspot.leaf = made_text(hotspot.leaf);
	hotspot.native = made_text(hotspot.native);
	hotspot.has_cpu = made_text(hotspot.has_cpu);
	hotspot.target = made_text(hotspot.target);
	hotspot.fs = made_text(hotspot.fs);
	r->hotspot[r->hotspots++] = hotspot;
}

/* Adds what was waited for, slowest first; its strings are copied. */
static void made_target(struct ana_result *r, struct ana_target target)
{
	r->target = realloc(r->target, (r->targets + 1) * sizeof(*r->target));
	target.name = made_text(target.name);
	target.fs = made_text(target.fs);
	r->target[r->targets++] = target;
}

/* Moves @ns of the first GPU's computing to class @c, at high confidence. */
static void made_class(struct ana_result *r, enum ana_class c, int64_t ns)
{
	r->gpu[0].classes[c] += ns;
	r->gpu[0].classes[ANA_COMPUTE] -= ns;
	r->gpu[0].confidence[c][ANA_HIGH] += ns;
	r->classes[c] += ns;
	r->classes[ANA_COMPUTE] -= ns;
	r->confidence[c][ANA_HIGH] += ns;
	r->starved_ns += ana_class_is_input(c) ? ns : 0;
	r->gpu[0].judgement = ana_verdict_of(r->gpu[0].held_ns, r->gpu[0].classes);
	r->judgement = ana_verdict_of(r->gpu_ns, r->classes);
}

/* Empties class @c of the first GPU. */
static void made_no_class(struct ana_result *r, enum ana_class c)
{
	int64_t ns = r->gpu[0].classes[c];

	r->gpu[0].confidence[c][ANA_HIGH] = r->confidence[c][ANA_HIGH] = 0;
	made_class(r, c, -ns);
	r->gpu[0].confidence[c][ANA_HIGH] = r->confidence[c][ANA_HIGH] = 0;
}

/* A loader of @workers that made @made batches in @fetch_ns each, @cpu_ns of it on a CPU. */
static void made_loader(struct ana_result *r, uint32_t workers, uint64_t made, int64_t fetch_ns,
			int64_t cpu_ns)
{
	r->loader = calloc(1, sizeof(*r->loader));
	r->loaders = 1;
	r->loader[0] = (struct ana_loader_facts){
		.known = ANA_LOADER_WORKERS | ANA_LOADER_PREFETCH | ANA_LOADER_BATCH |
			 ANA_LOADER_PIN | ANA_LOADER_PERSISTENT | ANA_LOADER_IN_ORDER,
		.workers = workers,
		.prefetch = 2,
		.batch_size = 16,
		.in_order = true,
		.start = strdup("fork"),
		.dataset = strdup("ShardDataset"),
		.kind = strdup("torch"),
		.trainers = 1,
		.iterators = 1,
		.open_ns = 30000000,
		.taken = made,
		.take_ns = 1000,
		.made = made,
		.made_samples = made * 16,
		.fetch_ns = fetch_ns * (int64_t)made,
		.fetch_cpu_ns = cpu_ns * (int64_t)made,
		.fetch_median_ns = fetch_ns,
		.fetch_p95_ns = fetch_ns * 2,
		.rchar_bytes = made * 3200000,
		.read_bytes = made * 1600000,
		.seen_ns = MADE_HOUR_NS,
	};
}

/* @nano 0: no price is known. Takes @r over. */
static struct view_summary *made_summary_of(struct ana_result *r, const char *name, int64_t nano)
{
	struct view_summary_options o = { .window = ANA_WINDOW_JOB };
	struct view_trace t = { .path = (char *)"runs/x.gst",
				.run = { .id = (char *)name, .wall_ns = MADE_HOUR_NS } };
	struct view_summary *s = NULL;
	size_t gpus = r->gpus;

	if (view_summary_make(&s, r, &t, made_rates(gpus, name, nano), &o))
		return NULL;
	return s;
}

/*
 * One GPU that starved for a third of an hour: three quarters of it workers that read shards, the
 * rest decoding. Every string of its places is @name, unless that is NULL.
 */
static struct ana_result *made_starved(const char *name)
{
	struct ana_result *r = made_result(1, "NVIDIA H100 80GB HBM3", 10);
	int64_t third = MADE_HOUR_NS / 3;

	made_no_class(r, ANA_INPUT_UNKNOWN);
	made_class(r, ANA_INPUT_FETCH, third / 4 * 3);
	made_class(r, ANA_INPUT_PREP, third / 4);
	r->cpus = 16;
	r->batches = 100000;
	r->steps = 100000;
	r->gpu[0].span_ns = MADE_HOUR_NS;
	r->loader_wait_ns = r->loader_exposed_ns = r->gpu[0].loader_exposed_ns = third;
	r->loader_hidden_ns = 0;
	r->step_fed_median_ns = -1;
	made_site(r,
		  (struct ana_hotspot){
			  .class = ANA_INPUT_FETCH,
			  .ns = third / 2,
			  .role = WIRE_ROLE_WORKER,
			  .wait = WIRE_WAIT_READ,
			  .function = (char *)(name ? name : "__getitem__"),
			  .file = (char *)(name ? name : "/home/someone/project/data/dataset.py"),
			  .line = 88,
			  .target = (char *)(name ? name : "/data/imagenet/train/shard-0017.bin"),
			  .fs = (char *)(name ? name : "nfs4"),
			  .native = (char *)(name ? name : "/lib/x/libc.so.6\t1b2f3\tabcdef"),
			  .samples = 1214,
			  .threads = 4,
			  .workers = 4 });
	made_site(r,
		  (struct ana_hotspot){
			  .class = ANA_INPUT_PREP,
			  .ns = third / 4,
			  .role = WIRE_ROLE_WORKER,
			  .wait = WIRE_WAIT_NONE,
			  .function = (char *)(name ? name : "__getitem__"),
			  .file = (char *)(name ? name : "/home/someone/project/data/dataset.py"),
			  .line = 91,
			  .leaf = (char *)(name ? name : "resize\t/usr/lib/python3/PIL/Image.py"),
			  .samples = 411,
			  .threads = 4,
			  .workers = 4 });
	made_site(r,
		  (struct ana_hotspot){
			  .class = ANA_INPUT_FETCH,
			  .ns = third / 8,
			  .role = WIRE_ROLE_WORKER,
			  .wait = WIRE_WAIT_READ,
			  .function = (char *)(name ? name : "__getitem__"),
			  .file = (char *)(name ? name : "/home/someone/project/data/dataset.py"),
			  .line = 88,
			  .target = (char *)(name ? name : "/data/imagenet/train/shard-0018.bin"),
			  .fs = (char *)(name ? name : "nfs4"),
			  .samples = 300,
			  .threads = 3,
			  .workers = 3 });
	made_target(r,
		    (struct ana_target){
			    .name = (char *)(name ? name : "/data/imagenet/train/shard-0017.bin"),
			    .fs = (char *)(name ? name : "nfs4"),
			    .ns = third / 2,
			    .samples = 1214,
			    .bytes = 123456789,
			    .read_ns = 2000000000 });
	made_target(r, (struct ana_target){ .name = (char *)(name ? name : "socket:10.0.0.7:443"),
					    .fs = (char *)"",
					    .ns = third / 8,
					    .samples = 300 });
	made_loader(r, 4, 100000, 144000000, 30000000);
	r->quality.samples = 2000;
	r->quality.samples_torn = 3;
	r->quality.gap_unsampled_ns = 1000000;
	return r;
}

/* @nano 0: no price is known. */
static struct view_summary *made_summary(size_t gpus, const char *name, int64_t nano,
					 size_t buckets)
{
	struct view_summary_options o = { .window = ANA_WINDOW_JOB };
	char *command[] = { (char *)"python", (char *)name };
	char *key[] = { (char *)name }, *value[] = { (char *)name };
	struct view_trace t = { .path = (char *)"runs/x.gst",
				.run = { .id = (char *)name,
					 .command = command,
					 .commands = 2,
					 .start_unix_ns = 1794232931000000000LL,
					 .wall_ns = MADE_HOUR_NS,
					 .has_exit_status = true,
					 .label_key = key,
					 .label_value = value,
					 .labels = 1 } };
	struct view_summary *s = NULL;

	if (view_summary_make(&s, made_result(gpus, name, buckets), &t,
			      made_rates(gpus, name, nano), &o))
		return NULL;
	return s;
}

/* What a page writes, as text; free() it. Not inlined: gcc 12 then sees danglers that are none. */
__attribute__((noinline)) static char *made_page(const struct view_summary *s,
						 void (*write)(const struct view_summary *s,
							       FILE *f))
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	write(s, f);
	fclose(f);
	return text;
}

#endif
