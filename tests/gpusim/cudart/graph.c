/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph.c - graphs and the capture of streams.
 */
#include "cudart.h"

RUNTIME(cudaStreamBeginCapture, (void *stream, int mode), cuStreamBeginCapture_v2(stream, mode))
RUNTIME(cudaStreamBeginCaptureToGraph,
	(void *stream, void *graph, void *const *deps, const void *edges, size_t n, int mode),
	cuStreamBeginCaptureToGraph(stream, graph, deps, edges, n, mode))
RUNTIME(cudaStreamEndCapture, (void *stream, void **graph), cuStreamEndCapture(stream, graph))
RUNTIME(cudaStreamIsCapturing, (void *stream, int *status), cuStreamIsCapturing(stream, status))
RUNTIME(cudaStreamGetCaptureInfo,
	(void *stream, int *status, unsigned long long *id, void **graph, void *const **deps,
	 const void **edges, size_t *n),
	cuStreamGetCaptureInfo_v3(stream, status, (uint64_t *)id, graph, deps, edges, n))
RUNTIME(cudaStreamUpdateCaptureDependencies,
	(void *stream, void *const *deps, const void *edges, size_t n, unsigned flags),
	cuStreamUpdateCaptureDependencies_v2(stream, deps, edges, n, flags))
RUNTIME(cudaThreadExchangeStreamCaptureMode, (int *mode), cuThreadExchangeStreamCaptureMode(mode))

RUNTIME(cudaGraphCreate, (void **graph, unsigned flags), cuGraphCreate(graph, flags))
RUNTIME(cudaGraphInstantiateWithFlags, (void **exec, void *graph, unsigned long long flags),
	cuGraphInstantiateWithFlags(exec, graph, flags))
RUNTIME(cudaGraphInstantiate, (void **exec, void *graph, unsigned long long flags),
	cuGraphInstantiateWithFlags(exec, graph, flags))
RUNTIME(cudaGraphUpload, (void *exec, void *stream), cuGraphUpload(exec, stream))
RUNTIME(cudaGraphLaunch, (void *exec, void *stream), cuGraphLaunch(exec, stream))
RUNTIME(cudaGraphExecDestroy, (void *exec), cuGraphExecDestroy(exec))
RUNTIME(cudaGraphDestroy, (void *graph), cuGraphDestroy(graph))

/* ---- nodes ---- */

enum { /* cudaGraphNodeType */
	KERNEL = 0,
	MEMCPY = 1
};

/* A copy's parameters are laid out in another way than the driver's; torch adds none by hand. */
static int add_node(void **node, void *graph, void *const *deps, const void *edges, size_t n,
		    const struct sim_node_params *given)
{
	struct sim_node_params p = *given;

	if (p.type == KERNEL) {
		p.kernel.is.function = rt_kernel(p.kernel.is.function);
		p.kernel.kernel = NULL;
		if (!p.kernel.is.function)
			return RT_INVALID_FUNCTION;
	}
	if (p.type == MEMCPY) {
		gpusim_missing("libcudart.so.13", "cudaGraphAddNode of a copy");
		return SIM_NOT_SUPPORTED;
	}
	return cuGraphAddNode_v2(node, graph, deps, edges, n, &p);
}

RUNTIME(cudaGraphAddNode,
	(void **node, void *graph, void *const *deps, const void *edges, size_t n,
	 const struct sim_node_params *p),
	p ? add_node(node, graph, deps, edges, n, p) : SIM_INVALID_VALUE)
RUNTIME(cudaGraphGetNodes, (void *graph, void **nodes, size_t *n), cuGraphGetNodes(graph, nodes, n))
RUNTIME(cudaGraphNodeGetDependencies, (void *node, void **deps, uint64_t *edges, size_t *n),
	cuGraphNodeGetDependencies_v2(node, deps, edges, n))
RUNTIME(cudaGraphDebugDotPrint, (void *graph, const char *path, unsigned flags),
	cuGraphDebugDotPrint(graph, path, flags))
RUNTIME(cudaGraphConditionalHandleCreate,
	(uint64_t * handle, void *graph, unsigned value, unsigned flags),
	cuGraphConditionalHandleCreate(handle, graph, NULL, value, flags))

/* ---- what a graph owns ---- */

RUNTIME(cudaDeviceGetGraphMemAttribute, (int device, int attribute, void *value),
	cuDeviceGetGraphMemAttribute(device, attribute, value))
RUNTIME(cudaDeviceSetGraphMemAttribute, (int device, int attribute, void *value),
	cuDeviceSetGraphMemAttribute(device, attribute, value))
RUNTIME(cudaUserObjectCreate,
	(void **object, void *data, void (*destroy)(void *), unsigned refs, unsigned flags),
	cuUserObjectCreate(object, data, destroy, refs, flags))
RUNTIME(cudaUserObjectRelease, (void *object, unsigned n), cuUserObjectRelease(object, n))
RUNTIME(cudaGraphRetainUserObject, (void *graph, void *object, unsigned n, unsigned flags),
	cuGraphRetainUserObject(graph, object, n, flags))
