/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings, ranked by what they cost; ties keep the classes' order. A class that samples saw at
 * several lines becomes several findings: hotspots that differ only in what they were blocked on,
 * such as a thousand shards read by one line, are one finding.
 */
#include "findings.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "loader.h"
#include "analysis/time/span.h"
#include "base/minmax.h"
#include "base/units.h"
#include "facts/class.h"
#include "seldom.h"
#include "wire/evidence.h"
#include "words.h"

#define FINDINGS_MAX 32
#define GROUPS_MAX 6 /* of one class */
#define LATES_MAX 16 /* what others waited for late ranks */
/* of its class or of what was seen of it: smaller ones stay with the rest */
#define GROUP_PPM 20000
#define GROUP_SAMPLES 3 /* so many say the same */

static enum ana_confidence usual(const int64_t by[ANA_CONFIDENCES])
{
	int best = ANA_NONE;

	for (int k = ANA_LOW; k >= ANA_HIGH; k--)
		if (by[k] >= by[best] && by[k] > 0)
			best = k;
	return (enum ana_confidence)best;
}

struct group { /* hotspots of one class and line: one finding */
	const struct ana_hotspot *first; /* the largest */
	int64_t ns, nearby_ns, nearby_medium_ns; /* each a part of the one before */
	int64_t by_confidence[ANA_CONFIDENCES]; /* of the rest */
	uint64_t samples, targets;
	uint32_t threads, workers;
};

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool makes_batches(uint8_t role)
{
	return role == WIRE_ROLE_WORKER || role == WIRE_ROLE_WORKER_OTHER ||
	       role == WIRE_ROLE_PRODUCER;
}

/* A process of a pool is seen as a worker and, where links lead to it, as who makes the batches. */
static bool same_side(const struct ana_hotspot *a, const struct ana_hotspot *b)
{
	return a->role == b->role ||
	       (a->chains && b->chains && makes_batches(a->role) && makes_batches(b->role));
}

/*
 * Without a line, what the thread was blocked on is all there is to tell hotspots apart. With one,
 * functions do not: several at one line are a comprehension or a lambda and what is around it.
 */
static bool same_group(const struct ana_hotspot *a, const struct ana_hotspot *b)
{
	bool place = a->file || a->function, line = a->file && a->line;

	return same_side(a, b) && a->runnable == b->runnable && a->line == b->line &&
	       same_text(a->file, b->file) && (line || same_text(a->function, b->function)) &&
	       (place || (a->wait == b->wait && same_text(a->native, b->native)));
}

static bool target_seen(const struct ana_result *r, const struct ana_hotspot *upto)
{
	for (const struct ana_hotspot *s = r->hotspot; s < upto; s++)
		if (s->class == upto->class && same_text(s->target, upto->target) &&
		    same_group(s, upto))
			return true;
	return false;
}

static void join(const struct ana_result *r, struct group *p, const struct ana_hotspot *hotspot)
{
	view_cost_add(&p->ns, hotspot->ns);
	view_cost_add(&p->ns, hotspot->nearby_ns);
	view_cost_add(&p->nearby_ns, hotspot->nearby_ns);
	view_cost_add(&p->nearby_medium_ns, hotspot->nearby_medium_ns);
	view_cost_add(&p->by_confidence[hotspot->confidence], hotspot->ns);
	p->samples += hotspot->samples;
	p->targets += hotspot->target && !target_seen(r, hotspot);
	if (hotspot->threads > p->threads) /* hotspots may share threads */
		p->threads = hotspot->threads;
	if (hotspot->workers > p->workers)
		p->workers = hotspot->workers;
}

/* The groups of class @c in @group (room for all hotspots); returns how many. */
static size_t groups_of(const struct ana_result *r, int c, struct group *group)
{
	size_t n = 0;

	for (size_t i = 0; i < r->hotspots; i++) {
		const struct ana_hotspot *hotspot = &r->hotspot[i];
		size_t k = 0;
		if ((int)hotspot->class != c || hotspot->ns <= 0)
			continue;
		while (k < n && !same_group(group[k].first, hotspot))
			k++;
		if (k == n)
			group[n++] = (struct group){ .first = hotspot };
		join(r, &group[k], hotspot);
	}
	return n;
}

