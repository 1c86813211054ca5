/* SPDX-License-Identifier: Apache-2.0 */
#include "compare.h"

#include <string.h>
#include "compare_priv.h"

const char *const view_part_names[VIEW_PARTS] = {
	[VIEW_PART_FACT] = "fact",	   [VIEW_PART_SHARE] = "share",
	[VIEW_PART_WASTE] = "waste",	   [VIEW_PART_LOADER] = "loader",
	[VIEW_PART_STEP] = "step",	   [VIEW_PART_GPU_STEP] = "gpu_step",
	[VIEW_PART_USD_STEP] = "usd_step", [VIEW_PART_RUN] = "run",
	[VIEW_PART_GPU_RUN] = "gpu_run",   [VIEW_PART_USD_RUN] = "usd_run",
	[VIEW_PART_USD_UNIT] = "usd_unit",
};

const char *const view_figure_names[VIEW_FIGURES] = {
	[VIEW_FIGURE_NS] = "ns",	[VIEW_FIGURE_PPM] = "ppm",
	[VIEW_FIGURE_USD] = "nano_usd", [VIEW_FIGURE_COUNT] = "count",
	[VIEW_FIGURE_BYTES] = "bytes",
};

const char *const view_finding_states[VIEW_FINDING_STATES] = {
	[VIEW_FINDING_WENT] = "went",
	[VIEW_FINDING_CAME] = "came",
	[VIEW_FINDING_MOVED] = "moved",
	[VIEW_FINDING_STAYED] = "stayed",
};

const char *const view_limit_names[VIEW_LIMITS] = {
	[VIEW_LIMIT_NOTHING] = "nothing",
	[VIEW_LIMIT_CHANGE] = "change",
	[VIEW_LIMIT_WHOLE] = "whole",
	[VIEW_LIMIT_BOUND] = "bound",
};

int64_t compare_per_step(const struct view_summary *s, __int128 amount)
{
	uint64_t steps = s->result->steps;

	return steps ? compare_bounded(base_div_even(amount, (__int128)steps)) : 0;
}

void compare_note(struct pairing *g, const char *text)
{
	g->p->note[g->p->notes++] = text;
}

static void compare_classes(struct pairing *g)
{
	struct view_pair *p = g->p;

	p->class = base_arena_array(&g->c->mem, ANA_CLASSES, sizeof(*p->class));
	for (int c = 0; c < ANA_CLASSES; c++) {
		struct view_class_change *k = &p->class[p->classes];
		if (!g->s[0]->result->classes[c] && !g->s[1]->result->classes[c])
			continue;
		k->class = (enum ana_class)c;
		for (int i = 0; i < 2; i++) {
			const struct view_summary *s = g->s[i];
			k->ns[i] = compare_bounded(s->result->classes[c]);
			k->ppm[i] =
				compare_bounded(base_ppm(s->result->classes[c], s->result->gpu_ns));
			k->step_ns[i] = compare_per_step(s, s->result->classes[c]);
			k->step_nano_usd[i] = compare_per_step(s, s->cost.classes[c]);
		}
		p->classes++;
	}
}

static void compare_pair(struct view_comparison *c, size_t later)
{
	struct view_pair *p = &c->pair[later - 1];
	struct pairing g = { .c = c,
			     .p = p,
			     .s = { c->run[0].summary, c->run[later].summary },
			     .label = { c->run[0].label, c->run[later].label } };

	p->run = later;
	p->note = base_arena_array(&c->mem, 20, sizeof(*p->note));
	for (int i = 0; i < 2; i++) {
		p->priced[i] = g.s[i]->cost.known;
		p->stepped[i] = g.s[i]->result->steps > 0;
	}
	compare_parts(&g);
	compare_measures(&g);
	compare_unit(&g);
	compare_classes(&g);
	compare_findings(&g);
	compare_promises(&g);
	compare_sentence(&g);
}

void view_compare(struct view_comparison *c, const struct view_summary *const *s,
		  const char *const *path, size_t n, int64_t runs_per_month)
{
	*c = (struct view_comparison){ .runs = n, .runs_per_month = runs_per_month };
	c->run = base_arena_array(&c->mem, n, sizeof(*c->run));
	c->pair = base_arena_array(&c->mem, n, sizeof(*c->pair));
	for (size_t i = 0; i < n; i++)
		c->run[i] = (struct view_compared_run){ s[i],
							base_arena_text(&c->mem, path[i]),
							{ (char)('A' + i), '\0' } };
	for (size_t i = 1; i < n; i++)
		compare_pair(c, i);
}

const struct view_measure *view_pair_measure(const struct view_pair *p, const char *id)
{
	for (size_t i = 0; i < p->measures; i++)
		if (!strcmp(p->measure[i].id, id))
			return &p->measure[i];
	return NULL;
}

void view_comparison_fini(struct view_comparison *c)
{
	base_arena_fini(&c->mem);
	*c = (struct view_comparison){ 0 };
}
