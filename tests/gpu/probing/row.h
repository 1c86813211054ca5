/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row.h - how a part of the probe answers: one line through a pipe per answer, written whole. The
 * parent (report.h) adds the question and who asked. A part may die at any time: lines that were
 * sent stay.
 */
#ifndef PROBE_ROW_H
#define PROBE_ROW_H

#include <stdint.h>

#include "figures.h"

struct row {
	const char *id; /* of a question in questions.c */
	char answer[512], spread[160], figures[1600];
	const char *unit;
};

/* Where rows go in this process. */
void row_to(int fd);

void row_begin(struct row *row, const char *id, const char *unit);
__attribute__((format(printf, 2, 3))) void row_answer(struct row *row, const char *format, ...);
__attribute__((format(printf, 2, 3))) void row_spread(struct row *row, const char *format, ...);

/* A figure; left out where nothing is known (FIG_UNKNOWN). */
void row_figure(struct row *row, const char *name, int64_t value);

/* median, p25, p75, rounds, with a name before them; and "p25 .. p75" as the row's spread. */
void row_figures(struct row *row, const char *name, const struct spread *s);

void row_send(const struct row *row);

/* A question that cannot be asked here, and why. */
__attribute__((format(printf, 2, 3))) void row_skip(const char *id, const char *format, ...);

/* A fact that the later parts and the rows' versions need. */
__attribute__((format(printf, 2, 3))) void row_fact(const char *name, const char *format, ...);

#endif
