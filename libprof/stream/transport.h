/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where frames go: to the collector's socket while it takes them, else to the spool. A frame stays
 * in a bounded queue until the collector has acknowledged it or the spool has taken it. When the
 * queue is full and neither works, the oldest frames are dropped, counted, and their time is lost.
 * Sender thread, which has the writer do all that needs a descriptor (writer.h); nothing here
 * blocks longer than its deadline (disks excepted).
 */
#ifndef PROF_TRANSPORT_H
#define PROF_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROF_TRANSPORT_QUEUE ((size_t)8 << 20)

struct prof_transport_opts {
	const char *socket; /* "" for none */
	const char *out; /* base of the run directories */
	const char *run_id;
	const uint8_t *stream; /* 16 bytes */
	size_t queue_bytes; /* 0: PROF_TRANSPORT_QUEUE */
	uint64_t max_bytes; /* of all frames together; 0: no limit */
};

struct prof_transport_stats {
	uint64_t bytes; /* of frames pushed */
	uint64_t frames_dropped;
	uint64_t written; /* bytes that reached the spool or the socket */
	size_t memory;
	int error; /* errno of the last failed attempt, 0 if the last one worked */
	bool connected;
};

void prof_transport_init(const struct prof_transport_opts *o);

/*
 * Takes one whole frame (copied). Times: what its events span, t1 < t0 for frames without events.
 * Never fails: what does not fit is dropped and counted. Near the limit on all bytes no events are
 * taken any more, so that losses and pulses fit, and near the end of that only Bye.
 */
void prof_transport_push(const uint8_t *frame, size_t len, int64_t t0_ns, int64_t t1_ns);

/* Would a block of so many bytes stay below the trace's limit? */
bool prof_transport_fits(size_t bytes);

/* Sends what can be sent until the deadline (monotonic ns). */
void prof_transport_pump(int64_t deadline_ns);

/*
 * The last words: what the collector does not take until the deadline goes to the spool.
 */
void prof_transport_finish(int64_t deadline_ns);

/* Time spanned by events of frames dropped since the last call; false if there were none. */
bool prof_transport_lost(int64_t *t0_ns, int64_t *t1_ns, uint64_t *frames);

void prof_transport_stats(struct prof_transport_stats *s);

#endif
