/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph.c - building, capturing and launching graphs.
 */
#include "graph.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "clock.h"
#include "launch.h"
#include "submit.h"

#define GRAPH_MAGIC 0x68707267u

struct sim_graph *sim_graph_new(void)
{
	static atomic_uint_fast64_t last;
	struct sim_graph *g = calloc(1, sizeof *g);

	if (g) {
		g->magic = GRAPH_MAGIC;
		g->id = atomic_fetch_add(&last, 1) + 1;
	}
	return g;
}

struct sim_graph *sim_graph_get(void *handle)
{
	struct sim_graph *g = handle;

	return g && g->magic == GRAPH_MAGIC ? g : NULL;
}

static void node_free(struct sim_node *node)
{
	free(node->dep);
	free((void *)(uintptr_t)node->work.meetings);
	free(node);
}

void sim_graph_free(struct sim_graph *g)
{
	uint32_t i;

	if (!g)
		return;
	for (i = 0; i < g->n; i++)
		node_free(g->node[i]);
	sim_graph_let_go_all(g);
	free(g->node);
	g->magic = 0;
	free(g);
}

static int grow(struct sim_graph *g)
{
	uint32_t room = g->room ? 2 * g->room : 16;
	struct sim_node **p;

	if (g->n < g->room)
		return 0;
	p = realloc(g->node, room * sizeof *p);
	if (!p)
		return -1;
	g->node = p;
	g->room = room;
	return 0;
}

static bool belongs(const struct sim_graph *g, const struct sim_node *node)
{
	return node && node->index < g->n && g->node[node->index] == node;
}

struct sim_node *sim_graph_add(struct sim_graph *g, const struct sim_op *op,
			       struct sim_node *const *deps, uint32_t n)
{
	struct sim_node *node = calloc(1, sizeof *node);
	uint32_t i;

	if (!node || grow(g))
		goto fail;
	node->dep = calloc(n ? n : 1, sizeof *node->dep);
	if (!node->dep)
		goto fail;
	for (i = 0; i < n; i++) {
		if (!belongs(g, deps[i]))
			goto fail;
		node->dep[node->n_deps++] = deps[i]->index;
	}
	node->graph = g;
	node->op = *op;
	node->index = g->n;
	g->node[g->n++] = node;
	return node;
fail:
	if (node)
		node_free(node);
	return NULL;
}

/* A copy for the node; false without memory. */
static bool node_work(struct sim_node *node, const struct sim_work *work)
{
	size_t bytes = work->n_meetings * sizeof *work->meetings;
	struct gpusim_meeting *meetings = bytes ? malloc(bytes) : NULL;

	if (bytes && !meetings)
		return false;
	if (bytes)
		memcpy(meetings, work->meetings, bytes);
	node->work = *work;
	node->work.meetings = meetings;
	return true;
}

struct sim_graph *sim_graph_clone(const struct sim_graph *g)
{
	struct sim_graph *copy = sim_graph_new();
	uint32_t i;

	if (!copy)
		return NULL;
	if (!sim_graph_hold_all(copy, g))
		goto fail;
	for (i = 0; i < g->n; i++) {
		const struct sim_node *from = g->node[i];
		struct sim_node *to = sim_graph_add(copy, &from->op, NULL, 0);

		if (!to)
			goto fail;
		free(to->dep);
		to->dep = malloc((from->n_deps + 1) * sizeof *to->dep);
		if (!to->dep)
			goto fail;
		memcpy(to->dep, from->dep, from->n_deps * sizeof *to->dep);
		to->n_deps = from->n_deps;
		if (!node_work(to, &from->work))
			goto fail;
	}
	return copy;
fail:
	sim_graph_free(copy);
	return NULL;
}

/* ---- launching ---- */

/* The node's work on this stream, in this launch. */
static void node_op(struct sim_op *op, const struct sim_node *node, const struct sim_exec *exec,
		    struct sim_stream *s)
{
	sim_op_init(op, node->op.kind, s);
	op->engine = node->op.engine;
	op->copy = node->op.copy;
	op->from_device = node->op.from_device;
	op->from_context = node->op.from_context;
	op->peer_device = node->op.peer_device;
	op->peer_context = node->op.peer_context;
	op->src = node->op.src;
	op->dst = node->op.dst;
	op->async = true;
	op->duration = node->op.duration;
	op->bytes = node->op.bytes;
	op->value = node->op.value;
	op->name = node->op.name;
	op->label = node->op.label;
	memcpy(op->grid, node->op.grid, sizeof op->grid);
	memcpy(op->block, node->op.block, sizeof op->block);
	op->shared = node->op.shared;
	op->in_graph = true;
	op->graph = exec->id;
	op->node = (uint64_t)exec->id << 32 | node->index;
	op->ranks = node->op.ranks;
	op->nccl = op->ranks > 1 || node->work.n_meetings;
	sim_kernel_slow(op);
}

