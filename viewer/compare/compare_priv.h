/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of compare/ share. Private to them. */
#ifndef VIEW_COMPARE_PRIV_H
#define VIEW_COMPARE_PRIV_H

#include "base/units.h"
#include "compare.h"

struct matching;

/* One pair while it is made. */
struct pairing {
	struct view_comparison *c;
	struct view_pair *p;
	const struct view_summary *s[2];
	const char *label[2];
	struct matching *matching;
};

/* Hostile numbers end here: sums and differences of two of these fit into int64. */
static inline int64_t compare_bounded(int64_t v)
{
	int64_t most = INT64_C(1) << 61;

	return v > most ? most : v < -most ? -most : v;
}

/* ns or nano-dollars per step, half to even; 0 without steps. */
int64_t compare_per_step(const struct view_summary *s, __int128 amount);

void compare_parts(struct pairing *g); /* parts.c: why[], notes */
void compare_measures(struct pairing *g); /* measures.c */
void compare_unit(struct pairing *g); /* headline.c: after the measures */
void compare_findings(struct pairing *g); /* match.c */
void compare_promises(struct pairing *g); /* promise.c: after the findings */
void compare_sentence(struct pairing *g); /* sentence.c: last */

void compare_note(struct pairing *g, const char *text); /* text lies in the arena or is static */

/*
 * match.c. ns of class @c in the later run at hotspots that the first run does not have, where the
 * first run knows hotspots of that class.
 */
int64_t compare_new_hotspots(const struct pairing *g, enum ana_class c);

/* figures.c: numbers as people read them; @out has BASE_UNIT_BYTES. */
const char *compare_figure(char *out, enum view_figure figure, int64_t v);
/*
 * Both of a row and their difference. Dollars in one scale, and the difference is that of what is
 * shown; where that is nothing, of what is.
 */
void compare_row(enum view_figure figure, const int64_t v[2], base_unit text[2],
		 base_unit difference);
const char *compare_signed(char *out, enum view_figure figure, int64_t v); /* "+1.2 s", "0" */
const char *compare_change(char *out, int64_t ppm); /* "-31.2 %" */
const char *compare_usd(char *out, int64_t nano_usd); /* "$0.0083": cents, or three digits */

/*
 * headline.c. The measure of what one of a unit cost: NULL where there is none of that name. And "at
 * most ", where that is a bound in run @i (0, 1): "" of an exact one.
 */
const struct view_measure *compare_unit_measure(const struct view_pair *p, const char *unit);
const char *compare_unit_bound(const struct pairing *g, int i);

/* compare_words.c: what both pages say alike; the texts lie in @mem. */
const char *compare_run_words(const struct view_compared_run *r, struct base_arena *mem);
/* "input.fetch dataset.py:88" */
const char *compare_finding_name(struct base_arena *mem, const struct view_finding *f);
/* Who did what, where; of a moved one also where it was. */
const char *compare_finding_words(const struct view_comparison *c, const struct view_pair *p,
				  const struct view_finding_change *f, struct base_arena *mem);
/* "38.1 % -> 0.0 % of the GPU time, 1.2 ms -> 0 ns per step" */
const char *compare_finding_figures(const struct view_pair *p, const struct view_finding_change *f,
				    struct base_arena *mem);
/* "at most $33.27 per run, $29.10 was realised" */
const char *compare_promise_words(const struct view_pair *p, const struct view_promise *q,
				  struct base_arena *mem);
/* "$0.0037 less per step ..., $3.71 less per run, ..."; NULL: nothing is comparable */
const char *compare_saving_words(const struct view_comparison *c, const struct view_pair *p,
				 struct base_arena *mem);

#endif
