/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder for what is being analysed, a run or a job with its runs, BASE/.work-XXXXXX, held
 * locked while we live: what a worker leaves that was killed is removed by the next one on BASE.
 * Any thread, one at a time.
 */
#ifndef COLL_WORK_SCRATCH_H
#define COLL_WORK_SCRATCH_H

#include <limits.h>
#include <stdint.h>

struct coll_work_scratch {
	char path[PATH_MAX]; /* "": none */
	int fd;
};

/* 0 or -errno. */
int coll_work_scratch_open(struct coll_work_scratch *s, const char *base);
/* Removes it with all that is in it. */
void coll_work_scratch_close(struct coll_work_scratch *s);

/* A new folder in it, for a run, or for what a job was given; its path. 0 or -errno. */
int coll_work_scratch_run(const struct coll_work_scratch *s, const char *run, char out[PATH_MAX]);
void coll_work_scratch_empty(const struct coll_work_scratch *s);

/* Bytes that may be written there; UINT64_MAX: nobody knows. */
uint64_t coll_work_scratch_room(const struct coll_work_scratch *s);

#endif
