/* SPDX-License-Identifier: Apache-2.0 */
/* The ranks in the text report: whom the others waited for, who is slow, dead or hung. */
#include <inttypes.h>
#include <string.h>
#include "findings/seldom.h"
#include "findings/words.h"
#include "text_priv.h"
#include "base/units.h"

#define ROWS_MOST 32
#define CLOCKS_MOST 4 /* told one by one */

static const struct ana_ranks *ranks(const struct page *p)
{
	return &p->s->result->ranks;
}

static const char *name(struct page *p, size_t i)
{
	const struct ana_rank *r = &ranks(p)->row[i];

	return r->has_rank ? base_arena_printf(&p->mem, "rank %" PRId32, r->rank)
			   : base_arena_printf(&p->mem, "GPU %" PRIu32, r->gpu);
}

/* ": input.fetch, train.py:38 __getitem__", or nothing. */
static const char *cause(struct page *p, const struct ana_rank *r)
{
	const char *file = view_file_name(r->file);

	if (r->top_cause >= ANA_CLASSES)
		return "";
	if (!file)
		return base_arena_printf(&p->mem, ": %s", ana_class_names[r->top_cause]);
	return base_arena_printf(&p->mem, ": %s, %s:%" PRIu32 "%s%s", ana_class_names[r->top_cause],
				 file, r->line, r->function ? " " : "",
				 r->function ? r->function : "");
}

static const char *caused(struct page *p, size_t i)
{
	base_unit time, usd;
	const char *ns = base_gpu_time(time, ranks(p)->row[i].caused_ns);

	if (!p->s->cost.known)
		return base_arena_printf(&p->mem, "%s", ns);
	return base_arena_printf(&p->mem, "%s = %s", ns,
				 view_cost_text(usd, &p->s->cost, p->s->rank_nano_usd[i]));
}

static void put(struct page *p, int at, const char *text)
{
	fprintf(p->f, "%*s", at, "");
	text_wrap(p, at, at + 2, text);
}

static void put_culprit(struct page *p, size_t i)
{
	const struct ana_rank *r = &ranks(p)->row[i];

	put(p, 2,
	    base_arena_printf(&p->mem, "%s made the others wait %s, %s%s", name(p, i), caused(p, i),
			      r->culprit == ANA_CULPRIT_STABLE ? "again and again" : "at times",
			      cause(p, r)));
}

static void put_seldom(struct page *p, size_t i)
{
	const struct ana_rank *r = &ranks(p)->row[i];

	put(p, 2,
	    base_arena_printf(&p->mem,
			      "%s made the others wait %s, but came last by much only %" PRIu64
			      " time%s: " VIEW_SELDOM_WORDS "%s",
			      name(p, i), caused(p, i), r->late_much, r->late_much == 1 ? "" : "s",
			      cause(p, r)));
}

/* "12.1 GPU-seconds = 1.01 ¢" */
static const char *left(struct page *p, size_t i)
{
	base_unit time, usd;
	const char *ns = base_gpu_time(time, ranks(p)->row[i].left_ns);

	if (!p->s->cost.known)
		return base_arena_printf(&p->mem, "%s", ns);
	return base_arena_printf(&p->mem, "%s = %s", ns,
				 view_cost_text(usd, &p->s->cost, p->s->left_nano_usd[i]));
}

static void put_death(struct page *p, size_t i)
{
	const struct ana_rank *r = &ranks(p)->row[i];
	base_unit moment, others;

	if (!r->left) {
		put(p, 2,
		    base_arena_printf(&p->mem, "%s died while the others went on", name(p, i)));
		return;
	}
	put(p, 2,
	    base_arena_printf(&p->mem, "%s died at %s; %s other%s waited for it until %s ended: %s",
			      name(p, i), base_moment(moment, r->ended_ns),
			      base_count(others, r->left), r->left == 1 ? "" : "s",
			      r->left == 1 ? "it" : "they", left(p, i)));
}

static void put_trouble(struct page *p, size_t i)
{
	const struct ana_rank *r = &ranks(p)->row[i];
	base_unit percent;

	if (r->state == ANA_RANK_DEAD)
		put_death(p, i);
	if (r->state == ANA_RANK_HUNG)
		put(p, 2,
		    base_arena_printf(&p->mem, "%s hung: the others waited for it", name(p, i)));
	if (r->straggler)
		put(p, 2,
		    base_arena_printf(&p->mem,
				      "%s has a slow GPU: the same kernels take %s %% longer",
				      name(p, i), base_percent(percent, r->straggler_ppm)));
}

