/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What workers write of a run into the object store (docs/FORMAT.md, "Marks of workers"): objects
 * whose names say all that others need, so that a list tells it:
 *
 *	.work/TEAM/RUN/KIND-REVISION-CONTENT[-WHO][.SUFFIX]
 *
 * REVISION and CONTENT say of what: the store's time of the newest object of the run, and a hash
 * of all of them. Nothing is ever written twice with other bytes of one meaning, and nobody needs
 * to be alone: who comes late writes what is there already, or what is older than what is there.
 * Pure; names are hostile.
 */
#ifndef COLL_WORK_WORK_MARKS_H
#define COLL_WORK_WORK_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COLL_WORK_FOLDER ".work/"
#define COLL_WORK_NOBODY ".none" /* in a team's place, for runs of none */
#define COLL_WORK_NAME_BYTES 128
#define COLL_WORK_WHO_BYTES 17 /* 16 digits and the end */
#define COLL_WORK_MARKS_MAX 4096 /* of a run; more are not looked at */

enum coll_work_kind {
	COLL_WORK_DIGEST, /* it is analysed; the digest itself */
	COLL_WORK_REPORT, /* the page */
	COLL_WORK_SUMMARY, /* summary.json */
	COLL_WORK_LEASE, /* somebody is at it */
	COLL_WORK_FAIL, /* an analysis that failed, and why */
	COLL_WORK_DEAD, /* put aside, and why */
	COLL_WORK_KINDS
};

struct coll_work_mark {
	enum coll_work_kind kind;
	int64_t revision;
	uint64_t content;
	char who[COLL_WORK_WHO_BYTES]; /* of leases and failures; else "" */
	int64_t changed_s; /* the store's clock */
};

struct coll_work_marks { /* of one run; zero-initialise it */
	struct coll_work_mark *mark;
	size_t n, room;
	int64_t now_s; /* the store's clock, as of the list */
};

/* The last part of a key. False: it is no mark. */
bool coll_work_mark_read(struct coll_work_mark *m, const char *name);
void coll_work_mark_name(char out[COLL_WORK_NAME_BYTES], const struct coll_work_mark *m);

/* 0 or -ENOMEM. Names that are no marks are passed over. */
int coll_work_marks_add(struct coll_work_marks *all, const char *name, int64_t changed_s);
void coll_work_marks_fini(struct coll_work_marks *all);

/* For how long (seconds) nobody has written it; at least 0. @ahead_s: coll_work_marks_ahead. */
int64_t coll_work_mark_age(const struct coll_work_marks *all, const struct coll_work_mark *m,
			   int64_t ahead_s);

/*
 * A lease of another than @who that is younger than @lease_s (0: of any age). NULL: nobody else
 * is at it.
 */
const struct coll_work_mark *coll_work_marks_other(const struct coll_work_marks *all,
						   const char *who, int64_t lease_s,
						   int64_t ahead_s);

/* One of that kind and content. NULL: there is none. */
const struct coll_work_mark *coll_work_marks_find(const struct coll_work_marks *all,
						  enum coll_work_kind kind, uint64_t content);

/* How many analyses of that content failed; *last: the one of which was written last. */
unsigned int coll_work_marks_fails(const struct coll_work_marks *all, uint64_t content,
				   const struct coll_work_mark **last);

/* What attempts of this version of ours at such a content are remembered by. */
uint64_t coll_work_trial(uint64_t content);

#endif
