/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph.c - graphs and the capture of streams.
 */
#include "cudart.h"

RUNTIME(cudaStreamBeginCapture, (void *stream, int mode), cuStreamBeginCapture_v2(stream, mode))
RUNTIME(cudaStreamEndCapture, (void *stream, void **graph), cuStreamEndCapture(stream, graph))
RUNTIME(cudaStreamIsCapturing, (void *stream, int *status), cuStreamIsCapturing(stream, status))
RUNTIME(cudaGraphCreate, (void **graph, unsigned flags), cuGraphCreate(graph, flags))
RUNTIME(cudaGraphInstantiateWithFlags, (void **exec, void *graph, unsigned long long flags),
	cuGraphInstantiateWithFlags(exec, graph, flags))
RUNTIME(cudaGraphUpload, (void *exec, void *stream), cuGraphUpload(exec, stream))
RUNTIME(cudaGraphLaunch, (void *exec, void *stream), cuGraphLaunch(exec, stream))
RUNTIME(cudaGraphExecDestroy, (void *exec), cuGraphExecDestroy(exec))
RUNTIME(cudaGraphDestroy, (void *graph), cuGraphDestroy(graph))
