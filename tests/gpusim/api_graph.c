/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_graph.c - entry points for graphs and stream capture. Nodes keep what they need of their
 * parameters: a kernel its name and duration, a copy its bytes and direction.
 */
#include <string.h>

#include "clock.h"
#include "config.h"
#include "copy.h"
#include "driver.h"
#include "graph.h"
#include "launch.h"
#include "rows.h"
#include "shm.h"
#include "state.h"
#include "submit.h"

#include <stdlib.h>

#define EXEC_MAGIC 0x63657865u

static uint32_t next_exec = 1;

static struct sim_exec *exec_get(void *handle)
{
	struct sim_exec *e = handle;

	return e && e->magic == EXEC_MAGIC ? e : NULL;
}

int cuGraphCreate(void **graph, unsigned flags)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuGraphCreate);

	(void)flags;
	if (!rc) {
		*graph = sim_graph_new();
		rc = *graph ? SIM_OK : SIM_OUT_OF_MEMORY;
	}
	return sim_call_end(&call, rc);
}

/* What every kind of node has in common: the graph is one, the new node is told. */
static int add(void **out, void *graph, void *const *deps, size_t n, const struct sim_op *op,
	       struct sim_node **node)
{
	struct sim_graph *g = sim_graph_get(graph);

	if (!g)
		return SIM_INVALID_HANDLE;
	sim_lock();
	*node = sim_graph_add(g, op, (struct sim_node *const *)deps, (uint32_t)n);
	sim_unlock();
	if (!*node)
		return SIM_INVALID_VALUE;
	*out = *node;
	return SIM_OK;
}

int cuGraphAddKernelNode_v2(void **out, void *graph, void *const *deps, size_t n,
			    const struct sim_kernel_node *p)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuGraphAddKernelNode_v2);
	struct sim_node *node;
	struct sim_op op = { .kind = SIM_KERNEL };
	uint64_t comm = 0;

	if (!rc && !p->function)
		rc = SIM_INVALID_VALUE;
	if (!rc) {
		comm = sim_kernel_fill(&op, p->function, p->grid, p->block, p->shared, p->params,
				       p->extra);
		rc = add(out, graph, deps, n, &op, &node);
	}
	if (!rc)
		node->work.comm = comm;
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuGraphAddKernelNode, cuGraphAddKernelNode_v2);

int cuGraphAddMemcpyNode(void **out, void *graph, void *const *deps, size_t n,
			 const struct sim_copy_3d *p, void *ctx)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuGraphAddMemcpyNode);
	struct sim_node *node;
	struct sim_op op = { .kind = SIM_MEMCPY };
	struct sim_copy_3d copy = *p;
	uint64_t dst, src;
	struct sim_box box;

	copy.height += !copy.height;
	copy.depth += !copy.depth;
	if (!rc && !ctx)
		rc = SIM_INVALID_CONTEXT;
	if (!rc)
		rc = sim_rows_plan(&copy, true, &box, &dst, &src);
	if (!rc) {
		op.physical = ((struct sim_ctx *)ctx)->physical;
		op.device = ((struct sim_ctx *)ctx)->device;
		op.context = ((struct sim_ctx *)ctx)->id;
		op.bytes = box.width * box.height * box.depth;
		sim_copy_plan(&op, dst, src);
		rc = add(out, graph, deps, n, &op, &node);
	}
	if (!rc)
		node->work.data = sim_data_copy(dst, src, &box);
	return sim_call_end(&call, rc);
}

int cuGraphAddMemsetNode(void **out, void *graph, void *const *deps, size_t n,
			 const struct sim_memset_node *p, void *ctx)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuGraphAddMemsetNode);
	struct sim_node *node;
	struct sim_op op = { .kind = SIM_MEMSET };

	(void)ctx;
	if (!rc) {
		op.bytes = p->element * p->width * (p->height ? p->height : 1);
		sim_fill_plan(&op, p->dst, p->value);
		rc = add(out, graph, deps, n, &op, &node);
	}
	if (!rc)
		node->work.data = sim_data_fill(p->dst, p->pitch, p->value, p->element, p->width,
						p->height ? p->height : 1);
	return sim_call_end(&call, rc);
}

int cuGraphAddHostNode(void **out, void *graph, void *const *deps, size_t n,
		       const struct sim_host_node *p)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuGraphAddHostNode);
	struct sim_node *node;
	struct sim_op op = { .kind = SIM_HOST };

	if (!rc)
		rc = add(out, graph, deps, n, &op, &node);
	if (!rc) {
		node->work.host = p->fn;
		node->work.host_data = p->data;
	}
	return sim_call_end(&call, rc);
}

