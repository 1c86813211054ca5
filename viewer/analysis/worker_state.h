/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a loader worker's main thread does.
 */
#ifndef ANALYSIS_WORKER_STATE_H
#define ANALYSIS_WORKER_STATE_H

#include <stdint.h>

enum ana_worker_state {
	ANA_WORKER_IO, /* blocked on files or the network */
	ANA_WORKER_CPU, /* at work */
	ANA_WORKER_RUNNABLE, /* it could work and has no CPU */
	ANA_WORKER_IDLE, /* waits for work */
	ANA_WORKER_LOCK,
	ANA_WORKER_OTHER,
	ANA_WORKER_STATES
};
extern const char *const ana_worker_state_names[ANA_WORKER_STATES]; /* "io" ... "other" */
extern const char *const ana_worker_state_words[ANA_WORKER_STATES]; /* "on a CPU": workers were */

/* Of a thread that is blocked in @wait (enum wire_wait). */
enum ana_worker_state ana_worker_blocked(uint8_t wait);

#endif
