/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When the next request may be made. After a failure 0.5 s, 1 s, ... 30 s, each shortened by chance
 * by up to half, or what Retry-After says. A run that the centre cannot take is held for longer and
 * longer, up to a minute, while others go on. One thread.
 */
#ifndef COLL_BACKOFF_H
#define COLL_BACKOFF_H

#include "link.h"
#include "out_run.h"

#define COLL_BACKOFF_FIRST_MS 500
#define COLL_BACKOFF_LAST_MS 30000
#define COLL_BACKOFF_RETRY_AFTER_MAX_S 300
#define COLL_BACKOFF_HOLD_MAX_S 60

struct coll_backoff {
	const char *to; /* URL, for logs */
	struct coll_counters *count;
	int64_t wait_ms; /* what the next failure waits */
	int64_t next_ns; /* monotonic: not before then; 0: at the next tick */
	int64_t ok_ns; /* monotonic: when a request last succeeded, 0: never */
	int64_t logged_ns; /* monotonic: when a failure was last logged */
	uint64_t seed;
	bool failing; /* the last request failed */
};

/* The first request may be made at once. */
void coll_backoff_init(struct coll_backoff *p, const char *to, struct coll_counters *count);

/* A request failed; logged at the first failure after a success, and then once a minute. */
void coll_backoff_failed(struct coll_backoff *p, const struct coll_answer *a);

/* Something between us and the centre answers for it, or the address is another server's. */
void coll_backoff_failed_strangely(struct coll_backoff *p, const struct coll_answer *a);
void coll_backoff_succeeded(struct coll_backoff *p);

/* What the centre could not take waits, longer each time; until it took it. */
void coll_out_hold_longer(struct coll_out_hold *h);
void coll_out_hold_end(struct coll_out_hold *h);
bool coll_out_is_held(const struct coll_out_hold *h);

#endif
