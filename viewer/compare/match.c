/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which finding of the later run is which of the first one's: first those at the very same line,
 * then those whose line moved, then those whose class changed at the same line, last those of
 * which one run knows no line. Each finding is matched once. What is left at a line of which
 * another finding was matched belongs to that: who runs a line is another with other workers.
 */
#include <stdlib.h>
#include <string.h>
#include "compare_priv.h"
#include "findings/words.h"

#define LOOKED_AT 64 /* findings of each run; a summary of ours has at most half of that */
#define LEAST_PPM 1000 /* of the GPU time: what is smaller counts as not there */

struct matching {
	size_t n[2];
	int of[2][LOOKED_AT]; /* index in the other run's findings, -1: none */
	/* by index in the other's: what of it came on top there; and which are in that */
	int64_t more_ns[2][LOOKED_AT], more_ppm[2][LOOKED_AT];
	bool joined[2][LOOKED_AT];
};

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool has_line(const struct view_hotspot *p)
{
	return p->known && (p->file || p->function);
}

static bool same_function(const struct view_hotspot *a, const struct view_hotspot *b)
{
	return has_line(a) && has_line(b) &&
	       same_text(view_file_name(a->file), view_file_name(b->file)) &&
	       same_text(a->function, b->function);
}

static bool same_code(const struct view_hotspot *a, const struct view_hotspot *b)
{
	return same_function(a, b) && a->role == b->role;
}

typedef bool alike(const struct view_finding *a, const struct view_finding *b);

static bool at_same_line(const struct view_finding *a, const struct view_finding *b)
{
	const struct view_hotspot *p = &a->where, *q = &b->where;

	if (a->class != b->class || a->rest != b->rest || p->known != q->known ||
	    p->runnable != q->runnable || p->late != q->late || (p->late && p->rank != q->rank))
		return false;
	if (!p->known)
		return true;
	if (has_line(p) || has_line(q))
		return same_code(p, q) && p->line == q->line && same_text(p->file, q->file);
	return p->role == q->role && p->wait == q->wait && same_text(p->native, q->native);
}

/* Another machine has the same file elsewhere; an edit above it moves the line. */
static bool at_same_file(const struct view_finding *a, const struct view_finding *b)
{
	return a->class == b->class && same_code(&a->where, &b->where) &&
	       a->where.line == b->where.line;
}

/* Without workers the main process runs the line that workers run. */
static bool at_same_place(const struct view_finding *a, const struct view_finding *b)
{
	return a->class == b->class && same_function(&a->where, &b->where) &&
	       a->where.line == b->where.line;
}

static bool in_same_function(const struct view_finding *a, const struct view_finding *b)
{
	return a->class == b->class && same_code(&a->where, &b->where);
}

static bool by_whomever(const struct view_finding *a, const struct view_finding *b)
{
	return a->class == b->class && same_function(&a->where, &b->where);
}

static bool of_other_class(const struct view_finding *a, const struct view_finding *b)
{
	return same_code(&a->where, &b->where) && a->where.line == b->where.line;
}

/* A whole class, without any line. */
static bool is_whole(const struct view_finding *f)
{
	return !f->where.known && !f->where.late && !f->rest;
}

static bool of_same_class(const struct view_finding *a, const struct view_finding *b)
{
	return a->class == b->class && (is_whole(a) || is_whole(b));
}

static void match(struct pairing *g, alike *same)
{
	struct matching *m = g->matching;

	for (size_t i = 0; i < m->n[0]; i++)
		for (size_t k = 0; k < m->n[1] && m->of[0][i] < 0; k++)
			if (m->of[1][k] < 0 && same(&g->s[0]->finding[i], &g->s[1]->finding[k])) {
				m->of[0][i] = (int)k;
				m->of[1][k] = (int)i;
			}
}

/* Which rank is late belongs to the place. */
static void join(struct pairing *g, int run, size_t i)
{
	const struct view_finding *f = &g->s[run]->finding[i];
	struct matching *m = g->matching;

	for (size_t k = 0; k < m->n[!run] && m->of[run][i] < 0 && !f->where.late; k++) {
		const struct view_finding *other = &g->s[!run]->finding[k];

		if (other->where.late || m->of[!run][k] < 0 || !at_same_place(f, other))
			continue;
		m->more_ns[run][k] = compare_bounded(m->more_ns[run][k] + compare_bounded(f->ns));
		m->more_ppm[run][k] =
			compare_bounded(m->more_ppm[run][k] + compare_bounded(f->ppm));
		m->joined[run][i] = true;
		return;
	}
}