/* Bytes that nothing holds back move with the lock held: nodes must not overtake one another. */
static struct sim_when node_submit(const struct sim_exec *exec, const struct sim_node *node,
				   struct sim_stream *s, struct sim_when base,
				   const struct sim_when *done, uint64_t *start)
{
	struct sim_work work = node->work;
	struct sim_when after[64];
	struct sim_when when;
	struct sim_op op;
	uint32_t i, n = 0;

	for (i = 0; i < node->n_deps && n < 64; i++)
		after[n++] = done[node->dep[i]];
	if (!n)
		after[n++] = base;
	node_op(&op, node, exec, s);
	when = sim_submit_work(s, &op, after, n, &work);
	sim_data_move(&work.data);
	*start = when.pending || op.kind == SIM_MARKER ? SIM_NEVER : op.start;
	return when;
}

/*
 * The graph as one op, from the start of its first node on the device to the end of the last one:
 * host functions at its ends do not count, as in real records. The stream waits for all.
 */
static void submit_whole(const struct sim_exec *exec, struct sim_stream *s, struct sim_when *done,
			 uint64_t first)
{
	const struct sim_graph *g = exec->graph;
	struct sim_when *on_device = calloc(g->n + 1, sizeof *done);
	struct sim_op op;
	uint32_t i, n = 0;

	if (!on_device)
		return;
	for (i = 0; i < g->n; i++)
		if (!g->node[i]->work.host && g->node[i]->op.kind != SIM_MARKER)
			on_device[n++] = done[i];
	sim_op_init(&op, SIM_GRAPH, s);
	op.graph = exec->id;
	op.start = first;
	if (n)
		sim_submit_span(s, &op, on_device, n);
	sim_when_set(&s->tail, sim_join(s, done, g->n));
	free(on_device);
}

int sim_graph_launch(const struct sim_exec *exec, struct sim_stream *s)
{
	const struct sim_graph *g = exec->graph;
	struct sim_when *done, base;
	uint64_t first = SIM_NEVER, start;
	uint32_t i;

	if (!g->n)
		return SIM_OK;
	done = calloc(g->n, sizeof *done);
	if (!done)
		return SIM_OUT_OF_MEMORY;
	base = sim_stream_ready(s);
	base = sim_when_copy(&base);
	for (i = 0; i < g->n; i++) {
		struct sim_when w = node_submit(exec, g->node[i], s, base, done, &start);

		done[i] = sim_when_copy(&w);
		first = start < first ? start : first;
	}
	submit_whole(exec, s, done, first);
	for (i = 0; i < g->n; i++)
		sim_when_set(&done[i], (struct sim_when){ 0, NULL });
	sim_when_set(&base, (struct sim_when){ 0, NULL });
	free(done);
	return SIM_OK;
}

/* ---- capturing ---- */

static uint32_t tail_list(struct sim_stream *s, struct sim_node **list)
{
	list[0] = s->capture_tail;
	return s->capture_tail ? 1 : 0;
}

bool sim_capture(struct sim_stream *s, const struct sim_op *op, const struct sim_work *work)
{
	struct sim_node *deps[1], *node;

	if (!s->capture)
		return false;
	node = sim_graph_add(s->capture, op, deps, tail_list(s, deps));
	if (node) {
		if (work && !node_work(node, work))
			abort(); /* as pending work without memory */
		s->capture_tail = node;
	}
	return true;
}

bool sim_capture_record(struct sim_stream *s, struct sim_event *e)
{
	e->capture = s->capture;
	e->capture_node = s->capture_tail;
	return s->capture != NULL;
}

/* A stream that waits for an event of a capture joins it. */
bool sim_capture_wait(struct sim_stream *s, struct sim_event *e)
{
	struct sim_node *deps[2];
	struct sim_op op = { .kind = SIM_MARKER };
	uint32_t n;

	if (!e->capture)
		return false;
	if (!s->capture) {
		s->capture = e->capture;
		s->capture_tail = e->capture_node;
		return true;
	}
	n = tail_list(s, deps);
	if (e->capture_node)
		deps[n++] = e->capture_node;
	s->capture_tail = sim_graph_add(s->capture, &op, deps, n);
	return true;
}

bool sim_capture_depend(struct sim_stream *s, struct sim_node *const *deps, uint32_t n, bool alone)
{
	struct sim_op op = { .kind = SIM_MARKER };
	struct sim_node **all = malloc((n + 1) * sizeof *all), *join = NULL;
	uint32_t k = 0, i;

	if (!all)
		return false;
	if (!alone)
		k = tail_list(s, all);
	for (i = 0; i < n; i++)
		all[k++] = deps[i];
	if (k)
		join = k == 1 && belongs(s->capture, all[0])
			       ? all[0]
			       : sim_graph_add(s->capture, &op, all, k);
	if (join || !k)
		s->capture_tail = join;
	free(all);
	return join || !k;
}
