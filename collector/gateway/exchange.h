/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs that go on, of all gateways, by way of a store (gpustarve-pulses(1)): every ten seconds the
 * gpustarve beside this program hands over what came here, and tells what is new there. From that
 * the runs (alert/runs.h) are made which /metrics, /v1/live and alerts are told of: from nothing
 * else, so that each gateway says the same. While the store does not answer they stay as they are,
 * and what came waits, bounded. One thread, the loop's.
 */
#ifndef COLL_EXCHANGE_H
#define COLL_EXCHANGE_H

#include "alert/runs.h"
#include "core/context.h"
#include "pulse_rows.h"

struct coll_exchange { /* zero: there is none */
	struct coll_context *context; /* borrowed, as the next; NULL: there is none */
	const char *url;
	char program[COLL_CHILD_PATH_BYTES];
	struct coll_runs runs;
	struct coll_pulse_rows rows;
	struct wire_buf sent; /* what is being handed over */
	int64_t mark; /* what the store said last, 0: nothing yet */
	int64_t next_mark; /* what it says now, 0: not yet */
	int64_t next_ns, pause_ns; /* monotonic */
	bool busy;
	bool last; /* the last one has begun */
	bool failed; /* the last time */
	int64_t told_ns; /* monotonic: when the store told us last, 0: never */
	int64_t sure_ns; /* monotonic: from when on alerts are looked at again after a failure */
	int64_t logged_ns;
};

/* All borrowed. 0, or -errno, logged: there is no gpustarve beside this program. */
int coll_exchange_init(struct coll_exchange *x, const char *url,
		       const struct coll_conditions *conditions, struct coll_context *context);
void coll_exchange_fini(struct coll_exchange *x);
bool coll_exchange_is_there(const struct coll_exchange *x);

/* What a body brought, once it is durable; see coll_pulse_rows_take. */
void coll_exchange_take(struct coll_exchange *x, const char *team, const struct coll_body *b,
			const struct coll_body_stream *s, bool first);

/* The alert of a run of ours fired, here or elsewhere; @line: what it is told by. */
void coll_exchange_alert(struct coll_exchange *x, const struct coll_run *run,
			 const struct live_fired *f, const char *line, size_t len);

/* To be called about once a second. */
void coll_exchange_tick(struct coll_exchange *x);

/* At the end: what came is handed over, once. True: that is under way, or still to begin. */
bool coll_exchange_ending(struct coll_exchange *x);

#endif
