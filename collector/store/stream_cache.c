/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ring of the last streams closed.
 */
#include "stream_cache.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "stream.h"

#define STREAMS 256

struct entry {
	uint8_t id[WIRE_STREAM_ID_BYTES];
	struct stat file; /* size 0: the entry is free */
	struct coll_seq_set seqs;
	struct coll_hello who;
	struct coll_marks marks;
	uint64_t known, known_generation;
	bool who_known, bye;
	uint64_t acked;
};

struct coll_stream_cache {
	unsigned int next;
	struct entry entry[STREAMS];
};

struct coll_stream_cache *coll_stream_cache_new(void)
{
	return calloc(1, sizeof(struct coll_stream_cache));
}

void coll_stream_cache_free(struct coll_stream_cache *k)
{
	free(k);
}

void coll_stream_cache_add(struct coll_stream_cache *k, const struct coll_stream *s)
{
	struct entry *e = &k->entry[k->next];

	if (coll_stream_dirty(s) || fstat(s->fd, &e->file) ||
	    (uint64_t)e->file.st_size != s->size) {
		e->file.st_size = 0;
		return;
	}
	memcpy(e->id, s->id, sizeof(e->id));
	coll_seq_set_copy(&e->seqs, &s->seqs);
	e->who = s->who;
	e->who_known = s->who_known;
	e->bye = s->bye;
	e->marks = s->marks;
	e->known = s->known;
	e->known_generation = s->known_generation;
	e->acked = s->acked;
	k->next = (k->next + 1) % STREAMS;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

bool coll_stream_cache_restore(struct coll_stream_cache *k, struct coll_stream *s)
{
	struct entry *e = k->entry;
	struct stat now;

	while (e < k->entry + STREAMS && (!e->file.st_size || memcmp(e->id, s->id, sizeof(e->id))))
		e++;
	if (e == k->entry + STREAMS)
		return false;
	if (fstat(s->fd, &now) || !same_file(&e->file, &now)) {
		e->file.st_size = 0;
		return false;
	}
	coll_seq_set_copy(&s->seqs, &e->seqs);
	s->who = e->who;
	s->who_known = e->who_known;
	s->bye = e->bye;
	s->marks = e->marks;
	s->known = e->known;
	s->known_generation = e->known_generation;
	s->acked = e->acked;
	s->size = s->synced = (uint64_t)now.st_size;
	e->file.st_size = 0;
	return true;
}
