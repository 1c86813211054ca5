/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_nodes.c - what a graph consists of, nodes of any kind by one call, capture into a graph that
 * there is, and the objects of the program's that a graph keeps alive.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "graph.h"
#include "state.h"

enum { /* CUgraphNodeType */
	KERNEL = 0,
	MEMCPY = 1,
	MEMSET = 2,
	HOST = 3,
	EMPTY = 5
};

static int type_of(const struct sim_node *node)
{
	switch (node->op.kind) {
	case SIM_KERNEL:
		return KERNEL;
	case SIM_MEMCPY:
		return MEMCPY;
	case SIM_MEMSET:
		return MEMSET;
	case SIM_HOST:
		return HOST;
	default:
		return EMPTY;
	}
}

/* ---- looking ---- */

/* Adds one to a list that the caller made room for, or only counts where there is no list. */
static void tell(void **list, size_t room, size_t *n, void *node)
{
	if (list && *n < room)
		list[*n] = node;
	++*n;
}

/* As many as there are, or as many as there was room for; what is left of the room is emptied. */
static void told(void **list, size_t room, size_t *n, size_t had)
{
	size_t i;

	for (i = had; list && i < room; i++)
		list[i] = NULL;
	*n = list && had > room ? room : had;
}

static int nodes(void *graph, void **list, size_t *n, bool roots)
{
	struct sim_graph *g = sim_graph_get(graph);
	size_t had = 0, room;
	uint32_t i;

	if (!g || !n)
		return SIM_INVALID_VALUE;
	room = *n;
	sim_lock();
	for (i = 0; i < g->n; i++)
		if (!roots || !g->node[i]->n_deps)
			tell(list, room, &had, g->node[i]);
	sim_unlock();
	told(list, room, n, had);
	return SIM_OK;
}

int cuGraphGetNodes(void *graph, void **list, size_t *n)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuGraphGetNodes);

	if (!rc)
		rc = nodes(graph, list, n, false);
	return sim_call_end(&call, rc);
}

int cuGraphGetRootNodes(void *graph, void **list, size_t *n)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuGraphGetRootNodes);

	if (!rc)
		rc = nodes(graph, list, n, true);
	return sim_call_end(&call, rc);
}

static int dependencies(void *handle, void **list, size_t *n)
{
	const struct sim_node *node = handle;
	size_t had = 0, room;
	uint32_t i;

	if (!node || !n)
		return SIM_INVALID_VALUE;
	room = *n;
	sim_lock();
	for (i = 0; i < node->n_deps; i++)
		tell(list, room, &had, node->graph->node[node->dep[i]]);
	sim_unlock();
	told(list, room, n, had);
	return SIM_OK;
}

int cuGraphNodeGetDependencies(void *node, void **list, size_t *n)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuGraphNodeGetDependencies);

	if (!rc)
		rc = dependencies(node, list, n);
	return sim_call_end(&call, rc);
}

/* Edges of the model have no data: all of it is zero. */
int cuGraphNodeGetDependencies_v2(void *node, void **list, uint64_t *edges, size_t *n)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuGraphNodeGetDependencies_v2);

	if (!rc)
		rc = dependencies(node, list, n);
	if (!rc && edges && list)
		memset(edges, 0, *n * sizeof *edges);
	return sim_call_end(&call, rc);
}

int cuGraphNodeGetType(void *node, int *type)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuGraphNodeGetType);

	if (!rc && (!node || !type))
		rc = SIM_INVALID_VALUE;
	if (!rc)
		*type = type_of(node);
	return sim_call_end(&call, rc);
}

