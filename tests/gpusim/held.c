/* SPDX-License-Identifier: Apache-2.0 */
/*
 * held.c - objects of the program's that graphs keep alive: each graph, and each copy of it that
 * was made to be launched, has references of its own.
 */
#include <stdlib.h>

#include "call.h"
#include "graph.h"

/* One object that a graph holds, and how often. */
struct sim_held {
	struct sim_object *object;
	unsigned refs;
	struct sim_held *next;
};

static struct sim_object *ended;

void sim_object_release(struct sim_object *o, unsigned n)
{
	o->refs -= n;
	if (o->refs)
		return;
	o->next = ended;
	ended = o;
}

void sim_objects_end(void)
{
	struct sim_object *o, *list;

	sim_lock();
	list = ended;
	ended = NULL;
	sim_unlock();
	while ((o = list)) {
		list = o->next;
		o->destroy(o->data);
		free(o);
	}
}

bool sim_graph_hold(struct sim_graph *g, struct sim_object *o, unsigned n)
{
	struct sim_held *h = malloc(sizeof *h);

	if (!h)
		return false;
	o->refs += n;
	*h = (struct sim_held){ o, n, g->held };
	g->held = h;
	return true;
}

bool sim_graph_let_go(struct sim_graph *g, struct sim_object *o, unsigned n)
{
	struct sim_held **p, *h;

	for (p = &g->held; (h = *p) && (h->object != o || h->refs < n); p = &h->next)
		;
	if (!h)
		return false;
	h->refs -= n;
	if (!h->refs) {
		*p = h->next;
		free(h);
	}
	sim_object_release(o, n);
	return true;
}

bool sim_graph_hold_all(struct sim_graph *g, const struct sim_graph *of)
{
	const struct sim_held *h;

	for (h = of->held; h; h = h->next)
		if (!sim_graph_hold(g, h->object, h->refs))
			return false;
	return true;
}

void sim_graph_let_go_all(struct sim_graph *g)
{
	while (g->held)
		sim_graph_let_go(g, g->held->object, g->held->refs);
}
