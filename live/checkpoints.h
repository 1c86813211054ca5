/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From saves to checkpoints: which belong together, from when on they are there and until when
 * (LEDGER 9). Pure functions; every input is hostile.
 */
#ifndef LIVE_CHECKPOINTS_H
#define LIVE_CHECKPOINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "wire/session.pb-c.h"

#define LIVE_NEVER INT64_MAX
#define LIVE_JOIN_NS INT64_C(100000000) /* saves so close together are one checkpoint's */

struct live_file { /* what lay at a place; all 0: not known */
	uint64_t inode, size;
	int64_t mtime_ns;
};

struct live_save {
	uint32_t process;
	int64_t start_ns;
	int64_t call_end_ns, whole_ns; /* LIVE_NEVER: not seen */
	uint64_t before_inode;
	struct live_file file;
	const char *path; /* "": it has none, and counts for nothing */
	const char *saver; /* NULL: not kept */
	int64_t gone_ns; /* its file was seen changed or deleted then; 0: it was not */
	bool deleted;
	int64_t moved_ns; /* it was renamed then, away from its place; 0: that was not seen */
	int64_t left_ns; /* ... with, or out of, the folder of live_place_folder */
	bool vacant; /* nothing lay at its place when it began */
	bool failed, synced;
	bool unsure; /* nothing of a training was seen in it: it may be no checkpoint */
	bool state; /* a model's or an optimizer's was seen in it, of whatever size */
	/* By live_moves_find: */
	bool waits; /* such as are saved there are renamed to their place: it counts from then on */
	bool within; /* ... or the folder, to its own */
	bool staged; /* it was, before the next one there began */
	bool unmoved; /* one that it stands for as well was not, and it is not kept */
};

struct live_written { /* bytes that a process wrote to files in some time */
	uint32_t process;
	int64_t start_ns, end_ns;
	uint64_t bytes;
};

/* What is told of bytes is at most INT64_MAX. */
static inline uint64_t live_bytes_sum(uint64_t a, uint64_t b)
{
	return a >= INT64_MAX || b >= INT64_MAX - a ? INT64_MAX : a + b;
}

/* A stamp that nothing can be added to beyond an int64_t. */
int64_t live_clamped(int64_t t);
struct live_file live_file_of(const Wire__Checkpoint *c);

/* Whether it is one of those things. */
bool live_tells_of_save(const Wire__Checkpoint *c);

/* One of which the first thing is told: everything but its path. */
void live_save_begin(struct live_save *s, const Wire__Checkpoint *c);
/* What was told of it, in any order, that first thing included. */
void live_save_tell(struct live_save *s, const Wire__Checkpoint *c);

struct live_load {
	uint32_t process;
	int64_t t_ns;
	struct live_file file;
	const char *path;
};

struct live_checkpoint {
	int64_t start_ns; /* it covers all before */
	int64_t there_ns, gone_ns; /* LIVE_NEVER: it never was; it still is */
	bool unsure; /* all of its saves are */
	bool unmoved; /* one of its saves waits to be renamed: no restart may find it */
	bool deleted; /* that is why it is gone: a copy may be elsewhere */
};

struct live_checkpoints {
	struct live_checkpoint *checkpoint; /* by start_ns */
	size_t checkpoints;
	uint32_t
		*of_save; /* [saves]: whose it is; LIVE_NO_CHECKPOINT: it is part of another save */
};
#define LIVE_NO_CHECKPOINT UINT32_MAX

/* For all that is known it is one. */
static inline bool live_is_sure(const struct live_checkpoint *c)
{
	return !c->unsure && !c->unmoved;
}

/* ---- where it is saved ---- */

#define LIVE_MOVED_SAVER "file" /* of a thread that wrote, synced and renamed (FORMAT 5.2) */

/* As strcmp, with digits, however many, for one. 0: they are alike, and have the same hash. */
int live_places_compare(const char *a, const char *b);
uint64_t live_place_hash(const char *path);

/* Whether that is a name for what is to be renamed, or removed: a.pt.tmp, .a.pt, tmpx8_k2a9q. */
bool live_place_temporary(const char *path);

/* The outmost folder around it with such a name: how long its path is; 0: none. */
size_t live_place_folder(const char *path);

/*
 * Which saves count only once they were renamed: those with such a name, or in such a folder,
 * and those at places from which one was renamed before the next one there began. Of @saves by
 * start_ns; what stands in @waits stays. What was not told of renames is told by a place that is
 * vacant again. 0 or -ENOMEM.
 */
int live_moves_find(struct live_save *save, size_t saves);
bool live_save_unmoved(const struct live_save *s); /* it waits still */
int64_t live_save_there(const struct live_save *s); /* when it began to count; LIVE_NEVER */

/* ---- checkpoints ---- */

/*
 * Files that a thread writes, syncs and moves to their place, three in a row of a process whose
 * distances differ at most twofold, are a saver's: these and all others there that differ in digits
 * alone are unsure no more. Of @saves by start_ns. 0 or -ENOMEM.
 */
int live_series_prove(struct live_save *save, size_t saves);

/*
 * What was opened by another process than its own is a checkpoint, and so is all that was saved in
 * the same way to places that differ in digits alone.
 */
void live_opened_prove(struct live_save *save, size_t saves, const struct live_load *load,
		       size_t loads);

/* Whether a save of its process explains what was written: it was made in that time. */
bool live_written_known(const struct live_written *w, const struct live_save *save, size_t saves);

/* Of @saves by start_ns. 0 or -ENOMEM. Free with live_checkpoints_fini. */
int live_checkpoints_make(const struct live_save *save, size_t saves, struct live_checkpoints *c);
void live_checkpoints_fini(struct live_checkpoints *c);

/*
 * Of each checkpoint how large its files are, if all of them hold states; 0: not known, or some do
 * not. NULL: no memory; the caller frees it.
 */
uint64_t *live_state_bytes(const struct live_checkpoints *c, const struct live_save *save,
			   size_t saves);

/*
 * Why a state is less than a training has, the first that holds: it is the newest checkpoint's, and
 * may be of something else.
 */
enum live_small {
	LIVE_SMALL_NOT,
	LIVE_SMALL_LITTLE, /* LIVE_STATE_LEAST */
	LIVE_SMALL_OTHERS, /* than a tenth of the largest file with one that the run saved */
	LIVE_SMALL_MEMORY, /* than a thousandth of the most in use of one GPU's memory */
	LIVE_SMALLS
};
#define LIVE_STATE_LEAST 16384u
/* @largest: file with a state that the run saved; @memory: 0, not known. */
enum live_small live_small_of(uint64_t bytes, uint64_t largest, uint64_t memory);

/*
 * The save with the latest beginning that @load opened, of those that began before @before_ns and
 * were whole when it did; SIZE_MAX: none.
 */
size_t live_opened(const struct live_save *save, size_t saves, const struct live_checkpoints *c,
		   const struct live_load *load, int64_t before_ns);

/* Whether @path lies in the folder @folder, at any depth. */
bool live_path_below(const char *path, const char *folder);

#endif
