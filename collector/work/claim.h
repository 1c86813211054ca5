/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking up a run or a scheduler's job, keeping it, and what came of it, by marks (work_marks.h).
 * Nothing that is right rests on a run being taken once: results have one name and one content for
 * what lies there, and the store of digests keeps the one of the highest revision. A lease spares
 * others the work. It is put and then looked for: whoever finds another's beside it takes his own
 * away, so that of two who come at once none, or one, goes on, whatever the store makes of
 * conditions; where a list does not show at once what was put, both do, which costs work and
 * nothing else.
 *
 * How old a lease is comes from the store's clock alone, which says when it was written and what
 * time it is; where two clocks of its differ, by what was seen of the lease that we put last
 * (`ahead_s`). A lease that has run out is an attempt that failed: whoever held it is not heard
 * of any more. Calls block; one thread at a time.
 */
#ifndef COLL_WORK_CLAIM_H
#define COLL_WORK_CLAIM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include "job_look.h"
#include "work_marks.h"
#include "place.h"

enum coll_work_got {
	COLL_WORK_TAKEN, /* it is ours to analyse */
	COLL_WORK_BUSY, /* somebody is at it */
	COLL_WORK_SETTLED, /* what lies there is analysed, or put aside; look again in wait_s */
	COLL_WORK_NOT_YET, /* it goes on, or is to be tried again later: the same */
	COLL_WORK_NOTHING, /* no run is there, and no job */
	COLL_WORK_TROUBLE, /* the store: *t of the call says why */
};

struct coll_work_rules { /* of the command line and the limits; seconds, 0: at once, or for ever */
	int64_t ended_s; /* quiet after its end, or ... */
	int64_t lost_s; /* ... without one */
	int64_t lease_s;
	int64_t pause_s; /* after a first failure; doubled with each, to an hour */
	unsigned int tries;
};

struct coll_work_claim { /* coll_work_claim_init */
	struct objects *store;
	struct coll_work_rules rules;
	struct coll_work_place place;
	int64_t ahead_s; /* kept from claim to claim */
	char who[COLL_WORK_WHO_BYTES];
	struct coll_work_look look;
	struct coll_work_job job; /* its runs, if it is one */
	unsigned int fails; /* attempts at it that failed before */
	pthread_mutex_t lock; /* of ... */
	bool held; /* a lease of ours is there, as far as we know */
	/* of the last call */
	int64_t wait_s;
	unsigned int left; /* leases of others that had run out */
	bool put_aside; /* it was, just now; why: ... */
	char why[512];
};

void coll_work_claim_init(struct coll_work_claim *c, struct objects *store);
/* Nobody may be refreshing. The lease is left to coll_work_release. */
void coll_work_claim_fini(struct coll_work_claim *c);

/* Takes the run at @place up, or the job, if that is due. */
enum coll_work_got coll_work_take(struct coll_work_claim *c, const struct coll_work_place *place,
				  struct objects_trouble *t);

/*
 * Any thread, beside other calls: says that we are at it still, if we are. 0 or negative errno.
 */
int coll_work_refresh(struct coll_work_claim *c, struct objects_trouble *t);

/* A result, as a whole. 0 or negative errno. */
int coll_work_put(struct coll_work_claim *c, enum coll_work_kind kind, const void *bytes,
		  size_t len, struct objects_trouble *t);

/* What is older than our digest, and what was tried, goes; the lease, too. */
void coll_work_settle(struct coll_work_claim *c);

/* It failed by its own fault, for that reason; the lease goes. *put_aside then. */
void coll_work_failed(struct coll_work_claim *c, const char *why);

/* The lease goes, as far as the store lets it; look is empty. */
void coll_work_release(struct coll_work_claim *c);

/* By hand: what was tried is forgotten. The number of marks that went, or negative errno. */
int coll_work_again(struct coll_work_claim *c, const struct coll_work_place *place,
		    struct objects_trouble *t);

#endif
