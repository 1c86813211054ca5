/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job's folder on disk, in which a hook that runs as root writes into a place that users may
 * write to as well. So nothing goes through a link of theirs: folders are opened as folders without
 * following, files are made under a new name and renamed, and as root the owner of the folder of
 * runs is become first. All of it below descriptors, never by a path that may change underneath.
 */
#ifndef VIEW_JOB_FOLDER_H
#define VIEW_JOB_FOLDER_H

#include "alloc.h"

/*
 * Opens the job's folder below @out, which must be there; makes it if @make. As root, the process
 * becomes the owner of @out for good. The descriptor, or a negative errno: -ENOENT (which of both
 * lacks is *what), -ENOTDIR or -ELOOP (something else has its name), -EPERM (it is somebody
 * else's). *what (in @mem) is the path that the error is about.
 */
int view_job_folder_open(const char *out, const struct view_job_identity *id, bool make,
			 struct base_arena *mem, const char **what);

/* Opens a job's folder to read from it; never follows a link in its place. */
int view_job_folder_read(const char *path);

/*
 * The allocations in the folder, by name of the node and restart; in @mem. Files that are none are
 * passed over; each is told to @bad (may be NULL) with why. 0 or negative errno.
 */
int view_job_folder_list(int dir, struct base_arena *mem, struct view_alloc **alloc, size_t *n,
			 void (*bad)(void *arg, const char *name, const char *why), void *arg);

/* Reads one; 0, -ENOENT, -EBADMSG with *why, or another negative errno with *why. */
int view_job_folder_get(int dir, struct base_arena *mem, const char *name, struct view_alloc *a,
			const char **why);

/* Writes an allocation under its name, so that readers see the old one or the new one. */
int view_job_folder_put(int dir, struct base_arena *mem, const struct view_alloc *a);

#endif