static void draw(FILE *f, const struct sim_graph *g)
{
	static const char *const names[] = { [KERNEL] = "kernel",
					     [MEMCPY] = "memcpy",
					     [MEMSET] = "memset",
					     [HOST] = "host",
					     [EMPTY] = "empty" };
	uint32_t i, k;

	fprintf(f, "digraph dot {\n");
	for (i = 0; i < g->n; i++) {
		const struct sim_node *node = g->node[i];
		const char *name = node->op.name;

		fprintf(f, "\"node_%u\" [label=\"%u %s %s\"];\n", i, i, names[type_of(node)],
			name ? name : "");
		for (k = 0; k < node->n_deps; k++)
			fprintf(f, "\"node_%u\" -> \"node_%u\";\n", node->dep[k], i);
	}
	fprintf(f, "}\n");
}

int cuGraphDebugDotPrint(void *graph, const char *path, unsigned flags)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuGraphDebugDotPrint);
	FILE *f = NULL;

	(void)flags;
	if (!rc && (!sim_graph_get(graph) || !path))
		rc = SIM_INVALID_VALUE;
	if (!rc && !(f = fopen(path, "we")))
		rc = SIM_OPERATING_SYSTEM;
	if (!rc) {
		sim_lock();
		draw(f, graph);
		sim_unlock();
	}
	if (f && fclose(f))
		rc = SIM_OPERATING_SYSTEM;
	return sim_call_end(&call, rc);
}

/* ---- adding ---- */

static int add_kernel(void **out, void *graph, void *const *deps, size_t n,
		      const struct sim_node_params *p)
{
	struct sim_kernel_node kernel = p->kernel.is;

	if (!kernel.function)
		kernel.function = p->kernel.kernel;
	return cuGraphAddKernelNode_v2(out, graph, deps, n, &kernel);
}

int cuGraphAddNode_v2(void **out, void *graph, void *const *deps, const void *edges, size_t n,
		      struct sim_node_params *p)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuGraphAddNode_v2);

	(void)edges;
	if (!rc && (!out || !p))
		rc = SIM_INVALID_VALUE;
	if (rc)
		return sim_call_end(&call, rc);
	switch (p->type) {
	case KERNEL:
		rc = add_kernel(out, graph, deps, n, p);
		break;
	case MEMCPY:
		rc = cuGraphAddMemcpyNode(out, graph, deps, n, &p->memcpy.is, p->memcpy.ctx);
		break;
	case MEMSET:
		rc = cuGraphAddMemsetNode(out, graph, deps, n, &p->memset.is, p->memset.ctx);
		break;
	case HOST:
		rc = cuGraphAddHostNode(out, graph, deps, n, &p->host);
		break;
	case EMPTY:
		rc = cuGraphAddEmptyNode(out, graph, deps, n);
		break;
	default:
		/* conditions, memory of its own, events, graphs in graphs */
		rc = SIM_NOT_SUPPORTED;
	}
	return sim_call_end(&call, rc);
}

int cuGraphAddNode(void **out, void *graph, void *const *deps, size_t n, struct sim_node_params *p)
{
	return cuGraphAddNode_v2(out, graph, deps, NULL, n, p);
}

/* There are no kernels that would set a condition. */
int cuGraphConditionalHandleCreate(uint64_t *handle, void *graph, void *ctx, unsigned value,
				   unsigned flags)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuGraphConditionalHandleCreate);

	(void)handle;
	(void)graph;
	(void)ctx;
	(void)value;
	(void)flags;
	return sim_call_end(&call, rc ? rc : SIM_NOT_SUPPORTED);
}

/* ---- capture into a graph that has nodes already ---- */

static int capture_to(struct sim_stream *s, struct sim_graph *g, void *const *deps, size_t n)
{
	bool fine;

	if (!g || !s || s->capture || s == sim_stream_get(NULL))
		return SIM_INVALID_VALUE;
	sim_lock();
	s->capture = g;
	s->capture_tail = NULL;
	fine = sim_capture_depend(s, (struct sim_node *const *)deps, (uint32_t)n, true);
	if (!fine)
		s->capture = NULL;
	sim_unlock();
	return fine ? SIM_OK : SIM_INVALID_VALUE;
}

