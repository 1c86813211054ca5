/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What bodies tell of runs that go on, as rows for a store (live/row.h), until they are handed
 * over: of each stream in a body its Hello, the newest pulse of each stretch, what it tells of
 * saves, and its Bye. Bounded: what is older gives way, for pulses that come next say the same and
 * more, and of saves readers see by their count that some are missing. One thread.
 */
#ifndef COLL_PULSE_ROWS_H
#define COLL_PULSE_ROWS_H

#include <stdbool.h>
#include "body.h"
#include "live/row.h"

#define COLL_PULSE_ROWS_MAX (32u << 20) /* bytes */

struct coll_pulse_rows { /* zero-initialise it; coll_pulse_rows_fini */
	struct live_reader *reader; /* made once it is needed */
	struct wire_buf lines; /* that came since, or wait again */
	uint64_t rows; /* that were ever taken */
	uint64_t dropped; /* times that for want of room or memory some were not */
};

/* @first: of this stream none was taken before, as far as we know. */
void coll_pulse_rows_take(struct coll_pulse_rows *p, const char *team, const struct coll_body *b,
			  const struct coll_body_stream *s, bool first);

/* One more row, as it is. */
void coll_pulse_rows_add(struct coll_pulse_rows *p, const struct live_row *r, const void *frame,
			 size_t len);

/* @lines were not taken over: they come before what came since, as far as there is room. */
void coll_pulse_rows_return(struct coll_pulse_rows *p, struct wire_buf *lines);

void coll_pulse_rows_fini(struct coll_pulse_rows *p);

#endif
