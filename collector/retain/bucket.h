/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A token bucket: bounds bytes per second. Taking is always allowed and may run into debt; a client
 * in debt waits until it is paid off. Unused rate is saved up, for two seconds at most. Zero at
 * first.
 */
#ifndef COLL_BUCKET_H
#define COLL_BUCKET_H

#include <stdint.h>
#include "core/clock.h"

#define COLL_BUCKET_SAVED_NS (2 * COLL_SECOND_NS)
#define COLL_BUCKET_DEBT_S 3600 /* more is forgiven */

struct coll_bucket {
	int64_t paid_ns; /* monotonic: when all that was taken is paid for */
};

/* @rate: bytes a second; 0: no limit. */
static inline void coll_bucket_take(struct coll_bucket *b, uint64_t rate, uint64_t bytes,
				    int64_t now_ns)
{
	if (!rate)
		return;
	if (b->paid_ns < now_ns - COLL_BUCKET_SAVED_NS)
		b->paid_ns = now_ns - COLL_BUCKET_SAVED_NS;
	if (bytes / rate >= COLL_BUCKET_DEBT_S)
		b->paid_ns = now_ns + COLL_BUCKET_DEBT_S * COLL_SECOND_NS;
	else
		b->paid_ns += (int64_t)((unsigned __int128)bytes * COLL_SECOND_NS / rate);
}

/* Nanoseconds until something may be taken again; 0: now. */
static inline int64_t coll_bucket_wait_ns(const struct coll_bucket *b, uint64_t rate,
					  int64_t now_ns)
{
	return rate && b->paid_ns > now_ns ? b->paid_ns - now_ns : 0;
}

#endif
