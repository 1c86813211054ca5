/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What CUPTI holds, fetched by flushes, translated, and what of it was lost, counted. The flusher
 * calls CUPTI (cupti/flusher.h): here its answers are waited for, within bounds, and drained.
 *
 * Sender thread, unless it says otherwise.
 */
#ifndef PROF_COLLECT_H
#define PROF_COLLECT_H

#include <stdbool.h>
#include <stdint.h>
#include "report.h"

/* From @armed_ns on. What is lost and how far all is there is kept in @count, which must stay. */
void prof_collect_init(int64_t armed_ns, struct prof_counters *count);

/*
 * Much is to be translated: true for the first who says so since the last drain. Any thread, no
 * lock.
 */
bool prof_collect_pending(void);

/* Translates what is there. True: a flush has ended, too, and its result was counted after that. */
bool prof_collect_drain(void);

/* Each tick: asks for a flush, waits for some ms, and drains. */
void prof_collect_flush(void);

/*
 * Each tick while another client has CUPTI: a flush would hand that one its buffers before their
 * time, and make it ask for new ones. All of that time is counted as lost.
 */
void prof_collect_no_flush(void);

/*
 * A flush from its beginning to its end, both from now on; false if it takes longer than a second.
 */
bool prof_collect_flush_whole(void);

/*
 * Flushes until all buffers are back or the time is up (monotonic): one may wait for work that
 * runs.
 */
void prof_collect_buffers(int64_t deadline_ns);

/* At the end. What CUPTI does not give back in time (monotonic) is lost, and said to be. */
void prof_collect_last(int64_t deadline_ns);

int64_t prof_collect_last_flush_ns(void); /* begin of the last flush that ended */

/* Each tick: as many buffers, of such a size, as the records of half a second take. */
void prof_collect_keep_buffers(void);

#endif
