/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The summary as text for a terminal or a file. Shows the summary's numbers and no others.
 */
#ifndef VIEW_TEXT_H
#define VIEW_TEXT_H

#include <stdbool.h>
#include <stdio.h>
#include "summary/summary.h"

/* How a page looks where it is shown. Zero but for the columns: as a file or a pipe gets it. */
struct view_text_style {
	bool colour;
	bool box; /* around the verdict */
	bool utf8; /* ... drawn with Unicode's lines */
	int columns; /* 80 where there is no terminal */
};

/*
 * A terminal gets the box and its own width (at least 20 columns), and colour unless NO_COLOR is
 * set; TERM unset or dumb gets neither. Lines of Unicode in a UTF-8 locale only.
 */
struct view_text_style view_text_style_of(FILE *f);
extern const struct view_text_style view_text_style_plain;

/*
 * text_ascii.c: what is written between the two to the file that the first returns comes to @to at
 * the second: cents as "ct" where a terminal has no letters but ASCII's, else as it stands.
 */
struct view_text_ascii {
	FILE *to, *f; /* f NULL: nothing is to be replaced */
	char *text;
	size_t len;
};
FILE *view_text_begin(struct view_text_ascii *a, FILE *to, const struct view_text_style *style);
void view_text_end(struct view_text_ascii *a);

/*
 * To the beginning of a line of the terminal @f, whatever column the cursor is in: a row of blanks
 * reaches the next line unless it began at the first column. Nothing where @f is no terminal.
 */
void view_text_fresh_line(FILE *f);

/* What a run ends with: verdict, dollars, causes, next step. @report: path shown, or NULL. */
void view_text_verdict(const struct view_summary *s, FILE *f, const struct view_text_style *style,
		       const char *report);

/* The whole report. */
void view_text_report(const struct view_summary *s, FILE *f, const struct view_text_style *style);

/* Colour if @f is a terminal, NO_COLOR is unset and TERM is not dumb. */
bool view_text_colour(FILE *f);

/* "8x NVIDIA H100 80GB HBM3 (simulated)", in the caller's arena. */
const char *view_text_gpus(const struct view_summary *s, struct base_arena *mem);

/* "$6.88 per GPU-hour (aws p5.48xlarge, on-demand, 2026-11-09)"; several as a list; "" if none. */
const char *view_text_rates(const struct view_summary *s, struct base_arena *mem);

/* What follows "this run: ": its sums, GPUs, length and price, or how to get one. */
const char *view_text_sums(const struct view_summary *s, struct base_arena *mem);

/* The sentence that leads: a share of the training time, and what of a GPU-hour's price that is. */
const char *view_text_money(const struct view_summary *s, struct base_arena *mem);

/* What an advice saves at most: "saves at most $0.06 of this run, 8.00 ¢ per thousand steps". */
const char *view_text_saving(const struct view_summary *s, const struct view_advice *a,
			     struct base_arena *mem);

/* One rate with its fraction, source and date. */
const char *view_text_rate(const struct view_rate *r, struct base_arena *mem);

#endif