int cuStreamBeginCaptureToGraph(void *stream, void *graph, void *const *deps, const void *edges,
				size_t n, int mode)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuStreamBeginCaptureToGraph);

	(void)edges;
	(void)mode;
	if (!rc)
		rc = capture_to(sim_stream_get(stream), sim_graph_get(graph), deps, n);
	return sim_call_end(&call, rc);
}

/* ---- a graph's memory of its own, of which there is none ---- */

#define GRAPH_MEMORY_ATTRIBUTES 4
#define HIGH(attribute) ((attribute)&1) /* a mark that can be set back */

int cuDeviceGetGraphMemAttribute(int device, int attribute, void *value)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuDeviceGetGraphMemAttribute);

	(void)device;
	if (!rc && (!value || attribute < 0 || attribute >= GRAPH_MEMORY_ATTRIBUTES))
		rc = SIM_INVALID_VALUE;
	if (!rc)
		*(uint64_t *)value = 0;
	return sim_call_end(&call, rc);
}

int cuDeviceSetGraphMemAttribute(int device, int attribute, void *value)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuDeviceSetGraphMemAttribute);

	(void)device;
	if (!rc && (!value || attribute < 0 || attribute >= GRAPH_MEMORY_ATTRIBUTES ||
		    !HIGH(attribute) || *(uint64_t *)value))
		rc = SIM_INVALID_VALUE;
	return sim_call_end(&call, rc);
}

/* ---- objects of the program's ---- */

int cuUserObjectCreate(void **out, void *data, void (*destroy)(void *), unsigned refs,
		       unsigned flags)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuUserObjectCreate);
	struct sim_object *o = NULL;

	if (!rc && (!out || !destroy || !refs || flags != 1)) /* no waiting for destructors */
		rc = SIM_INVALID_VALUE;
	if (!rc && !(o = calloc(1, sizeof *o)))
		rc = SIM_OUT_OF_MEMORY;
	if (!rc) {
		*o = (struct sim_object){ .refs = refs, .destroy = destroy, .data = data };
		*out = o;
	}
	return sim_call_end(&call, rc);
}

int cuUserObjectRetain(void *handle, unsigned n)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuUserObjectRetain);
	struct sim_object *o = handle;

	if (!rc && (!o || !n))
		rc = SIM_INVALID_VALUE;
	if (!rc) {
		sim_lock();
		o->refs += n;
		sim_unlock();
	}
	return sim_call_end(&call, rc);
}

int cuUserObjectRelease(void *handle, unsigned n)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuUserObjectRelease);
	struct sim_object *o = handle;

	if (!rc && (!o || !n || n > o->refs))
		rc = SIM_INVALID_VALUE;
	if (!rc) {
		sim_lock();
		sim_object_release(o, n);
		sim_unlock();
		sim_objects_end();
	}
	return sim_call_end(&call, rc);
}

#define MOVE 1 /* the caller's references become the graph's */

int cuGraphRetainUserObject(void *graph, void *handle, unsigned n, unsigned flags)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuGraphRetainUserObject);
	struct sim_graph *g = sim_graph_get(graph);
	struct sim_object *o = handle;

	if (!rc && (!g || !o || !n || flags > MOVE))
		rc = SIM_INVALID_VALUE;
	if (!rc) {
		sim_lock();
		rc = sim_graph_hold(g, o, n) ? SIM_OK : SIM_OUT_OF_MEMORY;
		if (!rc && flags == MOVE)
			sim_object_release(o, n);
		sim_unlock();
	}
	return sim_call_end(&call, rc);
}

int cuGraphReleaseUserObject(void *graph, void *handle, unsigned n)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuGraphReleaseUserObject);
	struct sim_graph *g = sim_graph_get(graph);

	if (!rc && (!g || !n))
		rc = SIM_INVALID_VALUE;
	if (!rc) {
		sim_lock();
		rc = sim_graph_let_go(g, handle, n) ? SIM_OK : SIM_INVALID_VALUE;
		sim_unlock();
		sim_objects_end();
	}
	return sim_call_end(&call, rc);
}
