/* SPDX-License-Identifier: Apache-2.0 */
/* A bounded heap per GPU. */
#include "order.h"

#include <errno.h>
#include <stdlib.h>

#define LEAST 4096u /* per GPU, however many there are */

int view_order_init(struct view_order *o, size_t gpus,
		    int (*take)(void *arg, const struct ana_piece *p), void *arg)
{
	size_t i;

	*o = (struct view_order){ .gpus = (uint32_t)gpus, .take = take, .arg = arg };
	o->most = gpus ? (uint32_t)(VIEW_ORDER_PIECES / gpus) : 0;
	if (o->most < LEAST)
		o->most = LEAST;
	o->gpu = calloc(gpus + 1, sizeof(*o->gpu));
	for (i = 0; o->gpu && i < gpus; i++)
		o->gpu[i].upto = INT64_MIN;
	return o->gpu ? 0 : -ENOMEM;
}

void view_order_fini(struct view_order *o)
{
	uint32_t i;

	for (i = 0; o->gpu && i < o->gpus; i++)
		free(o->gpu[i].piece);
	free(o->gpu);
	o->gpu = NULL;
}

static void sift_up(struct view_order_gpu *g, uint32_t i)
{
	struct view_ordered p = g->piece[i];

	for (; i && p.start < g->piece[(i - 1) / 2].start; i = (i - 1) / 2)
		g->piece[i] = g->piece[(i - 1) / 2];
	g->piece[i] = p;
}

static void sift_down(struct view_order_gpu *g)
{
	struct view_ordered p = g->piece[g->n];
	uint32_t i = 0, child;

	while ((child = 2 * i + 1) < g->n) {
		if (child + 1 < g->n && g->piece[child + 1].start < g->piece[child].start)
			child++;
		if (p.start <= g->piece[child].start)
			break;
		g->piece[i] = g->piece[child];
		i = child;
	}
	g->piece[i] = p;
}

static int make_room(struct view_order_gpu *g)
{
	uint32_t room = g->room ? g->room * 2 : 256;
	void *more;

	if (g->n < g->room)
		return 0;
	more = reallocarray(g->piece, room, sizeof(*g->piece));
	if (!more)
		return -ENOMEM;
	g->piece = more;
	g->room = room;
	return 0;
}

static int hand_out(struct view_order *o, uint32_t gpu)
{
	struct view_order_gpu *g = &o->gpu[gpu];
	struct view_ordered p = g->piece[0];
	struct ana_piece piece = {
		.gpu = gpu,
		.class = (enum ana_class)p.class,
		.confidence = (enum ana_confidence)p.confidence,
		.gap = p.gap,
		.queued = p.queued,
		.start_ns = p.start,
		.end_ns = p.end,
		.gap_start_ns = p.gap_start,
		.gap_end_ns = p.gap_end,
		.pid = p.pid,
		.tid = p.tid,
	};

	g->n--;
	if (g->n)
		sift_down(g);
	o->late += p.start < g->upto;
	g->upto = p.start > g->upto ? p.start : g->upto;
	return o->take(o->arg, &piece);
}

int view_order_add(struct view_order *o, const struct ana_piece *p)
{
	struct view_order_gpu *g;
	int err;

	if (p->gpu >= o->gpus)
		return 0;
	g = &o->gpu[p->gpu];
	err = g->n >= o->most ? hand_out(o, p->gpu) : 0;
	if (!err)
		err = make_room(g);
	if (err)
		return err;
	g->piece[g->n] = (struct view_ordered){
		.start = p->start_ns,
		.end = p->end_ns,
		.gap_start = p->gap_start_ns,
		.gap_end = p->gap_end_ns,
		.pid = p->pid,
		.tid = (uint32_t)p->tid,
		.class = (uint8_t)p->class,
		.confidence = (uint8_t)p->confidence,
		.gap = p->gap,
		.queued = p->queued,
	};
	sift_up(g, g->n++);
	return 0;
}

int view_order_finish(struct view_order *o)
{
	uint32_t i;
	int err = 0;

	for (i = 0; i < o->gpus; i++)
		while (!err && o->gpu[i].n)
			err = hand_out(o, i);
	return err;
}
