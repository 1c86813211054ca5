/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the host of a long run was seen to do: looks at the thread that launches and at two workers
 * of its loader, and who made which batch when, as a run of ours records them. Times must not go
 * back. One thread.
 */
#ifndef TESTS_LONG_HOST_H
#define TESTS_LONG_HOST_H

#include "made.h"

#define LONG_STACKS 6
#define LONG_WORKERS 2

struct long_host {
	struct wire_sample *sample;
	struct wire_batch *batch;
	size_t samples, batches, sample_room, batch_room;
	uint64_t random, batches_ever;
	int64_t next; /* the next look */
	int64_t ran[1 + LONG_WORKERS]; /* on a CPU, of each thread */
	int64_t fetched; /* the last batch was begun */
	uint32_t pid, tid;
	uint32_t stack[LONG_STACKS], waits, makes, file;
};

/* @start: of the first look. The names go into @s. */
void long_host_begin(struct long_host *h, struct made_stream *s, uint32_t pid, uint32_t tid,
		     int64_t start);
/* The thread works until @t. */
void long_host_work(struct long_host *h, int64_t t);
/* It waits for a batch in [@start, @end). */
void long_host_wait(struct long_host *h, int64_t start, int64_t end);
/* Writes what was seen. */
void long_host_flush(struct long_host *h, struct made_stream *s, int64_t now);
void long_host_end(struct long_host *h);

#endif
