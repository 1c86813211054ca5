/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folder of a scheduler's job, CLUSTER-JOB.job, beside the job's runs: an alloc-*.json for each
 * node that it was given GPUs on, written when it begins and once more when it ends, and
 * unrecorded-NODE where tasks ran that nobody recorded. Its bytes are hostile: at most they make
 * the job's own digest come sooner or later. No link is followed. Any thread.
 */
#ifndef COLL_JOB_DIRS_H
#define COLL_JOB_DIRS_H

#include <stdbool.h>

/* Without an end the job may be over all the same, where its node was lost: after so long quiet. */
#define COLL_JOB_LOST_S 86400

/*
 * Whether the allocation says when the GPUs were given back. Of the file's end alone: that is its
 * last member.
 */
bool coll_job_has_end(int job_fd, const char *alloc);

/*
 * A run of the job @job goes, or has gone: what it did with the GPUs nobody can tell any more.
 * Marks the nodes of the job, so that a digest made later says that, and not that nobody used them.
 * 0 or -errno; 0 where there is no such job.
 */
int coll_job_mark_unseen(int folder_fd, const char *job);

#endif