static int by_time(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static void set_share(struct view_summary *s, struct view_finding *f)
{
	const struct ana_result *r = s->result;
	int64_t whole = r->classes[f->class];

	f->ppm = base_ppm(f->ns, r->gpu_ns);
	f->nano_usd = f->ns == whole
			      ? s->cost.classes[f->class]
			      : base_div_even((__int128)s->cost.classes[f->class] * f->ns, whole);
	f->of_starved_ppm = ana_class_is_input(f->class) ? base_ppm(f->ns, s->starved_ns) : -1;
	f->confidence = usual(f->by_confidence);
	f->basis = view_words_of_kind(&s->kind, &s->mem, facts_classes[f->class].basis);
}

static void set_chain(struct view_summary *s, struct view_hotspot *p, const struct ana_hotspot *h)
{
	struct view_link *link = base_arena_array(&s->mem, h->chains, sizeof(*link));

	for (size_t i = 0; i < h->chains; i++) {
		const struct ana_hotspot_link *l = &h->chain[i];
		link[i] = (struct view_link){
			.who = base_arena_text(&s->mem, l->who),
			.waits_in = base_arena_text(&s->mem, l->waits_in),
			.file = base_arena_text(&s->mem, l->file),
			.function = base_arena_text(&s->mem, l->function),
			.line = l->line,
			.samples = l->samples,
			.confidence = l->confidence,
		};
	}
	p->chain = link;
	p->chains = h->chains;
}

static void set_where(struct view_summary *s, struct view_finding *f, const struct group *p)
{
	const struct ana_hotspot *hotspot = p->first;

	f->where = (struct view_hotspot){
		.known = true,
		.role = hotspot->role < VIEW_ROLES ? hotspot->role : 0,
		.wait = hotspot->wait < VIEW_WAITS ? hotspot->wait : VIEW_WAITS - 1,
		.runnable = hotspot->runnable,
		.file = base_arena_text(&s->mem, hotspot->file),
		.function = base_arena_text(&s->mem, hotspot->function),
		.line = hotspot->line,
		.leaf = base_arena_text(&s->mem, hotspot->leaf),
		.native = base_arena_text(&s->mem, hotspot->native),
		.has_cpu = base_arena_text(&s->mem, hotspot->has_cpu),
		.target = base_arena_text(&s->mem, hotspot->target),
		.fs = base_arena_text(&s->mem, hotspot->fs),
		.targets = p->targets,
		.samples = p->samples,
		.threads = p->threads,
		.workers = p->workers,
		.feeder = hotspot->feeder,
	};
	set_chain(s, &f->where, hotspot);
}

/* Takes the group's part out of what is left of the class, which it cannot exceed. */
static void add_group(struct view_summary *s, const struct group *p, struct view_finding *rest)
{
	struct view_finding *f = &s->finding[s->findings];

	if (p->ns > rest->ns)
		return;
	*f = (struct view_finding){ .class = rest->class, .ns = p->ns, .nearby_ns = p->nearby_ns };
	rest->ns -= p->ns;
	memcpy(f->by_confidence, p->by_confidence, sizeof(f->by_confidence));
	f->by_confidence[ANA_MEDIUM] += p->nearby_medium_ns;
	f->by_confidence[ANA_LOW] += p->nearby_ns - p->nearby_medium_ns;
	for (int k = 0; k < ANA_CONFIDENCES; k++)
		rest->by_confidence[k] -= f->by_confidence[k];
	set_where(s, f, p);
	set_share(s, f);
	rest->rest = true;
	s->findings++;
}

/* A hotspot's confidence is that of most of its time: what that overdraws, the other ones have. */
static void settle_confidence(struct view_finding *rest)
{
	int64_t owed = 0;

	for (int k = 0; k < ANA_CONFIDENCES; k++) {
		owed += rest->by_confidence[k] < 0 ? -rest->by_confidence[k] : 0;
		if (rest->by_confidence[k] < 0)
			rest->by_confidence[k] = 0;
	}
	for (int k = 0; owed && k < ANA_CONFIDENCES; k++) {
		int64_t part = owed < rest->by_confidence[k] ? owed : rest->by_confidence[k];
		rest->by_confidence[k] -= part;
		owed -= part;
	}
}

/*
 * Of gaps much shorter than the time from look to look samples see next to nothing, be it always
 * the same line: there a group counts by its part of what was seen.
 */
static bool worth_a_finding(const struct group *p, int64_t seen, int64_t whole)
{
	return base_ppm(p->ns, whole) >= GROUP_PPM ||
	       (p->samples >= GROUP_SAMPLES && base_ppm(p->ns, seen) >= GROUP_PPM);
}

static void add_class(struct view_summary *s, int c, struct group *group)
{
	const struct ana_result *r = s->result;
	struct view_finding rest = { .class = (enum ana_class)c, .ns = r->classes[c] };
	size_t n = groups_of(r, c, group);
	int64_t seen = 0;

	for (size_t i = 0; i < n; i++)
		ana_sum(&seen, group[i].ns);
	for (int k = 0; k < ANA_CONFIDENCES; k++)
		rest.by_confidence[k] = r->confidence[c][k];
	qsort(group, n, sizeof(*group), by_time);
	for (size_t i = 0; i < n && i < GROUPS_MAX; i++)
		if (worth_a_finding(&group[i], seen, r->classes[c]))
			add_group(s, &group[i], &rest);
	rest.lines_ns = rest.rest ? base_max(seen - (r->classes[c] - rest.ns), 0) : 0;
	settle_confidence(&rest);
	set_share(s, &rest);
	if (rest.ns > 0)
		s->finding[s->findings++] = rest;
}

/* The time of a class whose lines are known. */
static int64_t located_ns(const struct view_summary *s, enum ana_class c)
{
	int64_t ns = 0;

	for (size_t i = 0; i < s->findings; i++)
		if (s->finding[i].class == c && s->finding[i].where.known)
			ns += s->finding[i].ns;
	return ns;
}

/*
 * Samples are a part of the time: what they saw of a class stands for the rest of it, too. So a
 * hotspot ranks by its share of what was seen.
 */
static int64_t rank_of_located(const struct view_summary *s, const struct view_finding *f)
{
	int64_t located = located_ns(s, f->class);

	return base_div_even((__int128)f->ns * s->result->classes[f->class], located ? located : 1);
}

/* What is left of a class comes behind its hotspots: it says least. */
static int64_t rank(const struct view_summary *s, const struct view_finding *f)
{
	int64_t least = f->ns;

	if (f->where.known)
		return rank_of_located(s, f);
	for (size_t i = 0; f->rest && i < s->findings; i++) {
		const struct view_finding *located = &s->finding[i];
		if (located->class == f->class && located->where.known &&
		    rank_of_located(s, located) < least)
			least = rank_of_located(s, located);
	}
	return least;
}

struct ranked {
	int64_t by;
	size_t at;
	struct view_finding f;
};

static int by_rank(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->by != y->by)
		return x->by < y->by ? 1 : -1;
	if (x->f.class != y->f.class)
		return (int)x->f.class - (int)y->f.class;
	if (x->f.rest != y->f.rest)
		return x->f.rest - y->f.rest;
	return x->at < y->at ? -1 : x->at > y->at;
}

