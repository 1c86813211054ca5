/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the host of a GPU did, as far as it is recorded at no cost per launch: one state for every
 * instant (LEDGER 11). Made once of a device's processes, then read. One thread at a time.
 */
#ifndef ANALYSIS_ESTIMATE_STATES_H
#define ANALYSIS_ESTIMATE_STATES_H

#include "analysis/plan/plan.h"

#define ANA_STATE_LINES 24 /* of the program, that have a state each */

/* The first that holds. Those below ANA_STATE_LINE are of records, the others of samples. */
enum ana_state {
	ANA_STATE_GC,
	ANA_STATE_EPOCH,
	ANA_STATE_WAIT,
	ANA_STATE_CHECKPOINT,
	ANA_STATE_SYNC,
	ANA_STATE_PHASE,
	ANA_STATE_LINE, /* the first of ANA_STATE_LINES */
	ANA_STATE_CPU = ANA_STATE_LINE + ANA_STATE_LINES,
	ANA_STATE_GPU,
	ANA_STATE_LOCK,
	ANA_STATE_FILE,
	ANA_STATE_NET,
	ANA_STATE_SLEEP,
	ANA_STATE_OTHER,
	ANA_STATE_NONE,
	ANA_STATES
};

struct ana_state_span {
	int64_t start, end;
	uint8_t state;
};

struct ana_states { /* zero-initialise */
	struct ana_state_span *span; /* disjoint, in order; what lies between is ANA_STATE_NONE */
	size_t count, room;
	uint8_t kind[ANA_STATE_LINES]; /* the state that a line's samples would have without it */
	char *line[ANA_STATE_LINES]; /* "file:line function"; NULL: there is none */
};

/* "loader"; of a line of the program that of its kind. */
const char *ana_state_name(const struct ana_states *s, int state);

/* 0 or -ENOMEM. */
int ana_states_make(struct ana_states *s, const struct ana_plan *p, const struct ana_device *d,
		    struct wire_scratch *scratch);
void ana_states_fini(struct ana_states *s);

/* The state at @t; *until gets where it changes, INT64_MAX if never. *at is the caller's place. */
uint8_t ana_states_at(const struct ana_states *s, size_t *at, int64_t t, int64_t *until);

#endif
