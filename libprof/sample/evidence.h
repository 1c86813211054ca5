/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of evidence on their way into the trace: samples and batches of this process and of its
 * workers, collected here by whoever has them and turned into Samples and Workers frames by the
 * sender at each flush. What finds no room is dropped and counted.
 *
 * sample and batch run on any thread; they copy, allocate, and take one lock that is held for some
 * microseconds. flush belongs to the sender. Nothing here may be called in a forked child.
 */
#ifndef PROF_EVIDENCE_H
#define PROF_EVIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "thread_sample.h"

struct prof_evidence_stats {
	uint64_t samples, batches; /* taken */
	uint64_t dropped; /* rows that found no room, here or in the trace, and looks left out */
	uint64_t nameless; /* texts that found none: their rows say 0 */
	size_t memory;
};

/*
 * Takes one sample: the row and its texts. A row of the same thread that was to stand for longer
 * than till now is shortened, so that no time counts twice. 0 or -ENOBUFS (counted).
 */
int prof_evidence_sample(const struct prof_thread_sample *l);

/*
 * The last sample of this thread of this process still holds: takes it once more, as of @t_ns.
 * False: it has been handed on already; sample it again.
 */
bool prof_evidence_again(uint32_t pid, uint32_t tid, int64_t t_ns, uint32_t period_ns);

/* Samples that were due and could not be taken, for the program forked all the time. */
void prof_evidence_missed(uint64_t looks);

/* Takes one batch. @text: the settings of an OPEN, else NULL. 0 or -ENOBUFS (counted). */
int prof_evidence_batch(const struct wire_batch *b, const char *text);

/* Sender: makes frames of all rows that are there. */
void prof_evidence_flush(void);

void prof_evidence_stats(struct prof_evidence_stats *s); /* sender */

#endif
