/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lies in the runs of a store, in memory, so that a sweep or a list need not look at every
 * file. It is made and kept right in steps (run_walk.h): a walk over all folders that never ends,
 * some runs a second, finds what others have written or removed. What we write ourselves is told
 * here, and is looked at again by the next who asks (run_view.h), as is a run that a stream of is
 * open: of the rest what was last seen holds.
 *
 * Children that we fork have it as it was then. About 200 bytes a run, and beyond
 * COLL_RUN_INDEX_MAX runs there is none. NULL is an index that nobody asks. One thread.
 */
#ifndef COLL_RUN_INDEX_H
#define COLL_RUN_INDEX_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "run_dirs.h"

#define COLL_RUN_INDEX_MAX (1u << 20)
#define COLL_RUN_INDEX_FOLDERS 4096
#define COLL_RUN_INDEX_BUCKETS 65536

struct coll_run_folder {
	char *name; /* the team; "": BASE itself */
	size_t runs;
	uint64_t walked; /* the walk that last was through; 0: none, or it cannot be read */
	struct coll_run_folder *next;
};

struct coll_indexed_run {
	struct coll_run_dir dir; /* team: the folder's name */
	struct coll_run_folder *folder;
	bool read; /* else no more is known than that somebody is about to make it */
	unsigned int open; /* streams */
	uint64_t walked; /* the walk that last met it */
	struct coll_indexed_run *chain; /* of its bucket */
	struct coll_indexed_run *next, **link; /* of a list; NULL: what is known of it holds */
};

struct coll_run_walk {
	uint64_t number; /* from 1 */
	int64_t next_ns; /* monotonic: when the next one begins */
	enum {
		COLL_WALK_RESTS,
		COLL_WALK_NAMES,
		COLL_WALK_UNSEEN
	} at;
	struct coll_run_folder *folder;
	DIR *names;
	size_t bucket;
};

struct coll_run_index {
	char *base; /* NULL: not begun */
	bool whole; /* a walk was through */
	bool given_up; /* too many, or no memory: it is empty, and stays so */
	size_t count;
	struct coll_run_folder *folders; /* BASE itself comes first */
	struct coll_indexed_run *stale, *open; /* lists: what is to be looked at again */
	struct coll_indexed_run **bucket; /* COLL_RUN_INDEX_BUCKETS */
	struct coll_run_walk walk;
};

/* Of all below @base, a path without links. 0 or -ENOMEM; fini is right in both cases. */
int coll_run_index_init(struct coll_run_index *x, const char *base);
void coll_run_index_fini(struct coll_run_index *x);

/* Something was written into the run, made or removed. @dir: BASE/RUN.gst or BASE/TEAM/RUN.gst. */
void coll_run_index_touch(struct coll_run_index *x, const char *dir);
void coll_run_index_touch_run(struct coll_run_index *x, const char *team, const char *run);

/* A stream of the run was opened, and closed. */
void coll_run_index_opened(struct coll_run_index *x, const char *dir);
void coll_run_index_closed(struct coll_run_index *x, const char *dir);

/* How long a run is to be kept that was last written to then, by the rules of this number. */
struct coll_run_kept {
	int64_t newest_ns, keep_ns;
	unsigned int rules;
};

void coll_run_index_keep(struct coll_run_index *x, const char *team, const char *run,
			 const struct coll_run_kept *kept);

/* Whether it has what lies below a folder; @team NULL: below all. */
bool coll_run_index_has(const struct coll_run_index *x, const char *team);

/* Looks at a run again; it may be gone after. */
void coll_run_index_read(struct coll_run_index *x, struct coll_indexed_run *e);

/*
 * Of run_walk.c: what it meets. NULL: no memory, or too many; then all is given up. The folder is
 * open as @folder_fd.
 */
struct coll_run_folder *coll_run_index_folder(struct coll_run_index *x, const char *name);
void coll_run_index_meet(struct coll_run_index *x, struct coll_run_folder *folder, int folder_fd,
			 const char *name);
void coll_run_index_stale(struct coll_run_index *x, struct coll_indexed_run *e);

#endif