int cuGraphAddEmptyNode(void **out, void *graph, void *const *deps, size_t n)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuGraphAddEmptyNode);
	struct sim_node *node;
	struct sim_op op = { .kind = SIM_MARKER };

	if (!rc)
		rc = add(out, graph, deps, n, &op, &node);
	return sim_call_end(&call, rc);
}

static int instantiate(void **out, void *graph)
{
	struct sim_graph *g = sim_graph_get(graph);
	struct sim_exec *e;

	if (!g)
		return SIM_INVALID_HANDLE;
	e = calloc(1, sizeof *e);
	if (!e)
		return SIM_OUT_OF_MEMORY;
	sim_lock();
	e->magic = EXEC_MAGIC;
	e->id = next_exec++;
	e->graph = sim_graph_clone(g);
	sim_unlock();
	*out = e;
	return e->graph ? SIM_OK : SIM_OUT_OF_MEMORY;
}

int cuGraphInstantiateWithFlags(void **out, void *graph, uint64_t flags)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuGraphInstantiateWithFlags);

	(void)flags;
	if (!rc)
		rc = instantiate(out, graph);
	return sim_call_end(&call, rc);
}

int cuGraphInstantiateWithParams(void **out, void *graph, struct sim_graph_instantiation *p)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuGraphInstantiateWithParams);

	if (!rc && !p)
		rc = SIM_INVALID_VALUE;
	if (!rc)
		rc = instantiate(out, graph);
	if (!rc) {
		p->failed = NULL;
		p->result = 0;
	}
	return sim_call_end(&call, rc);
}

int cuGraphInstantiate_v2(void **out, void *graph, void **node, char *log, size_t size)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuGraphInstantiate_v2);

	(void)node;
	(void)log;
	(void)size;
	if (!rc)
		rc = instantiate(out, graph);
	return sim_call_end(&call, rc);
}

int cuGraphUpload(void *exec, void *stream)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuGraphUpload);

	(void)stream;
	if (!rc && !exec_get(exec))
		rc = SIM_INVALID_HANDLE;
	return sim_call_end(&call, rc);
}

int cuGraphLaunch(void *exec, void *stream)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuGraphLaunch);
	struct sim_exec *e = exec_get(exec);
	struct sim_stream *s = rc ? NULL : sim_stream_get(stream);

	if (!rc && (!e || !s))
		rc = SIM_INVALID_HANDLE;
	if (!rc) {
		sim_lock();
		sim_throttle(s);
		rc = sim_graph_launch(e, s);
		sim_unlock();
	}
	return sim_call_end(&call, rc);
}

int cuGraphExecDestroy(void *exec)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuGraphExecDestroy);
	struct sim_exec *e = exec_get(exec);

	if (!rc && !e)
		rc = SIM_INVALID_HANDLE;
	if (!rc) {
		sim_lock();
		sim_graph_free(e->graph);
		e->magic = 0;
		free(e);
		sim_unlock();
		sim_objects_end();
	}
	return sim_call_end(&call, rc);
}

int cuGraphDestroy(void *graph)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuGraphDestroy);

	if (!rc && !sim_graph_get(graph))
		rc = SIM_INVALID_HANDLE;
	if (!rc) {
		sim_lock();
		sim_graph_free(graph);
		sim_unlock();
		sim_objects_end();
	}
	return sim_call_end(&call, rc);
}

/* ---- capture ---- */

int cuStreamBeginCapture_v2(void *stream, int mode)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuStreamBeginCapture_v2);
	struct sim_stream *s = rc ? NULL : sim_stream_get(stream);

	(void)mode;
	if (!rc && (!s || s->capture || s == sim_stream_get(NULL)))
		rc = SIM_INVALID_HANDLE;
	if (!rc) {
		sim_lock();
		s->capture = sim_graph_new();
		s->capture_tail = NULL;
		sim_unlock();
	}
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuStreamBeginCapture, cuStreamBeginCapture_v2);

/* All streams that joined leave with the one that began. */
static void end_capture(struct sim_graph *g)
{
	struct sim_ctx *ctx;
	struct sim_stream *s;

	for (ctx = sim_state.contexts; ctx; ctx = ctx->next)
		for (s = ctx->streams; s; s = s->next)
			if (s->capture == g) {
				s->capture = NULL;
				s->capture_tail = NULL;
			}
}

