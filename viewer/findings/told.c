/* SPDX-License-Identifier: Apache-2.0 */
#include "told.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/amounts.h"
#include "base/minmax.h"
#include "base/units.h"
#include "facts/class.h"
#include "findings.h"
#include "lead.h"
#include "words.h"

#define LINE_PART 4 /* of what a line stands for: seen there for less, it is a guess */

bool view_told_is_first(const struct view_summary *s, size_t at)
{
	const struct view_finding *f = &s->finding[at];

	for (size_t i = 0; i < s->findings; i++) {
		const struct view_finding *o = &s->finding[i];
		bool more = o->ns > f->ns || (o->ns == f->ns && i < at);
		if (i != at && o->class == f->class && more && !o->where.late &&
		    !view_finding_is_rest(o))
			return false;
	}
	return true;
}

static size_t rest_of(const struct view_summary *s, enum ana_class c)
{
	for (size_t i = 0; i < s->findings; i++)
		if (s->finding[i].class == c && view_finding_is_rest(&s->finding[i]) &&
		    s->finding[i].ppm >= VIEW_REST_PPM)
			return i;
	return SIZE_MAX;
}

size_t view_told_rest(const struct view_summary *s, size_t at)
{
	const struct view_finding *f = &s->finding[at];
	size_t rest;

	if (!f->where.known || !view_told_is_first(s, at))
		return SIZE_MAX;
	rest = rest_of(s, f->class);
	return rest != SIZE_MAX && (!f->where.file || s->finding[rest].ns > f->ns) ? rest
										   : SIZE_MAX;
}

int64_t view_told_ns(const struct view_summary *s, size_t at)
{
	size_t rest = view_told_rest(s, at);
	int64_t ns = s->finding[at].ns;

	if (rest != SIZE_MAX)
		view_cost_add(&ns, s->finding[rest].ns);
	return ns;
}

int64_t view_told_share_ppm(const struct view_summary *s, size_t at)
{
	return base_ppm(view_told_ns(s, at), ana_class_is_outside(s->finding[at].class)
						     ? s->result->gpu_ns
						     : view_working_ns(s));
}

bool view_told_is_line(const struct view_finding *f)
{
	return f->ppm >= VIEW_TOLD_PPM && !view_finding_is_rest(f);
}

/*
 * The line stands for more of its class than samples saw: for most of what they saw, or for one of
 * several.
 */
enum ana_confidence view_told_line_confidence(const struct view_summary *s, size_t at)
{
	const struct view_finding *f = &s->finding[at];
	int64_t seen = s->finding[view_told_rest(s, at)].lines_ns;

	for (size_t i = 0; i < s->findings; i++)
		if (s->finding[i].class == f->class && s->finding[i].where.known)
			view_cost_add(&seen, s->finding[i].ns);
	return f->ns >= seen / 2 && f->ns >= view_told_ns(s, at) / LINE_PART ? ANA_MEDIUM : ANA_LOW;
}

/* ---- which are told, and what is folded under them ------------------------------------------- */

/* The most costly first, as they are told. */
static void sort_told(const struct view_summary *s, struct view_told *told, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct view_told x = told[i];
		int64_t ns = view_told_ns(s, x.at);
		size_t k = i;

		for (; k && view_told_ns(s, told[k - 1].at) < ns; k--)
			told[k] = told[k - 1];
		told[k] = x;
	}
}

size_t view_findings_told(const struct view_summary *s, struct base_arena *mem,
			  struct view_told **told)
{
	const size_t *at = view_findings_by_cost(s, mem);
	bool folded[ANA_CLASSES] = { false };
	size_t n = 0;

	*told = base_arena_array(mem, s->findings + 1, sizeof(**told));
	for (size_t i = 0; i < s->findings; i++) {
		const struct view_finding *f = &s->finding[at[i]];
		if (!view_told_is_line(f))
			continue;
		(*told)[n] = (struct view_told){ at[i], SIZE_MAX };
		if (!f->where.late && !folded[f->class])
			(*told)[n].rest = rest_of(s, f->class);
		folded[f->class] |= !f->where.late;
		n++;
	}
	/* lines too small to be told leave what is left of their class to speak for itself */
	for (size_t i = 0; i < s->findings; i++)
		if (view_finding_is_rest(&s->finding[at[i]]) &&
		    s->finding[at[i]].ppm >= VIEW_TOLD_PPM && !folded[s->finding[at[i]].class])
			(*told)[n++] = (struct view_told){ at[i], SIZE_MAX };
	sort_told(s, *told, n);
	return n;
}

