/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spec.h - the scripts of faults: GPUSIM_FAULT="NAME:KEY=VALUE,...;NAME:..." (README.md lists
 * them). Reads only the environment; no state of its own.
 */
#ifndef SIM_SPEC_H
#define SIM_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_SPEC_TEXT 64

/* One entry. Times are ns; a key that is not given is 0, apart from duration. */
struct sim_spec {
	char name[24];
	char call[SIM_SPEC_TEXT];
	char client[16]; /* its kind, where it is one */
	uint64_t every, nth, count, records, code;
	uint64_t from, duration; /* SIM_SPEC_FOREVER when not given */
	uint64_t ms, kb;
	uint64_t kind; /* of CUPTI's records */
	double clock;
	int rank; /* only the process with this RANK; -1: all */
	bool finalize, no_flush;
};

#define SIM_SPEC_FOREVER UINT64_MAX

/* Entries of the variable `key` that are meant for this process, at most max; returns how many. */
size_t sim_spec_read(const char *key, struct sim_spec *out, size_t max);

#endif
