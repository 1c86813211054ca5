/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of all threads by time, to tell which threads were looked at in an interval, where there
 * are so many that who asks all of them for each gap asks for too long. Threads by their numbers.
 * One thread.
 */
#ifndef ANALYSIS_LOOKED_H
#define ANALYSIS_LOOKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ana_looked_at { /* a sample */
	int64_t t_ns;
	uint32_t thread;
};

struct ana_looked { /* zero-initialised, but for since */
	struct ana_looked_at *at; /* by time */
	size_t head, tail, room;
	int64_t since; /* every sample from then on is in it; before, it may lack some */
	uint32_t *found;
	uint32_t found_room;
};

void ana_looked_fini(struct ana_looked *s);

/*
 * A sample of the thread, one of @threads that are asked. Those before @before are forgotten.
 * Without memory, or where they are too many, it is known of less far back.
 */
void ana_looked_add(struct ana_looked *s, uint32_t thread, uint32_t threads, int64_t t,
		    int64_t before);

/* The same of one that comes to the thread some other way, and of those before it. */
void ana_looked_lacks(struct ana_looked *s, int64_t t);

/*
 * The threads with a sample in [a, b), each once, ascending: *thread[0..*n), valid until the next
 * call. False: all of the @threads have to be asked, which costs no more.
 */
bool ana_looked_between(struct ana_looked *s, uint32_t threads, int64_t a, int64_t b,
			const uint32_t **thread, uint32_t *n);

#endif