/* As far as they can be told in millionths again. */
static int64_t tenths_shown(int64_t ppm)
{
	return base_div_even(base_min(ppm, INT64_MAX / 2), 1000);
}

static int64_t tenths_of(int64_t ns, int64_t whole)
{
	return tenths_shown(base_ppm(ns, whole));
}

void view_close_tenths(const int64_t *ppm, int n, int64_t total, int64_t *tenths)
{
	__int128 sum = 0;

	for (int i = 0; i < n; i++) {
		tenths[i] = tenths_shown(ppm[i]);
		sum += tenths[i];
	}
	if (sum >= total - n && sum <= total + n)
		base_close(ppm, n, total, 1000, tenths);
}

/* Of the lines of a class that have a sentence each: their time, and the sum of what these show. */
static int64_t told_apart(const struct view_summary *s, enum ana_class c, int64_t whole,
			  int64_t *tenths)
{
	int64_t ns = 0;

	*tenths = 0;
	for (size_t i = 0; i < s->findings; i++) {
		const struct view_finding *f = &s->finding[i];

		if (f->class != c || !f->where.known || !view_told_is_line(f))
			continue;
		view_cost_add(&ns, f->ns);
		*tenths += tenths_of(f->ns, whole);
	}
	return ns;
}

const char *view_rest_words(const struct view_summary *s, struct base_arena *mem, size_t rest)
{
	static const char *const words[] = { "at smaller lines", "where no sample tells the line" };
	const struct view_finding *f = &s->finding[rest];
	int64_t all = s->result->classes[f->class], apart, part[2], tenths[2], ppm[2];
	int64_t whole = ana_class_is_outside(f->class) ? s->result->gpu_ns : view_working_ns(s);
	int64_t told = told_apart(s, f->class, whole, &apart), left;
	const char *t, *before = "; ";
	base_unit share;

	part[1] = base_max(f->ns - f->lines_ns, 0);
	part[0] = base_max(base_max(all - told, 0) - part[1], 0);
	apart = base_min(apart, tenths_of(all, whole));
	left = tenths_of(all, whole) - apart;
	for (int k = 0; k < 2; k++) {
		ppm[k] = base_ppm(part[k], whole);
		tenths[k] = left;
	}
	if (part[0] && part[1])
		view_close_tenths(ppm, 2, left, tenths);
	t = base_arena_printf(mem, "%s in all: %s %% of the %s", ana_class_names[f->class],
			      base_percent(share, base_ppm(all, whole)),
			      view_whole_words(&s->kind, whole == s->result->gpu_ns));
	if (apart) {
		t = base_arena_printf(mem, "%s; %s %% told by line", t,
				      base_percent(share, apart * 1000));
		before = ", ";
	}
	for (int k = 0; k < 2; k++) {
		if (!tenths[k] || !part[k])
			continue;
		t = base_arena_printf(mem, "%s%s%s %% %s", t, before,
				      base_percent(share, tenths[k] * 1000), words[k]);
		before = ", ";
	}
	return t;
}

/* ---- several lines of one cause -------------------------------------------------------------- */

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

bool view_told_alike(const struct view_summary *s, size_t a, size_t b)
{
	const struct view_finding *f = &s->finding[a], *g = &s->finding[b];
	const struct view_hotspot *p = &f->where, *q = &g->where;

	if (f->class != g->class || !p->known || !q->known || p->role != q->role ||
	    p->runnable != q->runnable || p->chains != q->chains || a == b)
		return false;
	if (!p->file || !q->file) /* the same once more, but of one nobody saw where */
		return !p->chains &&
		       (f->class == ANA_INPUT_EPOCH || f->class == ANA_HOST_CPU_STARVED);
	return p->wait == q->wait && same_text(p->file, q->file) && p->line != q->line &&
	       (!p->chains || same_text(p->chain[p->chains - 1].who, q->chain[q->chains - 1].who));
}

