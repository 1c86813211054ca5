/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to do, by what it saves at most. Two pieces of advice may be about the same time: the
 * smaller then stands within the larger, as "of which", and only the larger counts in the sum, so
 * that the sum never exceeds what was wasted. Advice about time that is no waste stands apart.
 */
#include <string.h>
#include "findings/findings.h"
#include "html_priv.h"

#define NOBODY SIZE_MAX

struct plan {
	size_t owner[ANA_CLASSES]; /* the advice that counts this class's time; NOBODY */
	bool within[64]; /* this advice stands within another one */
	size_t parent[64];
	bool waste[64];
	size_t n;
};

/* The number of workers or makers is about all input; everything else about its class. */
static bool about(const struct view_advice *a, int c)
{
	return view_advice_is_number(a) ? ana_class_is_input(c) != 0 : (int)a->class == c;
}

static bool all_waste(const struct view_summary *s, const struct view_advice *a)
{
	for (int c = 0; c < ANA_CLASSES; c++)
		if (about(a, c) && s->result->classes[c] && !s->waste[c])
			return false;
	return true;
}

/* The advice is sorted by what it is about: who comes first owns the time. */
static void make_plan(const struct view_summary *s, struct plan *p)
{
	p->n = s->advices < 64 ? s->advices : 64;
	for (int c = 0; c < ANA_CLASSES; c++)
		p->owner[c] = NOBODY;
	for (size_t i = 0; i < p->n; i++) {
		const struct view_advice *a = &s->advice[i];
		size_t parent = NOBODY;
		for (int c = 0; c < ANA_CLASSES && parent == NOBODY; c++)
			if (about(a, c))
				parent = p->owner[c];
		p->waste[i] = all_waste(s, a);
		p->within[i] = parent != NOBODY;
		p->parent[i] = parent;
		for (int c = 0; c < ANA_CLASSES && parent == NOBODY; c++)
			if (about(a, c))
				p->owner[c] = i;
	}
}

/* "/ledger/classes/input.prep/ns + /ledger/skew_causes/input.prep": what it may save of. */
static const char *about_key(struct html *h, const struct view_advice *a)
{
	const struct ana_result *r = h->s->result;
	const char *key = "";

	for (int c = 0; c < ANA_CLASSES; c++) {
		if (!view_advice_is_of(h->s, a, (enum ana_class)c))
			continue;
		if (r->classes[c])
			key = base_arena_printf(&h->mem, "%s%s/ledger/classes/%s/ns", key,
						*key ? " + " : "", ana_class_names[c]);
		if (r->skew_causes[c])
			key = base_arena_printf(&h->mem, "%s%s/ledger/skew_causes/%s", key,
						*key ? " + " : "", ana_class_names[c]);
	}
	return key;
}

void html_saving_of(struct html *h, const struct view_advice *a, const char *before,
		    const char *after)
{
	int64_t ppm;
	const char *of = view_advice_about(h->s, &h->mem, a, &ppm);

	if (!of)
		return;
	fprintf(h->f, "%s%s, ", before, of);
	html_pct(h, ppm, "%s %% /ledger/working_ns", about_key(h, a));
	fprintf(h->f, " of the %s%s", view_whole_words(&h->s->kind, false), after);
}

static void put_saving(struct html *h, size_t i, const char *before)
{
	const struct view_advice *a = &h->s->advice[i];

	if (view_advice_only_tells(a)) {
		html_put(h, "<p class=\"saving\"><b>nothing</b> <span class=\"soft\">by itself: it "
			    "would make a cause known</span></p>\n");
		return;
	}
	fprintf(h->f, "<p class=\"saving\">%s<b>", before);
	if (h->s->cost.known) {
		html_usd(h, a->saving_nano_usd, "/advice/%zu/saving_upper_usd", i);
		html_put(h, "</b> <span class=\"soft\">");
		html_gpu_time(h, a->saving_ns, "/advice/%zu/saving_upper_ns", i);
	} else {
		html_gpu_time(h, a->saving_ns, "/advice/%zu/saving_upper_ns", i);
		html_put(h, "</b><span class=\"soft\">");
	}
	if (a->saving_least_ns > 0) {
		html_put(h, ", at least ");
		html_gpu_time(h, a->saving_least_ns, "/advice/%zu/saving_lower_ns", i);
	}
	html_saving_of(h, a, " (", ")");
	html_put(h, "</span></p>\n");
}

