/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run, or what a job was given, out of the object store into a folder, where the programs that
 * read it need neither the store nor its credentials: pieces of a stream one after another are
 * that stream. Each byte is asked for once, a few megabytes at a time. Calls block; any thread.
 */
#ifndef COLL_WORK_FETCH_H
#define COLL_WORK_FETCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include "look.h"

/*
 * Into @dir, which is there and empty. @from: the run's folder in the store, with its slash. 0,
 * or negative errno: -ECANCELED once *stop is set, -ENOSPC and the like of the disk, or as
 * objects.h; *t says why unless stopped. What is there then is for the caller to remove.
 */
int coll_work_fetch(const struct coll_work_look *l, struct objects *o, const char *from,
		    const char *dir, const atomic_bool *stop, struct objects_trouble *t);

#endif
