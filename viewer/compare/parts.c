/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of two runs may be compared. A part is refused for one reason, the first that holds; the
 * reasons are ordered so that the one named is the one to mend.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "findings/loader.h"
#include "compare_priv.h"
#include "report/text/text.h"

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The GPUs' names in order, so that two lists can be compared. */
static const char **names_of(const struct view_summary *s, struct base_arena *mem)
{
	const struct ana_result *r = s->result;
	const char **name = base_arena_array(mem, r->gpus + 1, sizeof(*name));

	for (size_t i = 0; i < r->gpus; i++)
		name[i] = r->gpu[i].name ? r->gpu[i].name : "";
	qsort(name, r->gpus, sizeof(*name), by_text);
	return name;
}

static bool same_gpus(const struct pairing *g, struct base_arena *mem)
{
	size_t n = g->s[0]->result->gpus;

	if (n != g->s[1]->result->gpus)
		return false;
	const char **a = names_of(g->s[0], mem), **b = names_of(g->s[1], mem);
	for (size_t i = 0; i < n; i++)
		if (strcmp(a[i], b[i]) != 0)
			return false;
	return true;
}

static int by_amount(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static int64_t *prices_of(const struct view_summary *s, struct base_arena *mem)
{
	int64_t *price = base_arena_array(mem, s->cost.gpus + 1, sizeof(*price));

	for (size_t i = 0; i < s->cost.gpus; i++)
		price[i] = s->cost.rate[i].nano_usd_per_hour;
	qsort(price, s->cost.gpus, sizeof(*price), by_amount);
	return price;
}

static bool same_prices(const struct pairing *g, struct base_arena *mem)
{
	size_t n = g->s[0]->cost.gpus;

	if (n != g->s[1]->cost.gpus)
		return false;
	const int64_t *a = prices_of(g->s[0], mem), *b = prices_of(g->s[1], mem);
	for (size_t i = 0; i < n; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

static const char *windows_differ(struct pairing *g)
{
	if (g->s[0]->window == g->s[1]->window)
		return NULL;
	return "their windows differ (job and device)";
}

/*
 * Another rule may call the same time otherwise: what is told of classes is about different things.
 */
static const char *rules_differ(struct pairing *g)
{
	uint32_t a = g->s[0]->rules, b = g->s[1]->rules;

	if (a == b)
		return NULL;
	return base_arena_printf(&g->c->mem,
				 "their classes are by different rules (%" PRIu32 " and %" PRIu32
				 "): name the run's directory instead of its summary",
				 a, b);
}

static const char *gpus_differ(struct pairing *g)
{
	struct base_arena *mem = &g->c->mem;

	if (same_gpus(g, mem))
		return NULL;
	return base_arena_printf(mem, "%s ran on %s and %s on %s", g->label[0],
				 view_text_gpus(g->s[0], mem), g->label[1],
				 view_text_gpus(g->s[1], mem));
}

/* Other GPUs have other prices, and what a step costs on each is the question. */
static const char *prices_differ(struct pairing *g, bool other_gpus)
{
	struct base_arena *mem = &g->c->mem;
	bool a = g->s[0]->cost.known, b = g->s[1]->cost.known;

	if (!a && !b)
		return "no price is known";
	if (a != b)
		return base_arena_printf(mem, "no price is known of %s", g->label[a ? 1 : 0]);
	if (other_gpus || same_prices(g, mem))
		return NULL;
	return "their prices differ; give one with --price";
}

/* What a step works on. */
static const char *sets_differ(struct pairing *g)
{
	const struct ana_loader_facts *a = view_loader_facts(g->s[0]),
				      *b = view_loader_facts(g->s[1]);

	if (!a || !b || !a->dataset || !b->dataset || !strcmp(a->dataset, b->dataset))
		return NULL;
	return base_arena_printf(&g->c->mem, "their data sets differ (%s and %s)", a->dataset,
				 b->dataset);
}

static const char *batches_differ(struct pairing *g)
{
	const struct ana_loader_facts *a = view_loader_facts(g->s[0]),
				      *b = view_loader_facts(g->s[1]);
	struct base_arena *mem = &g->c->mem;

	if (!a || !b)
		return NULL;
	if (a->known & b->known & ANA_LOADER_BATCH && a->batch_size != b->batch_size)
		return base_arena_printf(mem,
					 "their batches differ (%" PRIu32 " and %" PRIu32
					 " samples)",
					 a->batch_size, b->batch_size);
	return NULL;
}

static const char *step_source(const struct view_summary *s)
{
	static const char *const from[] = { "nothing", "step ranges", "optimizer ranges",
					    "the period of the kernels", "the loader's batches" };

	return from[s->result->step_source];
}

static const char *steps_unlike(struct pairing *g)
{
	bool a = g->p->stepped[0], b = g->p->stepped[1];

	if (!a && !b)
		return "neither run's steps are known";
	if (a != b)
		return base_arena_printf(&g->c->mem, "the steps of %s are not known",
					 g->label[a ? 1 : 0]);
	if (g->s[0]->result->step_source != g->s[1]->result->step_source)
		return base_arena_printf(&g->c->mem, "steps are found by %s in %s and by %s in %s",
					 step_source(g->s[0]), g->label[0], step_source(g->s[1]),
					 g->label[1]);
	return NULL;
}

/* Batches, where nobody counts samples: of one loader, as others may validate. */
static struct view_step_work batches_of(const struct view_summary *s)
{
	struct view_step_work w = { .den = 1, .steps = s->result->steps };
	size_t loaders = 0;

	for (size_t i = 0; i < s->result->loaders; i++) {
		uint64_t n = s->result->loader[i].given.batches;

		loaders += n > 0;
		w.num = n && n < INT64_MAX ? (int64_t)n : w.num;
	}
	w.bound = !s->result->complete;
	return loaders == 1 ? w : (struct view_step_work){ 0 };
}

/* Gradients of several batches make a step of more, and a step costs more for it. */
static const char *work_differs(struct pairing *g, bool *by_samples)
{
	struct view_step_work a = view_step_work(g->s[0]), b = view_step_work(g->s[1]);
	char x[VIEW_STEP_WORK_TEXT], y[VIEW_STEP_WORK_TEXT];
	const char *unit = "samples";

	*by_samples = view_step_works_differ(&a, &b);
	if (!view_step_work_each(&a) || !view_step_work_each(&b)) {
		a = batches_of(g->s[0]);
		b = batches_of(g->s[1]);
		unit = "batches";
	}
	if (!view_step_works_differ(&a, &b))
		return NULL;
	return base_arena_printf(&g->c->mem, "a step is of %s %s in %s and of %s in %s",
				 view_step_work_text(x, &a), unit, g->label[0],
				 view_step_work_text(y, &b), g->label[1]);
}

/* Of as many samples the runs did the same, in however many steps. */
static const char *amounts_differ(struct pairing *g, const char *work)
{
	const struct view_outcome *a = view_outcome_of(g->s[0], "samples");
	const struct view_outcome *b = view_outcome_of(g->s[1], "samples");

	return a && b && !a->bound && !b->bound && a->num == b->num && a->den == b->den ? NULL
											: work;
}

static const char *numbers_differ(struct pairing *g)
{
	base_unit a, b;

	if (g->s[0]->result->steps == g->s[1]->result->steps)
		return NULL;
	return base_arena_printf(&g->c->mem, "%s took %s steps and %s %s", g->label[0],
				 base_count(a, g->s[0]->result->steps), g->label[1],
				 base_count(b, g->s[1]->result->steps));
}

static const char *cut_short(struct pairing *g)
{
	for (int i = 0; i < 2; i++)
		if (view_told_bound(g->s[i]))
			return base_arena_printf(
				&g->c->mem, "%s is incomplete: a process ended without saying so",
				g->label[i]);
	return NULL;
}

static const char *waste_differs(struct pairing *g)
{
	if (!memcmp(g->s[0]->waste, g->s[1]->waste, sizeof(g->s[0]->waste)))
		return NULL;
	return "their waste sets differ; give one with --waste";
}

static const char *first_of(const char *a, const char *b)
{
	return a ? a : b;
}

static void add_notes(struct pairing *g)
{
	const struct view_summary *a = g->s[0], *b = g->s[1];
	struct base_arena *mem = &g->c->mem;
	base_unit steps;

	compare_note(g, "one run on each side: how much equal runs differ is not known");
	if (a->id[0] && !strcmp(a->id, b->id))
		compare_note(g, base_arena_printf(mem, "%s and %s have the same id", g->label[0],
						  g->label[1]));
	if (a->start_unix_ns && b->start_unix_ns && b->start_unix_ns < a->start_unix_ns)
		compare_note(g, base_arena_printf(mem,
						  "%s began before %s: name the earlier one first",
						  g->label[1], g->label[0]));
	for (int i = 0; i < 2; i++)
		if (g->s[i]->has_exit_status && g->s[i]->exit_status)
			compare_note(g, base_arena_printf(mem, "%s failed: exit status %d",
							  g->label[i], g->s[i]->exit_status));
	for (int i = 0; i < 2; i++)
		if (view_told_bound(g->s[i]) && g->s[i]->result->steps)
			compare_note(g,
				     base_arena_printf(mem,
						       "%s: at least %s steps, up to its last "
						       "record; per step at most what stands "
						       "here",
						       g->label[i],
						       base_count(steps, g->s[i]->result->steps)));
	if (strcmp(a->result->level ? a->result->level : "",
		   b->result->level ? b->result->level : "") != 0 ||
	    a->result->imported != b->result->imported)
		compare_note(g, "they were recorded in different ways, which moves time between "
				"classes");
}

/* The parts that are refused for the same reason, in one line. */
static const char *refusal(struct pairing *g, const char *reason)
{
	static const char *const name[VIEW_PARTS] = {
		[VIEW_PART_FACT] = "",
		[VIEW_PART_SHARE] = "shares of the GPU time",
		[VIEW_PART_WASTE] = "waste",
		[VIEW_PART_LOADER] = "the loader's times",
		[VIEW_PART_STEP] = "time per step",
		[VIEW_PART_GPU_STEP] = "GPU time per step",
		[VIEW_PART_USD_STEP] = "dollars per step",
		[VIEW_PART_RUN] = "time of the run",
		[VIEW_PART_GPU_RUN] = "GPU time of the run",
		[VIEW_PART_USD_RUN] = "dollars of the run",
		[VIEW_PART_USD_UNIT] = "dollars of what it brought forth",
	};
	const char *all = "";

	for (int k = 0; k < VIEW_PARTS; k++)
		if (g->p->why[k] == reason)
			all = base_arena_printf(&g->c->mem, "%s%s%s", all, *all ? ", " : "",
						name[k]);
	return base_arena_printf(&g->c->mem, "%s: %s", all, reason);
}

static void set_refusals(struct pairing *g)
{
	struct view_pair *p = g->p;

	p->refusal = base_arena_array(&g->c->mem, VIEW_PARTS, sizeof(*p->refusal));
	for (int k = 0; k < VIEW_PARTS; k++) {
		bool told = !p->why[k];
		for (int i = 0; i < k; i++)
			told |= p->why[i] == p->why[k];
		if (!told)
			p->refusal[p->refusals++] = refusal(g, p->why[k]);
	}
}

void compare_parts(struct pairing *g)
{
	const char *window = windows_differ(g), *gpus = gpus_differ(g), *sets = sets_differ(g);
	const char *data = first_of(sets, batches_differ(g));
	const char *price = prices_differ(g, gpus != NULL), *steps = steps_unlike(g);
	const char *rules = rules_differ(g);
	const char *device = first_of(rules, first_of(gpus, window));
	const char *paid = first_of(first_of(rules, window), price);
	const char **why = g->p->why;
	bool by_samples;
	const char *work = work_differs(g, &by_samples);

	g->p->by_samples = by_samples && !first_of(sets, steps);
	g->p->samples_gpu = g->p->by_samples && !device;
	g->p->samples_usd = g->p->by_samples && !paid;
	g->p->other_rules = rules != NULL;
	why[VIEW_PART_SHARE] = first_of(device, data);
	why[VIEW_PART_WASTE] = first_of(why[VIEW_PART_SHARE], waste_differs(g));
	why[VIEW_PART_LOADER] = data;
	why[VIEW_PART_STEP] = first_of(steps, first_of(data, work));
	why[VIEW_PART_GPU_STEP] = first_of(why[VIEW_PART_STEP], device);
	why[VIEW_PART_USD_STEP] = first_of(why[VIEW_PART_STEP], paid);
	why[VIEW_PART_RUN] =
		g->p->by_samples
			? first_of(first_of(data, amounts_differ(g, work)), cut_short(g))
			: first_of(why[VIEW_PART_STEP], first_of(numbers_differ(g), cut_short(g)));
	why[VIEW_PART_GPU_RUN] = first_of(why[VIEW_PART_RUN], device);
	why[VIEW_PART_USD_RUN] = first_of(why[VIEW_PART_RUN], paid);
	why[VIEW_PART_USD_UNIT] = window;
	set_refusals(g);
	add_notes(g);
}
