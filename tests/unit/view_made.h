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
#include "cost.h"
#include "summary.h"

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
	g->judgement = ana_judge(g->held_ns, g->classes);
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
	r->judgement = ana_judge(r->gpu_ns, r->classes);
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
	r->top_gap[0] =
		(struct ana_gap){ 0,	r->gpu[0].held_start_ns + 5, r->gpu[0].held_start_ns + 9000,
				  8000, ANA_INPUT_UNKNOWN,	     4242,
				  4243 };
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
					      r->gpu[0].held_end_ns };
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
