/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An array that is filled, worked off, and told of.
 */
#include "sync_round.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

int coll_sync_round_add(struct coll_sync_round *round, const struct coll_sync_place *place,
			struct coll_stream *s, bool whole)
{
	struct coll_sync_one *one = round->one;

	if (round->count == round->room) {
		size_t room = round->room ? 2 * round->room : 16;

		one = realloc(one, room * sizeof(*one));
		if (!one)
			return -ENOMEM;
		round->one = one;
		round->room = room;
	}
	one += round->count++;
	one->whole = whole;
	coll_sync_begin(&one->sync, place, s);
	return 0;
}

/* In the worker's thread. Those of one place stand beside each other. */
static void work(struct coll_job *job)
{
	struct coll_sync_round *round = (struct coll_sync_round *)job;
	const struct coll_sync_place *of = NULL;
	bool good = false;
	size_t i;

	for (i = 0; i < round->count; i++)
		coll_sync_push(&round->one[i].sync);
	for (i = 0; i < round->count; i++) {
		struct coll_sync_one *one = &round->one[i];

		if (one->whole && one->sync.place != of) {
			of = one->sync.place;
			good = !syncfs(of->fd);
		}
		coll_sync_work(&one->sync, one->whole && good);
	}
}

static void done(struct coll_job *job)
{
	struct coll_sync_round *round = (struct coll_sync_round *)job;
	size_t i;

	for (i = 0; i < round->count; i++) {
		struct coll_sync *y = &round->one[i].sync;

		round->synced(round, y->stream, coll_sync_end(y));
	}
	round->count = 0;
	round->busy = false;
	if (round->over)
		round->over(round);
}

void coll_sync_round_begin(struct coll_sync_round *round, struct coll_worker *w)
{
	round->job = (struct coll_job){ .work = work, .done = done };
	round->busy = true;
	if (round->count)
		coll_worker_hand(w, &round->job);
	else
		done(&round->job);
}

void coll_sync_round_fini(struct coll_sync_round *round)
{
	free(round->one);
	round->one = NULL;
	round->room = 0;
}
