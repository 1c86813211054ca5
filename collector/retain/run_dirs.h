/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runs below a folder: BASE/RUN.gst and BASE/TEAM/RUN.gst, with what retention and listings
 * need to know of each. Nothing else there is looked at: a run directory has a name that we would
 * give it and holds a run.json, a stream or a spool. Symbolic links are not followed.
 *
 * A scheduler's job is one of them, too: CLUSTER-JOB.job with an allocation in it (job_dirs.h). It
 * is kept, counted and digested as they are.
 */
#ifndef COLL_RUN_DIRS_H
#define COLL_RUN_DIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COLL_DIGEST_MARK \
	"digest.done" /* the run's digest was handed over; as old as what it tells */

/*
 * A provisional row of the run is in the store (digests.h); as old as what it tells. With a text in
 * it: none can be made.
 */
#define COLL_DIGEST_ROW_MARK ".digest-row"

struct coll_run_dir {
	char *team; /* "": BASE itself */
	char *name; /* with .gst */
	uint64_t bytes; /* on disk, all files */
	uint64_t trace_bytes; /* of streams and spools, their lengths; of a job, its allocations' */
	unsigned int streams;
	/*
	 * Realtime: the last write to anything but what is made of the trace; of a job, to an
	 * allocation.
	 */
	int64_t newest_ns;
	bool job, goes_on; /* of a job: some allocation has no end */
	int64_t digest_ns; /* realtime: of the mark; 0: none */
	int64_t row_ns; /* realtime: of the row's mark; 0: none */
	bool row_made; /* that mark tells of a row */
	unsigned int attempts; /* digests of it that failed (digest_tries.h), ... */
	int64_t next_ns; /* ... and when it is to be tried again, as struct coll_digest_tries */
	unsigned int rules; /* the number of those that keep_ns was found by; 0: not asked */
	int64_t keep_ns; /* how long it is to be kept */
};

struct coll_run_dirs {
	struct coll_run_dir *run;
	size_t count, room;
};

/* Of all teams. 0 or -errno; what cannot be read is left out. */
int coll_run_dirs_scan(struct coll_run_dirs *all, const char *base);

/* Of one folder: a team's, or BASE itself; @team is what they are marked with. */
int coll_run_dirs_scan_folder(struct coll_run_dirs *all, const char *folder, const char *team);

/*
 * What lies in the run @name of an open folder: all but the run's names, which are NULL. 0;
 * -ENOENT: there is none of that name; -errno.
 */
int coll_run_dir_measure(struct coll_run_dir *run, int folder_fd, const char *name);

/* One run, with its names. The same; coll_run_dir_fini frees it. */
int coll_run_dir_read(struct coll_run_dir *run, const char *folder, const char *team,
		      const char *name);
void coll_run_dir_fini(struct coll_run_dir *run);
void coll_run_dirs_fini(struct coll_run_dirs *all);

/* A name that a run directory may have: RUN.gst, see coll_run_name; or a job's. */
bool coll_run_dir_name_ok(const char *name);

/* A name below BASE that a team's folder may have. */
bool coll_run_folder_name_ok(const char *name);

/* The folder of a team, no link; of "" @base itself. The descriptor, or -errno. */
int coll_run_folder_open(const char *base, const char *team);

#endif
