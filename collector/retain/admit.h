/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Admission: whether a client may open a stream or a run, append bytes, or send more a second, as
 * the limits and quotas stand. What is refused is counted, and logged at most once a minute. One
 * thread.
 */
#ifndef COLL_ADMIT_H
#define COLL_ADMIT_H

#include "retention.h"

struct coll_store;

/*
 * The store belongs to the team ("": none): what it opens, appends and closes is admitted and
 * counted here, see store/admission.h.
 */
void coll_admit_attach(struct coll_retention *k, struct coll_store *st, const char *team);

/* What the store's team uses; NULL: not known. */
const struct coll_use *coll_admit_use_of(const struct coll_store *st);

/*
 * Below, @k may be NULL: no limits.
 *
 * Whether a stream of the run directory may be opened: 0 or -EUSERS, when there are too many. On 0
 * it is counted until coll_admit_closed.
 */
int coll_admit_open(struct coll_retention *k, const char *dir);
void coll_admit_closed(struct coll_retention *k, const char *dir);

/* Logs that something was refused for this limit, unless it was within the last minute. */
void coll_admit_log(struct coll_retention *k, enum coll_limit which);

/* Whether a client, or a @team, that feeds @streams already may feed one more: 0 or -EUSERS. */
int coll_admit_feed(struct coll_retention *k, size_t streams, bool team);

/*
 * Whether @len bytes more may be appended to a stream of @size: 0 (then they are counted); -EFBIG:
 * it would be too large; -EDQUOT: no room, a sweep is on its way; -ENOSPC: the disk is nearly full.
 * @use NULL: only the quota of all.
 */
int coll_admit_append(struct coll_retention *k, struct coll_use *use, uint64_t size, uint64_t len);

/* Whether a stream of @size may become so much longer: 0 or -EFBIG. */
int coll_admit_size(struct coll_retention *k, uint64_t size, uint64_t len);

/* A client has sent @len bytes: how long it must not be read from, in nanoseconds. */
int64_t coll_admit_throttle(struct coll_retention *k, struct coll_bucket *client, uint64_t len,
			    int64_t now_ns);
int64_t coll_admit_wait(const struct coll_retention *k, const struct coll_bucket *client,
			int64_t now_ns);

#endif
