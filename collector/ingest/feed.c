/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose a stream is, and the group commit of what one feeds.
 */
#include "feed.h"

#include "server.h"

#define MANY 16

void coll_feeder_release(struct coll_stream *s)
{
	struct coll_stream **p;

	if (!s->owner)
		return;
	for (p = &s->owner->streams; *p != s; p = &(*p)->next_owned)
		;
	*p = s->next_owned;
	s->owner->stream_count--;
	s->owner = NULL;
}

void coll_feeder_adopt(struct coll_feeder *f, struct coll_stream *s)
{
	if (s->owner == f)
		return;
	coll_feeder_release(s);
	s->owner = f;
	s->next_owned = f->streams;
	f->streams = s;
	f->stream_count++;
	s->high = 0;
	s->ack_due = true;
}

static bool is_due(const struct coll_stream *s, bool everything)
{
	return coll_stream_dirty(s) && (everything || s->urgent);
}

void coll_feeder_push(struct coll_feeder *f, bool everything)
{
	struct coll_stream *s;

	for (s = f->streams; s; s = s->next_owned)
		if (is_due(s, everything))
			coll_stream_push(s);
}

/* Then to wait for the whole file system takes less time than to wait for each file. */
static bool many_due(const struct coll_feeder *f, bool everything)
{
	const struct coll_stream *s;
	unsigned int n = 0;

	for (s = f->streams; s && n < MANY; s = s->next_owned)
		n += is_due(s, everything);
	return n == MANY;
}

void coll_feeder_commit(struct coll_feeder *f, struct coll_server *sv, bool everything)
{
	struct coll_stream *s, *next;
	bool synced = many_due(f, everything) && !coll_store_sync(f->store);

	for (s = f->streams; s; s = next) {
		int err = 0;

		next = s->next_owned;
		if (is_due(s, everything)) {
			err = synced ? coll_stream_synced(f->store, s)
				     : coll_stream_commit(f->store, s);
			s->ack_due = !err;
		}
		s->urgent = false;
		if (!err)
			continue;
		coll_server_trouble(sv, s->path, err);
		f->failed(f, s);
	}
}
