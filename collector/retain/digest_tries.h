/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is remembered of a run whose digest failed: COLL_DIGEST_TRIES in its directory, so that
 * neither a restart nor a later sweep begins anew. It holds of the trace as it was then and of this
 * version of the program; of a run that has grown, or with another version, nothing is remembered.
 * Removing the file forgets, too.
 *
 * After COLL_DIGEST_ATTEMPTS the run is parked: not tried again until one of these happens. The
 * file is hostile, as all of a run directory is: nothing in it makes a run wait longer than
 * COLL_DIGEST_PAUSE_MAX_S. Pure but for the file; any thread.
 */
#ifndef COLL_DIGEST_TRIES_H
#define COLL_DIGEST_TRIES_H

#include <stdbool.h>
#include <stdint.h>

#define COLL_DIGEST_TRIES ".digest-tries"
#define COLL_DIGEST_ATTEMPTS 8 /* the pauses between them sum to about half an hour */
#define COLL_DIGEST_PAUSE_MIN_S 15
#define COLL_DIGEST_PAUSE_MAX_S 3600

struct coll_digest_tries {
	unsigned int attempts; /* that failed; 0: nothing is remembered */
	int64_t next_ns; /* realtime: not before */
	char error[400]; /* of the last, for people */
};

/* @trace_ns: the last write to the trace, as struct coll_run_dir has it. */
void coll_digest_tries_read(struct coll_digest_tries *t, int run_fd, int64_t trace_ns);

/* Not synced: what a crash takes away is tried again. 0 or -errno. */
int coll_digest_tries_write(const struct coll_digest_tries *t, const char *run_dir,
			    int64_t trace_ns);
void coll_digest_tries_remove(const char *run_dir);

bool coll_digest_tries_parked(const struct coll_digest_tries *t);

/* How long from @now_ns (realtime) on it is to wait; 0: not at all. */
int64_t coll_digest_tries_wait_ns(const struct coll_digest_tries *t, int64_t now_ns);

/*
 * After the failure number @failures, from 1: doubled each time, and a part of it by chance, so
 * that many collectors do not come together.
 */
int64_t coll_digest_pause_ns(unsigned int failures);

#endif
