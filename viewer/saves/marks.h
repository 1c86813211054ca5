/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lets another run of the same job be known as a restart of this one when neither's trace is
 * at hand (LEDGER 9): which saves of it could be opened, what of it would then have been done
 * again, and what it began with. Files, places and folders are hashes. Pure functions; every input
 * is hostile.
 */
#ifndef VIEW_SAVES_MARKS_H
#define VIEW_SAVES_MARKS_H

#include "base/jsondoc.h"
#include "base/jsonout.h"
#include "save.h"

#define SAVES_MARKS_MAX 4 /* the newest checkpoints, but for files that were overwritten */
#define SAVES_MARK_KEYS_MAX 6
#define SAVES_OPENED_MAX 8

struct saves_key { /* stamps: of a folder, when files in it were changed; else 0 */
	uint64_t hash;
	int64_t from_ns, until_ns;
};

enum saves_moved { /* what becomes redone if a restart opened a save: of what was ... */
	SAVES_MOVED_DURABLE,
	SAVES_MOVED_UNKNOWN,
	SAVES_MOVED
};

struct saves_mark { /* a checkpoint; without keys: the beginning, all is done again */
	struct saves_key key[SAVES_MARK_KEYS_MAX];
	size_t keys;
	/*
	 * Dollars are nano; all of lost comes on top. Below 0 where a checkpoint was opened that
	 * was never there as a whole: so much of lost is durable then.
	 */
	int64_t ns[SAVES_MOVED], usd[SAVES_MOVED];
};

struct saves_chain {
	bool known;
	int64_t start_ns, word_ns; /* the first process that held a GPU; the last word of all */
	struct saves_mark mark[SAVES_MARKS_MAX + 1]; /* the newest first, then the beginning */
	size_t marks;
	struct saves_key opened[SAVES_OPENED_MAX]; /* before its own first save */
	size_t openings;
};

/* The checkpoints that are to be marks: from[] has when each began. */
void saves_chain_marks(struct saves_chain *c, int64_t from[SAVES_MARKS_MAX + 1],
		       const struct saves_input *in, const struct live_checkpoints *points);
/* What was opened in the first segment, until @until_ns. */
void saves_chain_opened(struct saves_chain *c, const struct saves_input *in, int64_t start_ns,
			int64_t end_ns, int64_t until_ns);

/* Whether what was @opened is the mark's. */
bool saves_key_opened(const struct saves_key *mark, const struct saves_key *opened);

/* Member "chain" of an object, if it is known. Reading: false if what is there is wrong. */
void saves_chain_put(struct base_jsonout *j, const struct saves_chain *c);
bool saves_chain_read(struct saves_chain *c, const struct base_json *chain);

#endif
