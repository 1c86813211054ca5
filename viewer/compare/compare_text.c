/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The comparison for a terminal: the sentence first, then what it stands on, in as many columns as
 * there are. Fewer than 80 give tables less to show, and figures lines of their own.
 */
#include <string.h>
#include "compare_priv.h"
#include "core/wrap.h"

#define FINDINGS_SHOWN 12
#define LEAST_PPM 1000 /* of the GPU time: smaller classes are not listed */

struct sheet {
	const struct view_comparison *c;
	const struct view_pair *p;
	FILE *f;
	const struct view_text_style *style;
	struct base_arena mem;
};

static const char *paint(const struct sheet *s, const char *code)
{
	return s->style->colour ? code : "";
}

static bool narrow(const struct sheet *s)
{
	return s->style->columns < VIEW_COLUMNS;
}

/* A pipe gets long words whole, so that paths in it can be used. */
static void wrap(struct sheet *s, int at, int hang, const char *text)
{
	view_wrap_in(s->f, s->style->columns, narrow(s), at, hang, text);
}

static void put_heading(struct sheet *s, const char *text)
{
	fprintf(s->f, "\n%s", paint(s, "\033[1m"));
	wrap(s, 0, 2, text);
	fputs(paint(s, "\033[0m"), s->f);
}

static void put_item(struct sheet *s, int hang, const char *text)
{
	fputs("  ", s->f);
	wrap(s, 2, hang, text);
}

static void put_runs(struct sheet *s)
{
	for (size_t i = 0; i < s->c->runs; i++)
		put_item(s, 4,
			 base_arena_printf(&s->mem, "%s  %s", s->c->run[i].label,
					   compare_run_words(&s->c->run[i], &s->mem)));
}

/* "cost per step: A $0.12, B $0.10, -$0.02 (-16.7 %)". */
static void put_figures(struct sheet *s, const char *title, const char *a, const char *b,
			const char *difference, const char *change)
{
	put_item(s, 4,
		 base_arena_printf(&s->mem, "%s: %s %s, %s %s%s%s%s%s%s", title, s->c->run[0].label,
				   a, s->c->run[s->p->run].label, b, *difference ? ", " : "",
				   difference, *change ? " (" : "", change, *change ? ")" : ""));
}

static void put_row(struct sheet *s, const char *title, const char *a, const char *b,
		    const char *difference, const char *change)
{
	if (narrow(s))
		put_figures(s, title, a, b, difference, change);
	else
		fprintf(s->f, "  %-22s %*s %*s %*s %9s\n", title, base_width(a, 14), a,
			base_width(b, 14), b, base_width(difference, 14), difference, change);
}

static void put_measures(struct sheet *s)
{
	put_heading(s, "Side by side");
	if (!narrow(s))
		put_row(s, "", s->c->run[0].label, s->c->run[s->p->run].label, "difference",
			"change");
	for (size_t i = 0; i < s->p->measures; i++) {
		const struct view_measure *m = &s->p->measure[i];
		base_unit v[2] = { "-", "-" }, d = "", change = "";
		if (!m->known[0] && !m->known[1])
			continue;
		if (m->comparable)
			compare_row(m->figure, m->value, v, d);
		for (int k = 0; k < 2 && !m->comparable; k++)
			if (m->known[k])
				compare_figure(v[k], m->figure, m->value[k]);
		if (m->has_change && m->figure != VIEW_FIGURE_PPM)
			compare_change(change, m->change_ppm);
		put_row(s, m->title, v[0], v[1],
			m->known[0] && m->known[1] && !m->comparable ? "not comparable" : d,
			change);
	}
}

static void put_class(struct sheet *s, const struct view_class_change *k)
{
	base_unit a, b, step[2], d;
	bool same = !s->p->why[VIEW_PART_GPU_STEP];
	const char *name = ana_class_names[k->class];

	for (int i = 0; i < 2; i++)
		if (s->p->stepped[i])
			compare_figure(step[i], VIEW_FIGURE_NS, k->step_ns[i]);
		else
			strcpy(step[i], "-");
	if (narrow(s)) {
		fprintf(s->f, "  %-19s %8s %8s\n", name,
			compare_figure(a, VIEW_FIGURE_PPM, k->ppm[0]),
			compare_figure(b, VIEW_FIGURE_PPM, k->ppm[1]));
		return;
	}
	fprintf(s->f, "  %-20s %8s %8s  %11s %11s %12s\n", name,
		compare_figure(a, VIEW_FIGURE_PPM, k->ppm[0]),
		compare_figure(b, VIEW_FIGURE_PPM, k->ppm[1]), step[0], step[1],
		same ? compare_signed(d, VIEW_FIGURE_NS, k->step_ns[1] - k->step_ns[0]) : "-");
}

