/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames as they pass, into a run: Hello, Pulse, Facts (of saves) and Bye are read, all others
 * ignored. One thread per reader; it may serve many runs.
 */
#ifndef LIVE_FRAME_H
#define LIVE_FRAME_H

#include "run.h"

struct live_reader; /* what decompressing needs */
struct live_reader *live_reader_new(void); /* NULL: no memory */
void live_reader_free(struct live_reader *d);

/* What a Facts frame tells. */
struct live_facts {
	uint64_t save; /* the last thing of saves, as its process counts; 0: none that is counted */
	bool written; /* bytes that were written by whatever means */
	bool memory; /* of GPUs */
};
/* Of a frame as live_run_frame has it. 0, -EBADMSG or -ENOMEM. */
int live_frame_facts(struct live_reader *d, const struct wire_frame *f, const uint8_t *payload,
		     struct live_facts *out);

/* The types that live_run_frame reads. */
bool live_frame_wanted(const struct wire_frame *f);

/*
 * @payload: head and body of a frame whose checksums were found good. What is in it is hostile all
 * the same: its size is bounded before it is unpacked. 0 (also for types that are not read),
 * -EBADMSG, or what live_run_* returns.
 */
int live_run_frame(struct live_run *r, struct live_reader *d, const struct wire_frame *f,
		   const uint8_t *payload, const struct live_when *when);

#endif
