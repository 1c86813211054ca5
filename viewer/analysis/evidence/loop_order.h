/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where in its loop a thread is at work: at a line before those that give the GPU work, or behind
 * them. What is made for the GPU is made before; metrics, logs and savings come behind. Told by
 * what the thread did next the last times that it was there (LEDGER 6, work before a copy). A
 * generator that the loop resumes, whatever its line, makes what the loop takes. One thread.
 */
#ifndef ANALYSIS_LOOP_ORDER_H
#define ANALYSIS_LOOP_ORDER_H

#include "evidence.h"

enum ana_order {
	ANA_ORDER_UNKNOWN, /* it was not seen on its way to the GPU */
	ANA_ORDER_BEFORE,
	ANA_ORDER_PERHAPS, /* before, the only time that it was seen on its way there */
	ANA_ORDER_BEHIND,
	ANA_ORDER_RESUMED, /* in a generator that is none of those in which it gives the GPU work */
};

#define ANA_ORDER_MEMO 8u

struct ana_order_memo { /* what one of these told in one piece, by stack; zero-initialise */
	struct {
		uint32_t stack;
		uint8_t order;
	} known[ANA_ORDER_MEMO];
	uint32_t next;
};

/*
 * Of the sample @i of a thread of the process, in the piece [start, stop), by its samples before
 * that.
 */
enum ana_order ana_order_of(struct ana_order_memo *m, struct ana_evidence *e,
			    const struct ana_thread_samples *s, size_t i, int64_t start,
			    int64_t stop);

/*
 * Where the line of that sample stands to those that give the GPU work, whatever the thread does
 * there, a wait, too: BEFORE, BEHIND, UNKNOWN. @m: told by this alone.
 */
enum ana_order ana_order_place(struct ana_order_memo *m, struct ana_evidence *e,
			       const struct ana_thread_samples *s, size_t i, int64_t start);

/*
 * Two stacks as text: the lines of the outermost frame in which they differ, if that is of one
 * function, else false. @common: the length of the ends of @a that has that frame of @a and all
 * outside of it. Pure.
 */
bool ana_order_apart(struct ana_text a, struct ana_text b, uint32_t *line_a, uint32_t *line_b,
		     uint32_t *common);

#endif
