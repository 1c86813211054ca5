/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who looks on while a component is walked: told of each thing as it comes by, beside what goes
 * into the sums of the result. The walk and the evidence know no more of what is made of it than
 * this (series/series_walk.c draws pages from it).
 *
 * All calls come from the thread that walks the component. Each returns 0 or -ENOMEM, which ends
 * the walk. What a pointer names is valid during the call.
 */
#ifndef ANALYSIS_OBSERVER_H
#define ANALYSIS_OBSERVER_H

#include <stddef.h>
#include <stdint.h>
#include "ledger.h"

struct ana_buckets;
struct wire_batch;
struct wire_strtab;

struct ana_observer { /* no member is NULL */
	void *arg; /* of all calls */
	size_t fine; /* buckets of a GPU's timeline in one of those asked for: ana_buckets_init */
	size_t top_gaps; /* kept of each GPU */

	/* The timeline of @gpu is laid out. */
	int (*gpu)(void *arg, uint32_t gpu, const struct ana_buckets *buckets);
	/* [start, end) is a gap between operations of @gpu; in order of time. */
	void (*gap)(void *arg, uint32_t gpu, int64_t start, int64_t end);
	/* A step is done; those of a process in order of start. */
	int (*step)(void *arg, const struct ana_step *s);
	/* A sample of some thread of the process, nearly in order of time. */
	int (*sample)(void *arg, uint32_t process, const struct wire_sample *s);
	/* A row of a batch, in order of start. @of: its loader's facts; NULL: not known. */
	int (*batch)(void *arg, uint32_t process, const struct wire_batch *b,
		     const struct ana_loader_facts *of);
	/* A share of a class's time, with the sample that tells where it went. */
	void (*share)(void *arg, const struct ana_hotspot_sample *share,
		      const struct wire_strtab *strings);
};

#endif
