/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lies in the object store of a run: its segments and small files, as of one list, with the
 * hash and the time that its digest is known by. Of the run's bytes nothing is read here but
 * run.json. Calls block; one thread at a time.
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
};

/* @folder: the run's, with the slash. 0, -E2BIG (no run has so much), or as objects.h. */
int coll_work_look(struct coll_work_look *l, struct objects *o, const char *folder,
		   struct objects_trouble *t);
void coll_work_look_fini(struct coll_work_look *l);

/* Whether run.json says how its command ended: 1, 0, or negative errno as objects.h. */
int coll_work_look_ended(const struct coll_work_look *l, struct objects *o, const char *folder,
			 struct objects_trouble *t);

#endif
