/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One lock for which piece is where; bytes come and are copied without it, while the piece is held
 * by whoever needs it.
 */
#include "remote_kept.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct piece {
	size_t object;
	uint64_t number; /* of the object's pieces */
	unsigned int held; /* by so many threads: it stays */
	bool coming;
	bool read; /* by somebody; else it was fetched ahead */
	ssize_t got; /* bytes, or negative errno; nothing is known while it comes */
	uint64_t used; /* when last; 0: empty */
	uint8_t *bytes; /* allocated when first needed */
};

#define WANTS 64u /* pieces that are to be fetched ahead; more are not waited for */

struct view_kept {
	view_kept_ask *ask;
	void *own;
	size_t pieces, bytes;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t changed; /* one came, or is held no more */
	uint64_t clock;
	pthread_t ahead[VIEW_KEPT_AHEAD];
	unsigned int aheads;
	bool ends, tried; /* threads are to end; were begun */
	pthread_cond_t wanted;
	struct want {
		size_t object;
		uint64_t number;
	} want[WANTS];
	unsigned int first_want, wants;
	struct piece piece[];
};

struct view_kept *view_kept_new(view_kept_ask *ask, void *own, size_t pieces, size_t bytes)
{
	struct view_kept *k = calloc(1, sizeof(*k) + pieces * sizeof(k->piece[0]));

	if (!k)
		return NULL;
	k->ask = ask;
	k->own = own;
	k->pieces = pieces;
	k->bytes = bytes;
	pthread_mutex_init(&k->lock, NULL);
	pthread_cond_init(&k->changed, NULL);
	pthread_cond_init(&k->wanted, NULL);
	return k;
}

void view_kept_free(struct view_kept *k)
{
	if (!k)
		return;
	pthread_mutex_lock(&k->lock);
	k->ends = true;
	pthread_cond_broadcast(&k->wanted);
	pthread_mutex_unlock(&k->lock);
	for (unsigned int i = 0; i < k->aheads; i++)
		pthread_join(k->ahead[i], NULL);
	for (size_t i = 0; i < k->pieces; i++)
		free(k->piece[i].bytes);
	pthread_cond_destroy(&k->wanted);
	pthread_cond_destroy(&k->changed);
	pthread_mutex_destroy(&k->lock);
	free(k);
}

static struct piece *find(struct view_kept *k, size_t object, uint64_t number)
{
	for (size_t i = 0; i < k->pieces; i++)
		if (k->piece[i].used && k->piece[i].object == object &&
		    k->piece[i].number == number)
			return &k->piece[i];
	return NULL;
}

/* The one used longest ago of those that nobody holds; NULL: all are held. */
static struct piece *oldest(struct view_kept *k)
{
	struct piece *found = NULL;

	for (size_t i = 0; i < k->pieces; i++)
		if (!k->piece[i].held && (!found || k->piece[i].used < found->used))
			found = &k->piece[i];
	return found;
}

static ssize_t fetch(struct view_kept *k, struct piece *p)
{
	if (!p->bytes)
		p->bytes = malloc(k->bytes);
	if (!p->bytes)
		return -ENOMEM;
	return k->ask(k->own, p->object, p->bytes, k->bytes, p->number * k->bytes);
}

/* Held, and there. Under the lock, which is given up meanwhile. */
static struct piece *hold(struct view_kept *k, size_t object, uint64_t number)
{
	struct piece *p;

	while (!(p = find(k, object, number)) && !(p = oldest(k)))
		pthread_cond_wait(&k->changed, &k->lock);
	p->held++;
	if (!p->used || p->object != object || p->number != number) {
		p->object = object;
		p->number = number;
		p->used = ++k->clock;
		p->coming = true;
		p->read = false;
		pthread_mutex_unlock(&k->lock);
		ssize_t got = fetch(k, p);
		pthread_mutex_lock(&k->lock);
		p->got = got;
		p->coming = false;
		pthread_cond_broadcast(&k->changed);
	}
	while (p->coming)
		pthread_cond_wait(&k->changed, &k->lock);
	p->used = ++k->clock;
	return p;
}

/* An error is not kept: who asks again may be luckier. */
static void let_go(struct view_kept *k, struct piece *p)
{
	if (!--p->held && p->got < 0)
		p->used = 0;
	pthread_cond_broadcast(&k->changed);
}

static void *fetch_ahead(void *arg)
{
	struct view_kept *k = arg;
	struct want w;

	pthread_mutex_lock(&k->lock);
	while (!k->ends) {
		if (!k->wants) {
			pthread_cond_wait(&k->wanted, &k->lock);
			continue;
		}
		w = k->want[k->first_want++ % WANTS];
		k->wants--;
		if (!find(k, w.object, w.number))
			let_go(k, hold(k, w.object, w.number));
	}
	pthread_mutex_unlock(&k->lock);
	return NULL;
}

/* With none of them all goes on, slower. */
static void begin_ahead(struct view_kept *k)
{
	k->tried = true;
	while (k->aheads < VIEW_KEPT_AHEAD && k->aheads + 1 < k->pieces &&
	       !pthread_create(&k->ahead[k->aheads], NULL, fetch_ahead, k))
		k->aheads++;
}

static void want(struct view_kept *k, size_t object, uint64_t number)
{
	if (k->wants == WANTS || find(k, object, number))
		return;
	k->want[(k->first_want + k->wants++) % WANTS] = (struct want){ object, number };
	pthread_cond_signal(&k->wanted);
}

/* Somebody reads in a piece for the first time: those behind it, soon. Under the lock. */
static void want_next(struct view_kept *k, struct piece *p, uint64_t size)
{
	uint64_t pieces = (size + k->bytes - 1) / k->bytes;

	if (p->read)
		return;
	p->read = true;
	if (!k->tried)
		begin_ahead(k);
	for (uint64_t i = 1; i <= k->aheads && p->number + i < pieces; i++)
		want(k, p->object, p->number + i);
}

/* From one piece alone. */
static ssize_t read_piece(struct view_kept *k, size_t object, uint64_t size, uint8_t *to,
			  size_t len, uint64_t at)
{
	size_t skip = (size_t)(at % k->bytes), there;
	struct piece *p;
	ssize_t got;

	pthread_mutex_lock(&k->lock);
	p = hold(k, object, at / k->bytes);
	want_next(k, p, size);
	got = p->got;
	pthread_mutex_unlock(&k->lock);
	there = got > 0 && (size_t)got > skip ? (size_t)got - skip : 0;
	if (len > there)
		len = there;
	if (len)
		memcpy(to, p->bytes + skip, len);
	pthread_mutex_lock(&k->lock);
	let_go(k, p);
	pthread_mutex_unlock(&k->lock);
	return got < 0 ? got : (ssize_t)len;
}

ssize_t view_kept_read(struct view_kept *k, size_t object, uint64_t size, void *to, size_t len,
		       uint64_t at)
{
	size_t done = 0;

	if (at >= size)
		return 0;
	if (len > size - at)
		len = (size_t)(size - at);
	while (done < len) {
		uint64_t from = at + done;
		size_t left = k->bytes - (size_t)(from % k->bytes);
		ssize_t got = read_piece(k, object, size, (uint8_t *)to + done,
					 left < len - done ? left : len - done, from);

		if (got < 0)
			return got;
		if (!got)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}
