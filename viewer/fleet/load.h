/* SPDX-License-Identifier: Apache-2.0 */
/* From runs and files to digests and into stores. Errors are said on stderr. */
#ifndef FLEET_LOAD_H
#define FLEET_LOAD_H

#include "cost/rates.h"
#include "store.h"

struct fleet_digest_source {
	const char *team; /* whose it is whatever labels say; NULL: labels tell */
	int64_t revision; /* 0: the time of day */
	bool provisional; /* of what was held alone, without analysis: digest.h */
	bool resume; /* keep what is finished beside the run, and go on from there: parts_file.h */
	struct view_rate_options rates; /* where one is given, instead of the summary's */
	int *ended_by; /* gets the signal that ended who made it, or 0; NULL: nobody asks */
};

/*
 * The digest of a run directory or a summary.json. A directory's own summary.json is taken if
 * nothing of the trace is younger and no price was given, else the trace is analysed; a provisional
 * one is made of the trace in any case. Where runs are others' (core/local.h) it is made apart
 * (apart.h). 0 or negative errno.
 */
int fleet_digest_of(struct fleet_digest *d, const char *path, const struct fleet_digest_source *o);

/*
 * Digests of a file, one on a line, into a store. A line that is no digest is said and left out,
 * and makes the result -EBADMSG; all others are stored.
 */
int fleet_load(const char *store, const char *file, size_t *waiting);

/*
 * load_folder.c: digests of runs into an open store: run directories, summaries, and all runs of
 * a folder. What cannot be read is said, left out and counted. 0 or negative errno: -ENOENT, which
 * was said, if a folder has no run.
 *
 * A folder's digests are kept in its FLEET_FOLDER_STORE, so that only runs are read that are new or
 * have grown since. It is made if it is not there and can be, but not where runs are others'
 * (core/local.h), and not while a price is given that a kept digest does not know of.
 */
#define FLEET_FOLDER_STORE "fleet.sqlite"
int fleet_load_runs(struct fleet_store *s, char *const *path, size_t n, size_t *left_out);

/* To a file as a whole, or to stdout (@out NULL or "-"). 0 or negative errno. */
int fleet_print(const char *text, size_t len, const char *out);

#endif