/* In the verdict: those that matter, at most @most of each kind. */
void text_culprits(struct page *p, size_t most)
{
	const struct ana_ranks *r = ranks(p);
	size_t *row, named = view_ranks_named(p->s, &p->mem, &row), troubled = 0, seldom = 0;

	for (size_t i = 0; i < named && i < most; i++)
		put_culprit(p, row[i]);
	for (size_t i = 0; i < r->rows; i++) {
		if (view_rank_is_seldom(p->s, i) && seldom++ < most)
			put_seldom(p, i);
		if ((r->row[i].state != ANA_RANK_ENDED || r->row[i].straggler) && troubled++ < most)
			put_trouble(p, i);
	}
	if (named > most)
		put(p, 2,
		    base_arena_printf(&p->mem, "and %zu more rank%s late", named - most,
				      named - most == 1 ? " was" : "s were"));
	if (troubled > most)
		put(p, 2,
		    base_arena_printf(&p->mem, "and %zu more rank%s not well", troubled - most,
				      troubled - most == 1 ? " is" : "s are"));
}

static void put_row(struct page *p, size_t i)
{
	static const char *const culprit[ANA_CULPRITS] = { "", ", again and again", ", at times" };
	static const char *const state[ANA_RANK_STATES] = { "", ", dead", ", hung" };
	const struct ana_rank *r = &ranks(p)->row[i];
	base_unit waited, late, of;

	put(p, 2,
	    base_arena_printf(&p->mem,
			      "%s: last to come to %s of %s collectives, the others waited %s%s; "
			      "it waited %s%s%s%s",
			      name(p, i), base_count(late, r->late), base_count(of, r->matched),
			      caused(p, i), cause(p, r), base_duration(waited, r->waited_ns),
			      culprit[r->culprit], state[r->state],
			      r->straggler ? ", slow GPU" : ""));
}

/* Nobody waited for it, and nothing is wrong with it. */
static bool is_quiet(const struct ana_rank *r)
{
	return !r->late && !r->caused_ns && !r->culprit && r->state == ANA_RANK_ENDED &&
	       !r->straggler && r->matched;
}

/* All of those in one line. */
static void put_quiet(struct page *p, size_t n, bool others)
{
	const struct ana_ranks *r = ranks(p);
	int64_t least = INT64_MAX, most = 0;
	base_unit count, from, to;

	for (size_t i = 0; i < r->rows; i++)
		if (is_quiet(&r->row[i])) {
			least = r->row[i].waited_ns < least ? r->row[i].waited_ns : least;
			most = r->row[i].waited_ns > most ? r->row[i].waited_ns : most;
		}
	base_duration(from, least);
	base_duration(to, most);
	bool alike = !strcmp(from, to);
	put(p, 2,
	    base_arena_printf(&p->mem,
			      "%s %sranks came last to no collective; they waited %s%s%s each",
			      base_count(count, n), others ? "other " : "", from,
			      alike ? "" : " to ", alike ? "" : to));
}

static void put_rows(struct page *p)
{
	const struct ana_ranks *r = ranks(p);
	size_t quiet = 0, shown = 0;

	for (size_t i = 0; i < r->rows; i++)
		quiet += is_quiet(&r->row[i]);
	bool fold = quiet > 1;
	size_t rows = r->rows - (fold ? quiet : 0);
	for (size_t i = 0; i < r->rows && shown < ROWS_MOST; i++)
		if (!fold || !is_quiet(&r->row[i])) {
			put_row(p, i);
			shown++;
		}
	if (rows > shown)
		put(p, 2, base_arena_printf(&p->mem, "and %zu more", rows - shown));
	if (fold)
		put_quiet(p, quiet, rows > 0);
}

static void put_clock(struct page *p, const struct ana_clock *c)
{
	const char *how = "nothing of it could be matched";
	base_unit residual;

	if (c->aligned && c->residual_ns < 0)
		how = "the others are set to it";
	else if (c->aligned)
		how = base_arena_printf(&p->mem, "set to within %s",
					base_duration(residual, c->residual_ns));
	put(p, 2, base_arena_printf(&p->mem, "clock of %s: %s", c->host, how));
}

/* The one that the others are set to, those that are not set, and of the others the worst. */
static void put_clocks(struct page *p)
{
	const struct ana_ranks *r = ranks(p);
	const struct ana_clock *worst = NULL;
	size_t set = 0, shown = 0, left = 0;
	base_unit residual, count;

	for (size_t i = 0; i < r->clocks; i++) {
		const struct ana_clock *c = &r->clock[i];
		if (!c->aligned || c->residual_ns < 0 || r->clocks <= CLOCKS_MOST) {
			shown++ < ROWS_MOST ? put_clock(p, c) : (void)left++;
			continue;
		}
		set++;
		if (!worst || c->residual_ns > worst->residual_ns)
			worst = c;
	}
	if (left)
		put(p, 2, base_arena_printf(&p->mem, "and %zu more clocks", left));
	if (worst)
		put(p, 2,
		    base_arena_printf(&p->mem,
				      "clocks of %s other hosts: set to within %s, that of %s",
				      base_count(count, set),
				      base_duration(residual, worst->residual_ns), worst->host));
}

void text_ranks(struct page *p)
{
	const struct ana_ranks *r = ranks(p);

	if (!r->rows)
		return;
	text_heading(p, "The ranks");
	put_rows(p);
	if (r->clocks > 1)
		put_clocks(p);
}
