/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lies in the object store of a run: its segments and small files, as of one list, with the
 * hash and the time that its digest is known by; or what a scheduler's job was given. Of the bytes
 * nothing is read here but run.json. Names are hostile. Calls block; one thread at a time.
 */
#ifndef COLL_WORK_LOOK_H
#define COLL_WORK_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "objects/objects.h"

#define COLL_WORK_PIECES_MAX 4000000u /* segments and small files of a run; 0.1 KiB each */
#define COLL_WORK_SMALL_MAX (1u << 20) /* bytes of a small file */

struct coll_work_piece {
	const char *key; /* behind the run's folder */
	const char
		*file; /* how a folder of this machine has it: as the key, or of what has begun */
	uint64_t bytes;
	bool segment;
};

struct coll_work_look { /* zero-initialise it */
	struct base_arena mem;
	struct coll_work_piece *piece; /* in order of their keys */
	size_t pieces, room;
	uint64_t segments, bytes;
	uint64_t content; /* hash of names, sizes and etags */
	int64_t oldest_s, newest_s, now_s; /* the store's clock */
	int64_t revision; /* grows as the run does: docs/FORMAT.md */
	bool has_run_json;
	bool job; /* set before: it is a job's folder, and holds ... */
	size_t allocations; /* ... of so many nodes and requeues, of which ... */
	bool goes_on; /* ... some did not end */
};

/*
 * A list, object by object in order of their keys, of a look with nothing in it but @job. -E2BIG:
 * no run has so much; -ENOMEM.
 */
void coll_work_look_begin(struct coll_work_look *l);
int coll_work_look_add(struct coll_work_look *l, const struct objects_seen *s);
void coll_work_look_end(struct coll_work_look *l);

/* All of that. @folder: the run's or the job's, with the slash. 0, -E2BIG, or as objects.h. */
int coll_work_look(struct coll_work_look *l, struct objects *o, const char *folder,
		   struct objects_trouble *t);
void coll_work_look_fini(struct coll_work_look *l);

/* Whether run.json says how its command ended: 1, 0, or negative errno as objects.h. */
int coll_work_look_ended(const struct coll_work_look *l, struct objects *o, const char *folder,
			 struct objects_trouble *t);

#endif
