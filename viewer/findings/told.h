/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which findings every page tells, a sentence each (finding_sentence.h): the most costly first,
 * what is left of a class folded under it, those of one cause as one, and how much of what the
 * verdict is about the first ones are. Any thread.
 */
#ifndef VIEW_TOLD_H
#define VIEW_TOLD_H

#include "model/model.h"

#define VIEW_TOLD_PPM 1000 /* of the GPU time: smaller findings are not told */
#define VIEW_REST_PPM 10000 /* of the GPU time: less of what is left of a class is not told */
#define VIEW_TOLD_FIRST 3 /* so many stand in the verdict */

/* Worth a sentence of its own: a line, which nobody calls what is left of a class. */
bool view_told_is_line(const struct view_finding *f);
/* The finding of its class that cost most. */
bool view_told_is_first(const struct view_summary *s, size_t at);

/*
 * The first line of a class stands for all of it that samples do not place (view_told_rest, an
 * index; SIZE_MAX: it stands for itself) where that is more than the line's own time, or no line
 * was seen: its sentence says so ("at least 35.9 of these 72.7 %").
 */
size_t view_told_rest(const struct view_summary *s, size_t at);
int64_t view_told_ns(const struct view_summary *s, size_t at);
/* Of the training time; of the time held where it lies outside of that. */
int64_t view_told_share_ppm(const struct view_summary *s, size_t at);

/* Of the line alone, where view_told_rest has an index. */
enum ana_confidence view_told_line_confidence(const struct view_summary *s, size_t at);

struct view_told {
	size_t at; /* in s->finding */
	/* what is left of its class, told below it; SIZE_MAX: nothing, or told elsewhere */
	size_t rest;
};

/* The findings to be told, the most costly first; returns how many. */
size_t view_findings_told(const struct view_summary *s, struct base_arena *mem,
			  struct view_told **told);

/*
 * Two findings that say the same but for the line: who did what, of whom, in one file; or, of the
 * start of an epoch and of a main process without a CPU, one of them where nobody saw a line.
 */
bool view_told_alike(const struct view_summary *s, size_t a, size_t b);

/*
 * What the box and the page's top tell as one: findings that say the same but for their line, side
 * by side in @told.
 */
struct view_cause {
	size_t from, n; /* in @told, the most costly first */
	int64_t ns; /* view_alike_ns */
};
#define VIEW_ALIKE_MAX 8

/* The causes, the most costly first, and the findings that they are of; returns how many. */
size_t view_causes_told(const struct view_summary *s, struct base_arena *mem,
			struct view_told **told, struct view_cause **cause);

/* All of the time of @n findings that are told as one. */
int64_t view_alike_ns(const struct view_summary *s, const struct view_told *told, size_t n);
/* How sure of the least certain of them. */
enum ana_confidence view_alike_confidence(const struct view_summary *s,
					  const struct view_told *told, size_t n);

/*
 * "input.fetch in all: 60.3 % of the training time; 39.6 % told by line, 20.7 % where no sample
 * tells it": what is shown of the parts sums to what is shown of the whole. @rest: an index that
 * view_told has.
 */
const char *view_rest_words(const struct view_summary *s, struct base_arena *mem, size_t rest);

/*
 * Tenths of a percent of @n shares that sum to @total; each by itself where they are not its parts,
 * as a document may claim.
 */
void view_close_tenths(const int64_t *ppm, int n, int64_t total, int64_t *tenths);

/*
 * "73.9 of the 78.8 %; the rest has smaller causes, or no line is known": the first
 * @n of @told. NULL: they are all of it, the verdict is not about waiting, or more went elsewhere.
 */
bool view_covered(const struct view_summary *s, const struct view_told *told, size_t n,
		  /* what is alike and stands side by side is shown as one */
		  bool together,
		  /* of a percent: the sum of what is shown of each */
		  int64_t *tenths, int64_t *of);
/*
 * Which of the first three are what the verdict is about: "first two are", "first and the third
 * are".
 */
const char *view_covering_words(const struct view_summary *s, const struct view_told *told);
/* What is told of the rest; where that is more than is covered it has no smaller causes alone. */
const char *view_uncovered_words(int64_t tenths, int64_t of);
const char *view_covered_words(const struct view_summary *s, struct base_arena *mem,
			       const struct view_told *told, size_t n, bool together);

#endif
