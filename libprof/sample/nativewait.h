/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a thread waits for in native code, by its stack: it is blocked on a futex, and between the
 * call and Python's interpreter, or its beginning, stands code of a library. A lock of Python's own
 * has the C library alone in between. Sampler thread; allocates nothing.
 */
#ifndef PROF_NATIVEWAIT_H
#define PROF_NATIVEWAIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "heapblock.h"

#define PROF_NATIVEWAIT_OTHERS 32u
#define PROF_NATIVEWAIT_LIBRARIES 4u
#define PROF_NATIVEWAIT_NEAR 512u /* bytes: no lock with its conditions is larger */

struct prof_nativewait {
	bool exact; /* the object is a block of malloc's */
	/*
	 * What the futex is a part of. If no block of malloc's is found, all that its frames point
	 * to within PROF_NATIVEWAIT_NEAR bytes of it, and what lies in between.
	 */
	struct prof_heapblock object;
	struct prof_heapblock other[PROF_NATIVEWAIT_OTHERS]; /* what else the frames point to */
	size_t others;
	uint64_t site; /* where in libraries it waits: a hash of the frames' addresses */
	uint64_t library[PROF_NATIVEWAIT_LIBRARIES]; /* where its code begins, innermost first */
	size_t libraries;
};

/*
 * By the registers that the kernel tells (native.h). False: it is no wait in native code, or a
 * stack that does not tell, or one for the GPU, inside of its driver.
 */
bool prof_nativewait_read(uint64_t sp, uint64_t pc, uint64_t futex, struct prof_nativewait *w);

#endif