int64_t view_alike_ns(const struct view_summary *s, const struct view_told *told, size_t n)
{
	int64_t ns = 0;

	for (size_t i = 0; i < n; i++)
		view_cost_add(&ns, view_told_ns(s, told[i].at));
	return ns;
}

enum ana_confidence view_alike_confidence(const struct view_summary *s,
					  const struct view_told *told, size_t n)
{
	enum ana_confidence least = s->finding[told->at].confidence;

	for (size_t i = 1; i < n; i++)
		if (s->finding[told[i].at].confidence > least)
			least = s->finding[told[i].at].confidence;
	return least;
}

/* Brings what says the same as told[at] but for its line behind it; how many they are then. */
static size_t gather_alike(const struct view_summary *s, struct view_told *told, size_t at,
			   size_t n)
{
	size_t end = at + 1;

	for (size_t i = end; i < n && end < at + VIEW_ALIKE_MAX; i++) {
		struct view_told t = told[i];

		if (!view_told_alike(s, told[at].at, t.at))
			continue;
		memmove(&told[end + 1], &told[end], (i - end) * sizeof(*told));
		told[end++] = t;
	}
	return end - at;
}

static int by_ns(const void *a, const void *b)
{
	const struct view_cause *x = a, *y = b;

	return x->ns != y->ns ? (x->ns > y->ns ? -1 : 1) : x->from < y->from ? -1 : 1;
}

size_t view_causes_told(const struct view_summary *s, struct base_arena *mem,
			struct view_told **told, struct view_cause **cause)
{
	size_t n = view_findings_told(s, mem, told), causes = 0;

	*cause = base_arena_array(mem, n + 1, sizeof(**cause));
	for (size_t at = 0; at < n; at += (*cause)[causes++].n) {
		size_t alike = gather_alike(s, *told, at, n);

		(*cause)[causes] =
			(struct view_cause){ at, alike, view_alike_ns(s, *told + at, alike) };
	}
	qsort(*cause, causes, sizeof(**cause), by_ns);
	return causes;
}

bool view_covered(const struct view_summary *s, const struct view_told *told, size_t n,
		  bool together, int64_t *tenths, int64_t *of)
{
	struct view_lead l = view_lead_of(s);
	int64_t part = 0;
	size_t alike;
	struct view_lead other;

	if (!l.known || view_lead_beside(s, &other) || l.verdict == ANA_V_BUSY ||
	    l.verdict == ANA_V_INCONCLUSIVE)
		return false;
	for (size_t i = 0; i < n; i += alike) {
		const struct view_finding *f = &s->finding[told[i].at];

		for (alike = 1; together && i + alike < n; alike++)
			if (!view_told_alike(s, told[i].at, told[i + alike].at))
				break;
		if (l.set[f->class])
			part += base_div_even(base_ppm(view_alike_ns(s, told + i, alike),
						       view_working_ns(s)),
					      1000);
	}
	*tenths = part;
	*of = base_div_even(l.ppm, 1000);
	return part > 0 && part < *of;
}

const char *view_covering_words(const struct view_summary *s, const struct view_told *told)
{
	static const char *const words[1 << VIEW_TOLD_FIRST] = {
		"first three are",
		"first is",
		"second is",
		"first two are",
		"third is",
		"first and the third are",
		"second and the third are",
		"first three are",
	};
	struct view_lead l = view_lead_of(s);
	unsigned int which = 0;

	for (unsigned int i = 0; i < VIEW_TOLD_FIRST; i++)
		which |= (unsigned int)l.set[s->finding[told[i].at].class] << i;
	return words[which];
}

const char *view_uncovered_words(int64_t part, int64_t all)
{
	return 2 * part < all ? "the rest has other causes, or no line is known"
			      : "the rest has smaller causes, or no line is known";
}

const char *view_covered_words(const struct view_summary *s, struct base_arena *mem,
			       const struct view_told *told, size_t n, bool together)
{
	int64_t part, all;

	if (!view_covered(s, told, n, together, &part, &all))
		return NULL;
	return base_arena_printf(mem,
				 "%" PRId64 ".%" PRId64 " of the %" PRId64 ".%" PRId64 " %%; %s",
				 part / 10, part % 10, all / 10, all % 10,
				 view_uncovered_words(part, all));
}
