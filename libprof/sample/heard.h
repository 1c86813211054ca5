/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What workers that look at themselves wait for, on its way from the sender, who reads their
 * samples, to the sampler, who searches for whoever makes it among all processes. The last few
 * waits; one lock, held while they are copied.
 */
#ifndef PROF_HEARD_H
#define PROF_HEARD_H

#include <stddef.h>
#include "thread_sample.h"

#define PROF_HEARD_MAX 16u

/*
 * Sender. Only waits for what descriptors lead to are kept: of objects the worker's own sampler
 * knows.
 */
void prof_heard_sample(const struct prof_thread_sample *s);

/* What a wait is told by; the rest of a sample is not kept. */
struct prof_heard {
	uint32_t pid, tid;
	char links[PROF_LINKS_TEXT];
};

/* Sampler, outside the fork lock: takes them out. How many. */
size_t prof_heard_take(struct prof_heard out[PROF_HEARD_MAX]);

#endif