static void put_classes(struct sheet *s)
{
	const char *a = s->c->run[0].label, *b = s->c->run[s->p->run].label;

	put_heading(s, narrow(s) ? "Where the GPU time went (share)"
				 : "Where the GPU time went (share, and time per step)");
	if (narrow(s))
		fprintf(s->f, "  %-19s %8s %8s\n", "class", a, b);
	else
		fprintf(s->f, "  %-20s %8s %8s  %11s %11s %12s\n", "class", a, b, a, b,
			"difference");
	for (size_t i = 0; i < s->p->classes; i++)
		if (s->p->class[i].ppm[0] >= LEAST_PPM || s->p->class[i].ppm[1] >= LEAST_PPM)
			put_class(s, &s->p->class[i]);
}

static void put_findings(struct sheet *s)
{
	size_t n = s->p->findings;

	if (!n)
		return;
	put_heading(s, "Findings that came and went");
	for (size_t i = 0; i < n && i < FINDINGS_SHOWN; i++) {
		const struct view_finding_change *f = &s->p->finding[i];
		const struct view_finding *at = f->finding[1] ? f->finding[1] : f->finding[0];
		int hang = narrow(s) ? 4 : 29;
		fprintf(s->f, "  %-7s %-18s", view_finding_states[f->status],
			ana_class_names[at->class]);
		if (narrow(s))
			fprintf(s->f, "\n%*s", hang, "");
		else
			fputc(' ', s->f);
		wrap(s, hang, hang, compare_finding_words(s->c, s->p, f, &s->mem));
		fprintf(s->f, "%*s", hang, "");
		wrap(s, hang, hang,
		     base_arena_printf(&s->mem, "(%s)", compare_finding_figures(s->p, f, &s->mem)));
	}
	if (n > FINDINGS_SHOWN || s->p->findings_left_out)
		fprintf(s->f, "  and %zu more (see --format json)\n",
			(n > FINDINGS_SHOWN ? n - FINDINGS_SHOWN : 0) + s->p->findings_left_out);
}

static void put_promises(struct sheet *s)
{
	if (!s->p->promises)
		return;
	put_heading(s, base_arena_printf(&s->mem,
					 "What %s's advice predicted and what was realised "
					 "(bounds overlap)",
					 s->c->run[0].label));
	for (size_t i = 0; i < s->p->promises; i++) {
		const struct view_promise *q = &s->p->promise[i];
		put_item(s, 5,
			 base_arena_printf(&s->mem, "%zu. %s: %s", i + 1, q->advice->brief,
					   compare_promise_words(s->p, q, &s->mem)));
	}
}

static void put_doubts(struct sheet *s)
{
	const struct view_pair *p = s->p;

	for (size_t i = 0; i < p->refusals; i++)
		put_item(s, 4, base_arena_printf(&s->mem, "not comparable: %s", p->refusal[i]));
	for (size_t i = 0; i < p->notes; i++)
		put_item(s, 4, base_arena_printf(&s->mem, "note: %s", p->note[i]));
}

static void put_pair(struct sheet *s)
{
	const char *saving = compare_saving_words(s->c, s->p, &s->mem);

	fprintf(s->f, "%s", paint(s, "\033[1m"));
	fputs("gpustarve: ", s->f);
	wrap(s, 11, 2, s->p->sentence);
	fprintf(s->f, "%s", paint(s, "\033[0m"));
	put_runs(s);
	if (saving)
		put_item(s, 4,
			 base_arena_printf(&s->mem, "%s against %s: %s", s->c->run[s->p->run].label,
					   s->c->run[0].label, saving));
	put_doubts(s);
	put_measures(s);
	put_classes(s);
	put_findings(s);
	put_promises(s);
}

void view_compare_text(const struct view_comparison *c, FILE *f,
		       const struct view_text_style *style)
{
	struct sheet s = { .c = c, .f = f, .style = style };

	for (size_t i = 0; i + 1 < c->runs; i++) {
		if (i)
			fputc('\n', f);
		s.p = &c->pair[i];
		put_pair(&s);
	}
	base_arena_fini(&s.mem);
}
