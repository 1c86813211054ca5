/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages that say how the process and libprof itself are doing: clock triplets, device facts,
 * pulses, Bye. Sender thread.
 */
#ifndef PROF_REPORT_H
#define PROF_REPORT_H

#include <stdint.h>
#include "core/clockpoll.h"
#include "loader/shim.h"

struct prof_counters { /* the sender's own; the rest is asked from whoever counts it */
	int64_t complete_ns; /* "complete up to" of the pulse */
	uint64_t dropped; /* records: by CUPTI, and in buffers that were not read */
	const char *level;
};

/* Keeps a triplet for the next Clock frame; writes one when many have come. */
void prof_report_triplet(const struct prof_triplet *t);
void prof_report_clock(void);

void prof_report_checkpoint(const struct prof_checkpoint *c, const char *saver, const char *path);
void prof_report_facts(int64_t since_ns); /* answers from then on, monotonic */
void prof_report_pulse(const struct prof_counters *c);
void prof_report_bye(const struct prof_counters *c, const char *reason);

#endif