static void sort_findings(struct view_summary *s)
{
	struct ranked *r = base_arena_array(&s->mem, s->findings, sizeof(*r));

	for (size_t i = 0; i < s->findings; i++)
		r[i] = (struct ranked){ rank(s, &s->finding[i]), i, s->finding[i] };
	qsort(r, s->findings, sizeof(*r), by_rank);
	for (size_t i = 0; i < s->findings; i++)
		s->finding[i] = r[i].f;
}

/*
 * What the others waited for a rank that leads (seldom.h), by what it did meanwhile. Its
 * dollars are its share of what all waits for that cost.
 */
static void add_late(struct view_summary *s, size_t row, int c)
{
	const struct ana_rank *r = &s->result->ranks.row[row];
	struct view_finding *f = &s->finding[s->findings];
	bool line = (int)r->top_cause == c;

	if (base_ppm(r->causes[c], r->caused_ns) < GROUP_PPM)
		return;
	*f = (struct view_finding){ .class = (enum ana_class)c, .ns = r->causes[c] };
	f->where.late = true;
	f->where.rank = r->has_rank ? r->rank : (int32_t)row;
	f->where.role = r->role < VIEW_ROLES ? r->role : 0;
	if (line) {
		f->where.file = base_arena_text(&s->mem, r->file);
		f->where.function = base_arena_text(&s->mem, r->function);
		f->where.line = r->line;
	}
	f->ppm = base_ppm(f->ns, s->result->gpu_ns);
	f->nano_usd = s->result->skew_causes[c] ? base_div_even((__int128)s->cost.skew[c] * f->ns,
								s->result->skew_causes[c])
						: 0;
	f->of_starved_ppm = ana_class_is_input(c) ? base_ppm(f->ns, s->starved_ns) : -1;
	f->confidence = s->result->ranks.clocks > 1 ? ANA_MEDIUM : ANA_HIGH;
	f->by_confidence[f->confidence] = f->ns;
	f->basis = "others waited for it inside collectives, which all ranks leave together; since "
		   "the last one it had more of this than they";
	s->findings++;
}

static void add_late_ranks(struct view_summary *s, size_t most)
{
	const struct ana_ranks *r = &s->result->ranks;
	size_t until = s->findings + most;

	for (size_t i = 0; i < r->rows; i++)
		for (int c = 0; view_rank_leads(s, &r->row[i]) && c < ANA_CLASSES; c++)
			if (s->findings < until && r->row[i].causes[c] > 0)
				add_late(s, i, c);
}

