/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph.h - CUDA graphs: nodes with the work they stand for, built by hand or by capturing a
 * stream. A node can only depend on nodes that were there before it, so the order in which nodes
 * were added is an order in which they can be submitted. Process lock held in all calls.
 */
#ifndef SIM_GRAPH_H
#define SIM_GRAPH_H

#include "state.h"

struct sim_held;

struct sim_node {
	struct sim_graph *graph; /* whose it is */
	struct sim_op op; /* what to submit; SIM_MARKER for an empty node */
	struct sim_work work; /* what it does besides; nothing staged, its meetings its own */
	uint32_t index, n_deps;
	uint32_t *dep; /* indices of the nodes it waits for */
};

struct sim_graph {
	uint32_t magic, n, room;
	uint64_t id; /* unique in the process, from 1 */
	struct sim_node **node;
	struct sim_held *held; /* objects of the program's (held.c) */
};

struct sim_exec {
	uint32_t magic, id;
	struct sim_graph *graph; /* a copy of its own */
};

/* An object of the program's, with whom graphs hold references too. */
struct sim_object {
	unsigned refs;
	void (*destroy)(void *);
	void *data;
	struct sim_object *next; /* of those that have ended */
};

/* The graph behind a handle, or NULL. */
struct sim_graph *sim_graph_get(void *handle);

struct sim_graph *sim_graph_new(void);
void sim_graph_free(struct sim_graph *g); /* NULL is fine; then sim_objects_end */

/* A copy of g, or NULL. */
struct sim_graph *sim_graph_clone(const struct sim_graph *g);

/* Adds op behind the nodes deps[0..n); the graph owns the node. NULL: no memory, bad node. */
struct sim_node *sim_graph_add(struct sim_graph *g, const struct sim_op *op,
			       struct sim_node *const *deps, uint32_t n);

/* Submits all of it on s. */
int sim_graph_launch(const struct sim_exec *exec, struct sim_stream *s);

/* Is s being captured? Then op goes into its graph, with its work (or NULL), and nothing runs. */
bool sim_capture(struct sim_stream *s, const struct sim_op *op, const struct sim_work *work);
bool sim_capture_record(struct sim_stream *s, struct sim_event *e);
bool sim_capture_wait(struct sim_stream *s, struct sim_event *e);

/*
 * The next node of s's capture waits for these too, or (alone) for these alone. False: bad node, no
 * memory.
 */
bool sim_capture_depend(struct sim_stream *s, struct sim_node *const *deps, uint32_t n, bool alone);

/* ---- held.c ---- */

/* Gives up n references; the last one's end is put down for sim_objects_end. */
void sim_object_release(struct sim_object *o, unsigned n);

/* Without the lock: destroys what has ended. After everything that can end an object. */
void sim_objects_end(void);

/* References of a graph's; false without memory. */
bool sim_graph_hold(struct sim_graph *g, struct sim_object *o, unsigned n);
bool sim_graph_hold_all(struct sim_graph *g, const struct sim_graph *of);

/* false: it has not so many. */
bool sim_graph_let_go(struct sim_graph *g, struct sim_object *o, unsigned n);
void sim_graph_let_go_all(struct sim_graph *g);

#endif