static enum view_finding_status status(const struct view_finding_change *c)
{
	const struct view_finding *a = c->finding[0], *b = c->finding[1];

	if (!b || (c->ppm[1] < LEAST_PPM && c->ppm[0] >= LEAST_PPM))
		return VIEW_FINDING_WENT;
	if (!a || (c->ppm[0] < LEAST_PPM && c->ppm[1] >= LEAST_PPM))
		return VIEW_FINDING_CAME;
	if (a->class != b->class ||
	    (has_line(&a->where) && has_line(&b->where) && a->where.line != b->where.line))
		return VIEW_FINDING_MOVED;
	return VIEW_FINDING_STAYED;
}

/* Of a finding of each run, by index; -1: none. */
static void add(struct pairing *g, int first, int later)
{
	const struct matching *m = g->matching;
	const int at[2] = { first, later };
	struct view_finding_change c = { 0 };

	for (int i = 0; i < 2; i++) {
		int other = at[!i];

		if (at[i] < 0)
			continue;
		c.finding[i] = &g->s[i]->finding[at[i]];
		c.ns[i] = compare_bounded(c.finding[i]->ns);
		c.ppm[i] = compare_bounded(c.finding[i]->ppm);
		if (other >= 0) {
			c.ns[i] = compare_bounded(c.ns[i] + m->more_ns[i][other]);
			c.ppm[i] = compare_bounded(c.ppm[i] + m->more_ppm[i][other]);
		}
		c.step_ns[i] = compare_per_step(g->s[i], c.ns[i]);
	}
	if (c.ppm[0] < LEAST_PPM && c.ppm[1] < LEAST_PPM)
		return;
	c.status = status(&c);
	g->p->finding[g->p->findings++] = c;
}

static int64_t moved(const struct view_finding_change *c)
{
	return llabs(c->ppm[1] - c->ppm[0]);
}

static int by_change(const void *a, const void *b)
{
	const struct view_finding_change *x = a, *y = b;
	int64_t p = moved(x), q = moved(y);

	if (p != q)
		return p < q ? 1 : -1;
	if (!x->finding[0] != !y->finding[0])
		return x->finding[0] ? -1 : 1;
	/* Their order in the run keeps the result the same every time. */
	int i = x->finding[0] ? 0 : 1;
	return x->finding[i] < y->finding[i] ? -1 : x->finding[i] > y->finding[i];
}

void compare_findings(struct pairing *g)
{
	static alike *const rounds[] = { at_same_line,	   at_same_file, at_same_place,
					 in_same_function, by_whomever,	 of_other_class,
					 of_same_class };
	struct base_arena *mem = &g->c->mem;
	struct matching *m = base_arena_alloc(mem, sizeof(*m));
	struct view_pair *p = g->p;

	g->matching = m;
	memset(m->of, -1, sizeof(m->of));
	for (int i = 0; i < 2; i++) {
		m->n[i] = g->s[i]->findings < LOOKED_AT ? g->s[i]->findings : LOOKED_AT;
		p->findings_left_out += g->s[i]->findings - m->n[i];
	}
	for (size_t r = 0; r < sizeof(rounds) / sizeof(rounds[0]); r++)
		match(g, rounds[r]);
	for (int i = 0; i < 2; i++)
		for (size_t k = 0; k < m->n[i]; k++)
			join(g, i, k);
	p->finding = base_arena_array(mem, m->n[0] + m->n[1], sizeof(*p->finding));
	for (size_t i = 0; i < m->n[0]; i++)
		if (!m->joined[0][i])
			add(g, (int)i, m->of[0][i]);
	for (size_t k = 0; k < m->n[1]; k++)
		if (m->of[1][k] < 0 && !m->joined[1][k])
			add(g, -1, (int)k);
	qsort(p->finding, p->findings, sizeof(*p->finding), by_change);
}

int64_t compare_new_hotspots(const struct pairing *g, enum ana_class c)
{
	const struct matching *m = g->matching;
	bool known = false;
	__int128 ns = 0;

	for (size_t i = 0; i < m->n[0]; i++)
		known |= g->s[0]->finding[i].class == c && g->s[0]->finding[i].where.known;
	for (size_t k = 0; known && k < m->n[1]; k++) {
		const struct view_finding *f = &g->s[1]->finding[k];
		if (f->class == c && f->where.known && m->of[1][k] < 0 && !m->joined[1][k])
			ns += f->ns;
	}
	int64_t most = compare_bounded(g->s[1]->result->classes[c]);
	return ns > most ? most : (int64_t)ns;
}
