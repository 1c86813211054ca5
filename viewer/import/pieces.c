/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ring of pieces and the threads that read them.
 */
#include "pieces.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include "kineto_json.h"

#define PIECES_PER_THREAD 2u

struct view_import_pieces {
	struct view_import_piece *piece;
	unsigned int pieces;
	pthread_t *thread;
	unsigned int threads;
	pthread_mutex_t lock; /* guards what follows and piece[].done */
	pthread_cond_t changed;
	/* all counted from the start: oldest <= taken <= submitted <= oldest + pieces */
	unsigned int oldest, taken, submitted;
	bool stop;
	bool filling; /* the caller has at(submitted); not of the threads */
};

static struct view_import_piece *at(struct view_import_pieces *p, unsigned int number)
{
	return &p->piece[number % p->pieces];
}

/* The comma behind the last row belongs between this piece and the next. */
static int read_piece(struct view_import_piece *c)
{
	struct view_import_json *j = view_import_json_new(&c->part.t, true);
	int err;

	if (!j)
		return -ENOMEM;
	err = view_import_json_feed(j, c->text, c->len - 1);
	if (!err)
		err = view_import_json_end(j);
	view_import_json_free(j);
	return err == -ELOOP ? -EBADMSG : err;
}

static void *work(void *arg)
{
	struct view_import_pieces *p = arg;
	struct view_import_piece *c;

	pthread_mutex_lock(&p->lock);
	for (;;) {
		while (!p->stop && p->taken == p->submitted)
			pthread_cond_wait(&p->changed, &p->lock);
		if (p->stop)
			break;
		c = at(p, p->taken++);
		pthread_mutex_unlock(&p->lock);
		c->err = read_piece(c);
		pthread_mutex_lock(&p->lock);
		c->done = true;
		pthread_cond_broadcast(&p->changed);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

static int init_pieces(struct view_import_pieces *p, unsigned int threads)
{
	unsigned int i;

	p->thread = calloc(threads, sizeof(*p->thread));
	p->piece = calloc(threads * PIECES_PER_THREAD, sizeof(*p->piece));
	if (!p->thread || !p->piece)
		return -ENOMEM;
	for (i = 0; i < threads * PIECES_PER_THREAD; i++) {
		if (view_import_part_init(&p->piece[i].part))
			return -ENOMEM;
		p->pieces++;
	}
	return 0;
}

struct view_import_pieces *view_import_pieces_new(unsigned int threads)
{
	struct view_import_pieces *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	if (pthread_mutex_init(&p->lock, NULL))
		goto fail_memory;
	if (pthread_cond_init(&p->changed, NULL))
		goto fail_lock;
	if (!init_pieces(p, threads))
		while (p->threads < threads &&
		       !pthread_create(&p->thread[p->threads], NULL, work, p))
			p->threads++;
	if (p->threads)
		return p;
	view_import_pieces_free(p);
	return NULL;

fail_lock:
	pthread_mutex_destroy(&p->lock);
fail_memory:
	free(p);
	return NULL;
}

static void stop(struct view_import_pieces *p)
{
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	while (p->threads)
		pthread_join(p->thread[--p->threads], NULL);
}

void view_import_pieces_free(struct view_import_pieces *p)
{
	if (!p)
		return;
	stop(p);
	while (p->pieces) {
		struct view_import_piece *c = &p->piece[--p->pieces];

		view_import_part_fini(&c->part);
		free(c->text);
	}
	free(p->piece);
	free(p->thread);
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

struct view_import_piece *view_import_pieces_next(struct view_import_pieces *p)
{
	p->filling = p->submitted - p->oldest < p->pieces;
	return p->filling ? at(p, p->submitted) : NULL;
}

void view_import_pieces_submit(struct view_import_pieces *p)
{
	pthread_mutex_lock(&p->lock);
	at(p, p->submitted)->done = false;
	p->submitted++;
	p->filling = false;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
}

int view_import_pieces_collect(struct view_import_pieces *p, struct view_import_trace *t)
{
	struct view_import_piece *c;
	int err;

	if (p->oldest == p->submitted)
		return 0;
	c = at(p, p->oldest);
	pthread_mutex_lock(&p->lock);
	while (!c->done)
		pthread_cond_wait(&p->changed, &p->lock);
	pthread_mutex_unlock(&p->lock);
	err = c->err;
	if (err == -EBADMSG)
		stop(p);
	if (!err)
		err = view_import_merge(t, &c->part);
	if (err)
		return err;
	c->len = 0;
	p->oldest++;
	return 1;
}

struct view_import_piece *view_import_pieces_take_back(struct view_import_pieces *p)
{
	return p->oldest < p->submitted + p->filling ? at(p, p->oldest++) : NULL;
}
