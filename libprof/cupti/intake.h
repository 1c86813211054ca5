/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completed buffers to events: walks the records, translates them, adds them to the stream, tells
 * what was lost. Sender thread.
 */
#ifndef PROF_INTAKE_H
#define PROF_INTAKE_H

#include <stdint.h>
#include "cuda_api.h"

struct prof_intake {
	uint64_t bytes; /* of records */
	uint64_t ops; /* operations */
	uint64_t launches; /* recorded calls that make operations */
	uint64_t maybe_launches; /* ... that may make some */
	uint64_t waits; /* recorded calls that wait for them */
	uint64_t captures; /* recorded calls that made a graph */
	uint64_t graphs; /* operations that are graphs or parts of one */
	uint64_t canaries; /* records of the watchdog's sign of life */
	uint64_t invalid; /* operations with unusable stamps */
	uint64_t unknown; /* records of kinds that are not read */
	uint64_t calls; /* the latest id that CUPTI has given a call: it numbers all of them */
	uint64_t cut; /* buffers that ended in something unreadable */
};

/* @cupti must stay; NULL: there is none, and no buffer will come. */
void prof_intake_init(const struct prof_cupti *cupti);

/* Everything that is there. Stamps are checked against the last flush's begin and now. */
void prof_intake_drain(int64_t last_flush_ns);

const struct prof_intake *prof_intake(void);

#endif
