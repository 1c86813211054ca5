/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a process began to be what its stream tells of. A shell that execs a training has been there
 * for long; a child that was forked without execv began by that. Any thread.
 */
#ifndef WIRE_LIFE_H
#define WIRE_LIFE_H

#include "wire/session.pb-c.h"

/* The later of its fork and its program's start, on the trace's clock; 0: it does not tell. */
static inline int64_t wire_life_begin(const Wire__Hello *h)
{
	int64_t begin = h->process_start_ns;

	if (begin && h->program_start_ns > begin &&
	    (!h->armed_ns || h->program_start_ns <= h->armed_ns))
		begin = h->program_start_ns;
	return begin;
}

#endif