int cuStreamEndCapture(void *stream, void **graph)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuStreamEndCapture);
	struct sim_stream *s = rc ? NULL : sim_stream_get(stream);

	if (!rc && (!s || !s->capture))
		rc = SIM_INVALID_HANDLE;
	if (!rc) {
		sim_lock();
		*graph = s->capture;
		end_capture(s->capture);
		sim_unlock();
	}
	return sim_call_end(&call, rc);
}

int cuStreamIsCapturing(void *stream, int *status)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuStreamIsCapturing);
	struct sim_stream *s = rc ? NULL : sim_stream_get(stream);

	if (!rc && !s)
		rc = SIM_INVALID_HANDLE;
	if (!rc)
		*status = s->capture != NULL;
	return sim_call_end(&call, rc);
}

/* Where its next node would go, as the caller likes it told. */
struct capture_info {
	int *status;
	uint64_t *id;
	void **graph;
	void *const **deps;
	size_t *n;
};

static void tell_capture(const struct sim_stream *s, const struct capture_info *info)
{
	*info->status = s->capture != NULL;
	if (!s->capture)
		return;
	if (info->id)
		*info->id = s->capture->id;
	if (info->graph)
		*info->graph = s->capture;
	if (info->deps)
		*info->deps = (void *const *)&s->capture_tail;
	if (info->n)
		*info->n = s->capture_tail != NULL;
}

static int capture_info(uint32_t cbid, void *stream, const struct capture_info *info)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, cbid);
	struct sim_stream *s = rc ? NULL : sim_stream_get(stream);

	if (!rc && !s)
		rc = sim_ctx_current() ? SIM_INVALID_HANDLE : SIM_INVALID_CONTEXT;
	if (!rc && !info->status)
		rc = SIM_INVALID_VALUE;
	if (!rc) {
		sim_lock();
		tell_capture(s, info);
		sim_unlock();
	}
	return sim_call_end(&call, rc);
}

int cuStreamGetCaptureInfo(void *stream, int *status, uint64_t *id)
{
	struct capture_info info = { status, id, NULL, NULL, NULL };

	return capture_info(SIM_CBID_cuStreamGetCaptureInfo, stream, &info);
}

int cuStreamGetCaptureInfo_v2(void *stream, int *status, uint64_t *id, void **graph,
			      void *const **deps, size_t *n)
{
	struct capture_info info = { status, id, graph, deps, n };

	return capture_info(SIM_CBID_cuStreamGetCaptureInfo_v2, stream, &info);
}

/* Edges of the model have no data. */
int cuStreamGetCaptureInfo_v3(void *stream, int *status, uint64_t *id, void **graph,
			      void *const **deps, const void **edges, size_t *n)
{
	struct capture_info info = { status, id, graph, deps, n };

	if (edges)
		*edges = NULL;
	return capture_info(SIM_CBID_cuStreamGetCaptureInfo_v3, stream, &info);
}

#define SET_DEPENDENCIES 1 /* in place of those that there are; 0 adds */

static int update(void *stream, void *const *deps, size_t n, unsigned flags)
{
	struct sim_stream *s = sim_stream_get(stream);
	int rc;

	if (!s || !s->capture)
		return s ? SIM_ILLEGAL_STATE : SIM_INVALID_HANDLE;
	if (flags > SET_DEPENDENCIES || (n && !deps))
		return SIM_INVALID_VALUE;
	sim_lock();
	rc = sim_capture_depend(s, (struct sim_node *const *)deps, (uint32_t)n,
				flags == SET_DEPENDENCIES)
		     ? SIM_OK
		     : SIM_INVALID_VALUE;
	sim_unlock();
	return rc;
}

int cuStreamUpdateCaptureDependencies(void *stream, void *const *deps, size_t n, unsigned flags)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuStreamUpdateCaptureDependencies);

	if (!rc)
		rc = update(stream, deps, n, flags);
	return sim_call_end(&call, rc);
}

int cuStreamUpdateCaptureDependencies_v2(void *stream, void *const *deps, const void *edges,
					 size_t n, unsigned flags)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuStreamUpdateCaptureDependencies_v2);

	(void)edges;
	if (!rc)
		rc = update(stream, deps, n, flags);
	return sim_call_end(&call, rc);
}

/* The model forbids nothing during a capture; the mode is remembered for the thread. */
int cuThreadExchangeStreamCaptureMode(int *mode)
{
	static __thread int of_thread;
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuThreadExchangeStreamCaptureMode);

	if (!rc && (!mode || *mode < 0 || *mode > 2))
		rc = SIM_INVALID_VALUE;
	if (!rc) {
		int old = of_thread;

		of_thread = *mode;
		*mode = old;
	}
	return sim_call_end(&call, rc);
}
