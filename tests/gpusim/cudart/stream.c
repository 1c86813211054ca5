/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.c - streams, events and host functions.
 */
#include "cudart.h"

RUNTIME(cudaStreamCreate, (void **stream), cuStreamCreate(stream, 0))
RUNTIME(cudaStreamCreateWithFlags, (void **stream, unsigned flags), cuStreamCreate(stream, flags))
RUNTIME(cudaStreamCreateWithPriority, (void **stream, unsigned flags, int priority),
	cuStreamCreateWithPriority(stream, flags, priority))
RUNTIME(cudaStreamGetPriority, (void *stream, int *priority), cuStreamGetPriority(stream, priority))
RUNTIME(cudaStreamGetId, (void *stream, unsigned long long *id),
	cuStreamGetId(stream, (uint64_t *)id))
RUNTIME(cudaStreamGetDevice, (void *stream, int *device), cuStreamGetDevice(stream, device))
RUNTIME(cudaStreamDestroy, (void *stream), cuStreamDestroy_v2(stream))
RUNTIME(cudaStreamSynchronize, (void *stream), cuStreamSynchronize(stream))
RUNTIME(cudaStreamQuery, (void *stream), cuStreamQuery(stream))
RUNTIME(cudaStreamWaitEvent, (void *stream, void *event, unsigned flags),
	cuStreamWaitEvent(stream, event, flags))
RUNTIME(cudaStreamAddCallback,
	(void *stream, void (*fn)(void *, int, void *), void *data, unsigned flags),
	cuStreamAddCallback(stream, fn, data, flags))
RUNTIME(cudaLaunchHostFunc, (void *stream, void (*fn)(void *), void *data),
	cuLaunchHostFunc(stream, fn, data))

RUNTIME(cudaEventCreate, (void **event), cuEventCreate(event, 0))
RUNTIME(cudaEventCreateWithFlags, (void **event, unsigned flags), cuEventCreate(event, flags))
RUNTIME(cudaEventDestroy, (void *event), cuEventDestroy_v2(event))
RUNTIME(cudaEventRecord, (void *event, void *stream), cuEventRecord(event, stream))

/* Within a capture an external record is a node of its own, which there is none of. */
#define EXTERNAL 1

static int record_with(void *event, void *stream, unsigned flags)
{
	int capturing = 0, rc;

	if (flags > EXTERNAL)
		return SIM_INVALID_VALUE;
	rc = flags ? cuStreamIsCapturing(stream, &capturing) : SIM_OK;
	if (!rc && capturing) {
		gpusim_missing("libcudart.so.13", "cudaEventRecordWithFlags, external");
		return SIM_NOT_SUPPORTED;
	}
	return rc ? rc : cuEventRecord(event, stream);
}

RUNTIME(cudaEventRecordWithFlags, (void *event, void *stream, unsigned flags),
	record_with(event, stream, flags))
RUNTIME(cudaEventSynchronize, (void *event), cuEventSynchronize(event))
RUNTIME(cudaEventQuery, (void *event), cuEventQuery(event))
RUNTIME(cudaEventElapsedTime, (float *ms, void *start, void *end),
	cuEventElapsedTime(ms, start, end))
