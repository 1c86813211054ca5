/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What keeps tracing honest and cheap while it runs: the watchdog (another client has CUPTI), the
 * governor (tracing is too dear), the size limit of the trace, and times in which the process was
 * stopped. Each leads to loss spans, and some to a change of what is traced. Sender thread.
 */
#ifndef PROF_CAPTURE_POLICY_H
#define PROF_CAPTURE_POLICY_H

#include <stdbool.h>
#include <stdint.h>
#include "cuda_api.h"
#include "flusher.h"
#include "governor.h"
#include "levels.h"
#include "timebase.h"
#include "windows.h"

void prof_policy_init(const struct prof_level *level, const struct prof_cupti *cupti,
		      int64_t armed_ns);

/* What is traced now, for pulses: "0", "1", "2", "copies", "least", "off". */
const char *prof_policy_level_name(void);

/* What tracing costs and what was done about it; NULL: nothing had to be done. */
const struct prof_governor *prof_policy_governor(void);

/* Windows of full recording, where they were asked for and the governor has acted; else NULL. */
const struct prof_windows *prof_policy_windows(void);

/* How many canaries the next flush shall make. */
uint32_t prof_policy_canaries(void);

/*
 * A flush has ended and what it brought was drained. @last_ns: begin of the one before. @base: what
 * its reading of CUPTI's clock said.
 */
void prof_policy_flushed(const struct prof_flush *f, int64_t last_ns, enum prof_timebase base);

/* CUPTI refused us at the arm, because the process is its second interface's. */
void prof_policy_refused(int64_t armed_ns);

/* Is CUPTI ours, so that it may be flushed? What another client has is none of our business. */
bool prof_policy_may_flush(void);

/*
 * CUPTI is handed over to another client (handover.h). First all that our buffers hold is flushed
 * and drained; then prof_policy_release switches our kinds off, false if there is nothing to hand
 * over; then it is flushed and drained again, and prof_policy_released gives up what is still out.
 * prof_policy_reclaim registers again, at a later tick if the flusher is busy; @busy: while the
 * program launches on.
 */
bool prof_policy_release(void);
void prof_policy_released(void);
void prof_policy_reclaim(bool busy);

/*
 * Once per tick, whatever flushes do. True if something changed that Hello tells (level, notes).
 */
bool prof_policy_tick(void);

/* At the end: tells what is lost, and changes nothing any more. */
void prof_policy_finish(void);

/*
 * The sender was not heard of for a while: from when it was last seen (monotonic, trace's clock,
 * process CPU) till now. If the process stood still meanwhile, that is a loss span.
 */
struct prof_alive {
	int64_t mono_ns, now_ns, cpu_ns;
};
void prof_policy_alive(struct prof_alive *last, int64_t expected_ns);

/* Is the trace as large as it may be? Then only pulses and losses are written. */
bool prof_policy_full(void);

#endif