/* The findings from @first on are all of one class: what rounding left over goes to the largest. */
static void close_dollars(struct view_summary *s, size_t first)
{
	struct view_finding *most = &s->finding[first];
	int64_t ns = 0, usd = 0;

	for (size_t i = first; i < s->findings; i++) {
		struct view_finding *f = &s->finding[i];
		ns += f->ns;
		usd += f->nano_usd;
		if (f->ns > most->ns)
			most = f;
	}
	if (first < s->findings && ns == s->result->classes[most->class])
		most->nano_usd += s->cost.classes[most->class] - usd;
}

/* What is wasted, what nobody knows, and what cost much without being either. */
static bool worth_findings(const struct view_summary *s, enum ana_class c)
{
	return s->waste[c] || ana_class_is_doubt(c) || c == ANA_COMM || c == ANA_HOST_NO_WORK;
}

void view_findings_add(struct view_summary *s)
{
	const struct ana_result *r = s->result;
	struct group *group = base_arena_array(&s->mem, r->hotspots, sizeof(*group));
	size_t room = ANA_CLASSES * (size_t)(GROUPS_MAX + 1) + LATES_MAX;

	s->finding = base_arena_array(&s->mem, room, sizeof(*s->finding));
	for (int c = 0; c < ANA_CLASSES; c++) {
		size_t first = s->findings;
		if (r->classes[c] > 0 && worth_findings(s, (enum ana_class)c))
			add_class(s, c, group);
		close_dollars(s, first);
	}
	add_late_ranks(s, LATES_MAX);
	sort_findings(s);
	if (s->findings > FINDINGS_MAX)
		s->findings = FINDINGS_MAX;
}

const struct view_finding *view_finding_of(const struct view_summary *s, enum ana_class c)
{
	for (size_t i = 0; i < s->findings; i++)
		if (s->finding[i].class == c && s->finding[i].where.known)
			return &s->finding[i];
	return NULL;
}

static const char *meaning(const struct view_summary *s, struct base_arena *mem, enum ana_class c)
{
	return view_words_of_kind(&s->kind, mem, facts_classes[c].meaning);
}

const char *view_finding_words(const struct view_summary *s, struct base_arena *mem,
			       const struct view_finding *f, size_t columns)
{
	const char *line;

	if (f->where.late) {
		line = view_words_line(mem, &f->where, columns);
		return base_arena_printf(mem, "the others waited for rank %" PRId32 ": %s%s%s",
					 f->where.rank, meaning(s, mem, f->class), line ? ", " : "",
					 line ? line : "");
	}
	if (!f->where.known)
		return base_arena_printf(mem, "%s%s", meaning(s, mem, f->class),
					 f->rest ? ", line not known" : "");
	line = view_words_line(mem, &f->where, columns);
	if (f->where.chains > 1)
		return base_arena_printf(mem, "%s %s%s%s",
					 view_words_chain(mem, &f->where, columns),
					 view_words_doing(mem, f->class, &f->where, columns),
					 line ? ", " : "", line ? line : "");
	return base_arena_printf(mem, "%s %s%s%s",
				 view_words_who(mem, f->class, &f->where, view_loader_workers(s)),
				 view_words_doing(mem, f->class, &f->where, columns),
				 line ? ", " : "", line ? line : "");
}

const char *view_finding_evidence(struct base_arena *mem, const struct view_finding *f)
{
	const struct view_hotspot *p = &f->where;
	const char *saw = "";
	base_unit samples, share;

	if (!p->known)
		return ana_confidence_names[f->confidence];
	if (f->nearby_ns > 0)
		saw = base_arena_printf(mem, ", which saw %s %% of this time",
					base_percent(share, base_ppm(f->ns - f->nearby_ns, f->ns)));
	return base_arena_printf(mem, "%s: %s sample%s of %" PRIu32 " thread%s%s",
				 ana_confidence_names[f->confidence],
				 base_count(samples, p->samples), p->samples == 1 ? "" : "s",
				 p->threads, p->threads == 1 ? "" : "s", saw);
}

struct priced {
	int64_t ns;
	size_t at;
};

static int by_cost(const void *a, const void *b)
{
	const struct priced *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return x->at < y->at ? -1 : x->at > y->at;
}

const size_t *view_findings_by_cost(const struct view_summary *s, struct base_arena *mem)
{
	struct priced *p = base_arena_array(mem, s->findings + 1, sizeof(*p));
	size_t *at = base_arena_array(mem, s->findings + 1, sizeof(*at));

	for (size_t i = 0; i < s->findings; i++)
		p[i] = (struct priced){ s->finding[i].ns, i };
	qsort(p, s->findings, sizeof(*p), by_cost);
	for (size_t i = 0; i < s->findings; i++)
		at[i] = p[i].at;
	return at;
}

bool view_finding_is_rest(const struct view_finding *f)
{
	return f->rest && !f->where.known && !f->where.late;
}
