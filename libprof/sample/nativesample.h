/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a sample of a thread of this process has of native links (nativelink.h): the words, and
 * where a native thread's code is while it runs. Sampler thread; under the fork lock.
 */
#ifndef PROF_NATIVESAMPLE_H
#define PROF_NATIVESAMPLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "nativelink.h"
#include "thread_sample.h"

struct prof_nativesample { /* whose sample it is */
	pid_t tid;
	uint8_t role; /* enum wire_role */
	bool python;
	int64_t now_ns;
};

/* Takes in what it waits for, and adds that and what it gives to others. */
void prof_nativesample_link(struct prof_nativelink *l, const struct prof_nativesample *of,
			    struct prof_thread_sample *s);

#endif