/* A class's name at the beginning stays as it is: it is no sentence's first word. */
static void put_why(struct html *h, size_t i)
{
	const struct view_advice *a = &h->s->advice[i];
	const char *name = ana_class_names[a->class];

	html_put(h, "\n<p class=\"soft\">");
	html_key(h, a->class);
	if (strncmp(a->why, name, strlen(name)) != 0) {
		html_sentence(h, "span", a->why, "/advice/%zu/why", i);
	} else {
		html_text(h, "span", a->why, "/advice/%zu/why", i);
		html_put(h, ".");
	}
	html_put(h, "</p>");
}

static void put_one(struct html *h, size_t i, const char *before)
{
	const struct view_advice *a = &h->s->advice[i];

	html_put(h, "<div class=\"act\"><h3>");
	html_text(h, "span", a->title, "/advice/%zu/title", i);
	html_put(h, "</h3>\n");
	put_saving(h, i, before);
	html_sentence(h, "p class=\"do\"", a->action, "/advice/%zu/action", i);
	put_why(h, i);
	html_put(h, "</div>\n");
}

static void put_within(struct html *h, const struct plan *p, size_t parent)
{
	bool any = false;

	for (size_t i = 0; i < p->n; i++) {
		if (!p->within[i] || p->parent[i] != parent)
			continue;
		html_put(h, any ? "<li>" : "<ul class=\"within\">\n<li>");
		put_one(h, i, "by itself at most ");
		html_put(h, "</li>\n");
		any = true;
	}
	html_put(h, any ? "</ul>\n" : "");
}

static bool is_top(const struct plan *p, size_t i, bool waste)
{
	return !p->within[i] && p->waste[i] == waste;
}

static size_t put_list(struct html *h, const struct plan *p, bool waste)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++) {
		if (!is_top(p, i, waste))
			continue;
		html_put(h, n++ ? "<li>" : "<ol class=\"advice\">\n<li>");
		put_one(h, i, "at most ");
		put_within(h, p, i);
		html_put(h, "</li>\n");
	}
	html_put(h, n ? "</ol>\n" : "");
	return n;
}

/* "/advice/0/saving_upper_usd + /advice/2/saving_upper_usd" */
static const char *sum_key(struct html *h, const struct plan *p, const char *member)
{
	const char *key = "";

	for (size_t i = 0; i < p->n; i++)
		if (is_top(p, i, true))
			key = base_arena_printf(&h->mem, "%s%s/advice/%zu/%s", key,
						*key ? " + " : "", i, member);
	return key;
}

static void put_sum(struct html *h, const struct plan *p)
{
	const struct view_summary *s = h->s;
	int64_t ns = 0, nano = 0;
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++) {
		if (!is_top(p, i, true))
			continue;
		view_cost_add(&ns, s->advice[i].saving_ns);
		view_cost_add(&nano, s->advice[i].saving_nano_usd);
		n++;
	}
	if (!n)
		return;
	/* Upper bounds of causes that hide each other may come to more than there is. */
	if (s->cost.known ? nano > s->cost.wasted : ns > s->wasted_ns) {
		html_put(h, "<p>Together no more than the ");
	} else {
		html_put(h, "<p>Together at most ");
		if (s->cost.known)
			html_usd(h, nano, "%s", sum_key(h, p, "saving_upper_usd"));
		else
			html_ns(h, ns, "%s", sum_key(h, p, "saving_upper_ns"));
		html_put(h, " of the ");
	}
	if (s->cost.known)
		html_usd(h, s->cost.wasted, "/cost/wasted_usd");
	else
		html_ns(h, s->wasted_ns, "/ledger/wasted_ns");
	html_put(
		h,
		" wasted. Each saving is an upper bound: what is won depends on what the GPU would "
		"have waited for next. Time that two of them could save counts once.</p>\n");
}

void html_advice(struct html *h)
{
	struct plan p = { 0 };

	html_section(h, "advice", "What to do first");
	make_plan(h->s, &p);
	if (!p.n)
		html_put(h,
			 "<p>Nothing: no cause that could be removed takes a hundredth of the GPU "
			 "time.</p>\n");
	put_sum(h, &p);
	put_list(h, &p, true);
	for (size_t i = 0; i < p.n; i++)
		if (is_top(&p, i, false)) {
			html_put(h, "<h3>Not counted as waste</h3>\n");
			put_list(h, &p, false);
			break;
		}
	html_section_end(h);
}
