/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose a stream is, and the group commit of what one feeds.
 */
#include "feed.h"

#include <errno.h>
#include <stdlib.h>
#include "core/context.h"
#include "store/whole_sync.h"

static void unlink_fed(struct coll_fed_stream *fed)
{
	struct coll_fed_stream **p;

	for (p = &fed->feeder->first; *p != fed; p = &(*p)->next)
		;
	*p = fed->next;
	fed->feeder->stream_count--;
}

void coll_feeder_release(struct coll_stream *s)
{
	if (!s->fed)
		return;
	unlink_fed(s->fed);
	free(s->fed);
	s->fed = NULL;
}

int coll_feeder_adopt(struct coll_feeder *f, struct coll_stream *s)
{
	if (s->fed && s->fed->feeder == f)
		return 0;
	if (s->fed)
		unlink_fed(s->fed);
	else
		s->fed = calloc(1, sizeof(*s->fed));
	if (!s->fed)
		return -ENOMEM;
	s->fed->stream = s;
	s->fed->feeder = f;
	s->fed->next = f->first;
	f->first = s->fed;
	f->stream_count++;
	s->high = 0;
	s->fed->ack_due = true;
	return 0;
}

static bool is_due(const struct coll_fed_stream *fed, bool everything)
{
	return coll_stream_dirty(fed->stream) && (everything || fed->urgent);
}

/* To wait for the whole file system takes less time than to wait for each file. */
static bool as_a_whole(const struct coll_feeder *f, bool everything)
{
	const struct coll_fed_stream *fed;
	size_t n = 0;

	for (fed = f->first; fed; fed = fed->next)
		n += is_due(fed, everything);
	return n >= COLL_WHOLE_SYNC_FILES &&
	       coll_whole_sync_pays(n, coll_whole_sync_dirty("/proc/meminfo"));
}

bool coll_feeder_add(struct coll_feeder *f, struct coll_sync_round *round, bool everything)
{
	bool whole = as_a_whole(f, everything), all = true;
	struct coll_fed_stream *fed;

	for (fed = f->first; fed; fed = fed->next) {
		if (!is_due(fed, everything))
			continue;
		if (fed->stream->syncing ||
		    coll_sync_round_add(round, &f->store->place, fed->stream, whole))
			all = false;
		else
			fed->urgent = false;
	}
	return all;
}

void coll_feeder_synced(struct coll_stream *s, struct coll_context *context, int err)
{
	if (err)
		coll_context_trouble(context, s->path, err);
	if (s->fed && err)
		s->fed->feeder->failed(s->fed->feeder, s);
	else if (s->fed)
		s->fed->ack_due = true;
}

bool coll_feeder_unsynced(const struct coll_feeder *f)
{
	const struct coll_fed_stream *fed = f->first;

	while (fed && !coll_stream_dirty(fed->stream) && !fed->stream->syncing)
		fed = fed->next;
	return fed != NULL;
}
