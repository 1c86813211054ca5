/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The offset of this node's clock from the centre's, as NTP finds it: a request and its answer
 * carry four readings, two of each clock; the offset is known to half the round trip. Of the
 * requests of each COLL_CLOCK_OFFSET_KEEP_S the one with the shortest round trip is kept. The
 * readings are written into each run that is being forwarded, as clock-NODE.json, and go to the
 * centre like other side files:
 *
 *   {"schema":"gpustarve.clock/1","node":NAME,"to":URL,
 *    "readings":[{"at_ns":node's clock,"offset_ns":centre's minus node's,"error_ns":half the way}]}
 *
 * Two nodes of a run that asked the same centre agree to within the sums of these. One thread.
 */
#ifndef COLL_CLOCK_OFFSET_H
#define COLL_CLOCK_OFFSET_H

#include <stdbool.h>
#include <stdint.h>

#define COLL_CLOCK_OFFSET_EVERY_S 30
#define COLL_CLOCK_OFFSET_KEEP_S 600
#define COLL_CLOCK_OFFSET_READINGS 64 /* of a run; then every second one is left out */
#define COLL_CLOCK_OFFSET_FIRST 5 /* questions one after another at first: the way is warm then */

struct coll_answer;
struct coll_outbox;

struct coll_clock_reading {
	int64_t at_ns, offset_ns, error_ns;
};

struct coll_clock_offset {
	const char *node, *to;
	struct coll_clock_reading reading[COLL_CLOCK_OFFSET_READINGS];
	unsigned int count;
	unsigned int asked;
	int64_t next_ns, kept_until_ns; /* monotonic */
	uint64_t version; /* of what is in memory; a run knows which one was written into it */
};

void coll_clock_offset_init(struct coll_clock_offset *c, const char *node, const char *to);

/* True: ask now; the next time is set. */
bool coll_clock_offset_due(struct coll_clock_offset *c, int64_t now_ns);

/* An answer of GET /v1/clock. False: it is no collector's. */
bool coll_clock_offset_read(struct coll_clock_offset *c, const struct coll_answer *a);

/*
 * Writes what is new into the runs that are forwarded, as long as something happens in them. True:
 * into some, of which that is to be forwarded, too.
 */
bool coll_clock_offset_write(struct coll_clock_offset *c, struct coll_outbox *box);

#endif
