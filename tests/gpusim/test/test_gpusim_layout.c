/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records of one stand-in, read back through the structs of NVIDIA's own headers: built once
 * per CUPTI version, where the headers are installed.
 */
#include <cuda.h>
#include <cupti.h>
#include <pthread.h>

#include "../cupti/buffers.h"
#include "../cupti/external.h"
#include "../cupti/layout.h"
#include "../cupti/records.h"
#include "../cupti/subscriber.h"
#include "harness.h"

#if SIM_CUPTI_API >= 130000
#define KERNEL CUpti_ActivityKernel10
#elif SIM_CUPTI_API >= 19
#define KERNEL CUpti_ActivityKernel9
#else
#define KERNEL CUpti_ActivityKernel8
#endif

#if SIM_CUPTI_API >= 26
#define MEMCPY CUpti_ActivityMemcpy6
#define SYNC CUpti_ActivitySynchronization2
#define EVENT CUpti_ActivityCudaEvent2
#else
#define MEMCPY CUpti_ActivityMemcpy5
#define SYNC CUpti_ActivitySynchronization
#define EVENT CUpti_ActivityCudaEvent
#endif

#if SIM_CUPTI_API >= 21
#define GRAPH CUpti_ActivityGraphTrace2
#else
#define GRAPH CUpti_ActivityGraphTrace
#endif

#if SIM_CUPTI_API >= 20
#define DEVICE CUpti_ActivityDevice5
#else
#define DEVICE CUpti_ActivityDevice4
#endif

#if SIM_CUPTI_API >= 23
#define CONTEXT CUpti_ActivityContext3
#elif SIM_CUPTI_API >= 22
#define CONTEXT CUpti_ActivityContext2
#else
#define CONTEXT CUpti_ActivityContext
#endif

static uint64_t memory[4096];
static uint8_t *got;
static size_t got_size;

static void request(uint8_t **buffer, size_t *size, size_t *max)
{
	*buffer = (uint8_t *)memory;
	*size = sizeof memory;
	*max = 0;
}

static void complete(void *ctx, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	(void)ctx;
	(void)stream;
	(void)size;
	got = buffer;
	got_size = valid;
}

/* What one call left in the buffer: exactly one record of this size. */
static const void *taken(size_t size)
{
	got = NULL;
	got_size = 0;
	buf_flush(true);
	EXPECT_UINT(got_size, size);
	return got ? (const void *)got : memory;
}

static struct sim_op some_op(enum sim_kind kind)
{
	struct sim_op op = { .kind = (uint8_t)kind, .device = 3, .context = 4, .stream = 15 };

	op.correlation = 77;
	op.start = 1000001;
	op.end = 2000002;
	op.bytes = 123456;
	op.name = op.label = "layout_kernel";
	op.graph = 9;
	op.node = 0x900000002;
	return op;
}

static void test_kernel(void)
{
	struct sim_op op = some_op(SIM_KERNEL);
	const KERNEL *k;

	op.grid[0] = 5;
	op.grid[2] = 7;
	op.block[1] = 6;
	op.shared = 4096;
	rec_tracer.op(&op);
	k = taken(sizeof(KERNEL));
	EXPECT_INT(k->kind, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	EXPECT_UINT(k->start, 1000001);
	EXPECT_UINT(k->end, 2000002);
	EXPECT_UINT(k->deviceId, 3);
	EXPECT_UINT(k->contextId, 4);
	EXPECT_UINT(k->streamId, 15);
	EXPECT_UINT(k->correlationId, 77);
	EXPECT_UINT(k->graphId, 9);
	EXPECT_UINT(k->graphNodeId, 0x900000002);
	EXPECT_INT(k->gridX, 5);
	EXPECT_INT(k->gridZ, 7);
	EXPECT_INT(k->blockY, 6);
	EXPECT_INT(k->dynamicSharedMemory, 4096);
	EXPECT_INT(k->registersPerThread, 32);
	EXPECT_STR(k->name, "layout_kernel");
	EXPECT_UINT(k->queued, CUPTI_TIMESTAMP_UNKNOWN);
}

static void test_memcpy(void)
{
	struct sim_op op = some_op(SIM_MEMCPY);
	const MEMCPY *m;

	op.copy = SIM_H2D;
	op.src = SIM_PINNED;
	op.dst = SIM_DEVICE;
	op.async = true;
	rec_tracer.op(&op);
	m = taken(sizeof(MEMCPY));
	EXPECT_INT(m->kind, CUPTI_ACTIVITY_KIND_MEMCPY);
	EXPECT_INT(m->copyKind, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
	EXPECT_INT(m->srcKind, CUPTI_ACTIVITY_MEMORY_KIND_PINNED);
	EXPECT_INT(m->dstKind, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
	EXPECT_INT(m->flags, CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC);
	EXPECT_UINT(m->bytes, 123456);
	EXPECT_UINT(m->start, 1000001);
	EXPECT_UINT(m->end, 2000002);
	EXPECT_UINT(m->deviceId, 3);
	EXPECT_UINT(m->contextId, 4);
	EXPECT_UINT(m->streamId, 15);
	EXPECT_UINT(m->correlationId, 77);
	EXPECT_UINT(m->graphId, 9);
	EXPECT_UINT(m->graphNodeId, 0x900000002);
}

static void test_peer_copy(void)
{
	struct sim_op op = some_op(SIM_MEMCPY);
	const CUpti_ActivityMemcpyPtoP4 *m;

	op.copy = SIM_P2P;
	op.src = op.dst = SIM_DEVICE;
	op.from_device = 4;
	op.from_context = 7;
	op.peer_device = 5;
	op.peer_context = 6;
	rec_tracer.op(&op);
	m = taken(sizeof *m);
	EXPECT_INT(m->kind, CUPTI_ACTIVITY_KIND_MEMCPY2);
	EXPECT_INT(m->copyKind, CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);
	EXPECT_UINT(m->bytes, 123456);
	EXPECT_UINT(m->start, 1000001);
	EXPECT_UINT(m->end, 2000002);
	EXPECT_UINT(m->deviceId, 3);
	EXPECT_UINT(m->srcDeviceId, 4);
	EXPECT_UINT(m->srcContextId, 7);
	EXPECT_UINT(m->dstDeviceId, 5);
	EXPECT_UINT(m->dstContextId, 6);
	EXPECT_UINT(m->streamId, 15);
	EXPECT_UINT(m->correlationId, 77);
	EXPECT_UINT(m->graphId, 9);
}

static void test_memset(void)
{
	struct sim_op op = some_op(SIM_MEMSET);
	const CUpti_ActivityMemset4 *m;

	op.value = 255;
	op.dst = SIM_DEVICE;
	rec_tracer.op(&op);
	m = taken(sizeof *m);
	EXPECT_INT(m->kind, CUPTI_ACTIVITY_KIND_MEMSET);
	EXPECT_UINT(m->value, 255);
	EXPECT_UINT(m->bytes, 123456);
	EXPECT_UINT(m->start, 1000001);
	EXPECT_UINT(m->end, 2000002);
	EXPECT_UINT(m->deviceId, 3);
	EXPECT_UINT(m->contextId, 4);
	EXPECT_UINT(m->streamId, 15);
	EXPECT_UINT(m->correlationId, 77);
	EXPECT_INT(m->memoryKind, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
	EXPECT_UINT(m->graphId, 9);
}

static void test_graph(void)
{
	struct sim_op op = some_op(SIM_GRAPH);
	const GRAPH *g;

	rec_tracer.op(&op);
	g = taken(sizeof(GRAPH));
	EXPECT_INT(g->kind, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
	EXPECT_UINT(g->start, 1000001);
	EXPECT_UINT(g->end, 2000002);
	EXPECT_UINT(g->deviceId, 3);
	EXPECT_UINT(g->contextId, 4);
	EXPECT_UINT(g->streamId, 15);
	EXPECT_UINT(g->correlationId, 77);
	EXPECT_UINT(g->graphId, 9);
}

static void test_call(void)
{
	const CUpti_ActivityAPI *a;

	rec_tracer.call(SIM_DRIVER, 307, 11, 22, 33, 44, 2);
	a = taken(sizeof *a);
	EXPECT_INT(a->kind, CUPTI_ACTIVITY_KIND_DRIVER);
	EXPECT_INT(a->cbid, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
	EXPECT_UINT(a->start, 11);
	EXPECT_UINT(a->end, 22);
	EXPECT_UINT(a->correlationId, 33);
	EXPECT_UINT(a->threadId, (uint32_t)(uintptr_t)pthread_self());
	EXPECT_UINT(a->returnValue, 2);
	rec_config.system_tids = true;
	rec_tracer.call(SIM_DRIVER, 307, 11, 22, 33, 44, 2);
	a = taken(sizeof *a);
	EXPECT_UINT(a->threadId, 44);
	rec_config.system_tids = false;
}

static void test_external(void)
{
	const CUpti_ActivityExternalCorrelation *e;
	uint64_t id;

	EXPECT(ext_push(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1, 0x1234567890));
	rec_tracer.entered(SIM_RUNTIME, 211, 33);
	rec_tracer.call(SIM_RUNTIME, 211, 11, 22, 33, 44, 0);
	EXPECT(ext_pop(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1, &id));
	e = taken(sizeof *e + sizeof(CUpti_ActivityAPI));
	EXPECT_INT(e->kind, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
	EXPECT_INT(e->externalKind, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1);
	EXPECT_UINT(e->externalId, 0x1234567890);
	EXPECT_UINT(e->correlationId, 33);
	EXPECT_INT(e[1].kind, CUPTI_ACTIVITY_KIND_RUNTIME);
	EXPECT_INT(EXT_KINDS, CUPTI_EXTERNAL_CORRELATION_KIND_SIZE);
}

/* What callbacks are handed is NVIDIA's struct. */
static void test_callback_data(void)
{
	EXPECT_UINT(sizeof(struct sub_data), sizeof(CUpti_CallbackData));
#define SAME_PLACE(ours, theirs) \
	EXPECT_UINT(offsetof(struct sub_data, ours), offsetof(CUpti_CallbackData, theirs))
	SAME_PLACE(site, callbackSite);
	SAME_PLACE(function, functionName);
	SAME_PLACE(params, functionParams);
	SAME_PLACE(result, functionReturnValue);
	SAME_PLACE(symbol, symbolName);
	SAME_PLACE(context, context);
	SAME_PLACE(context_id, contextUid);
	SAME_PLACE(data, correlationData);
	SAME_PLACE(correlation, correlationId);
	EXPECT_INT(SUB_DOMAINS, CUPTI_CB_DOMAIN_SIZE - 1);
}

static void test_sync(void)
{
	struct sim_sync_info info = { .type = SIM_SYNC_WAIT, .start = 5, .end = 6 };
	const SYNC *s;

	info.correlation = 7;
	info.context = 8;
	info.stream = 9;
	info.event = 10;
	rec_tracer.sync(&info, NULL);
	s = taken(sizeof(SYNC));
	EXPECT_INT(s->kind, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
	EXPECT_INT(s->type, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT);
	EXPECT_UINT(s->start, 5);
	EXPECT_UINT(s->end, 6);
	EXPECT_UINT(s->correlationId, 7);
	EXPECT_UINT(s->contextId, 8);
	EXPECT_UINT(s->streamId, 9);
	EXPECT_UINT(s->cudaEventId, 10);
	EXPECT_UINT(CUPTI_SYNCHRONIZATION_INVALID_VALUE, SIM_SYNC_NONE);
}

static void test_event(void)
{
	struct sim_op where = some_op(SIM_MARKER);
	const EVENT *e;

	rec_tracer.event_record(&where, 12);
	e = taken(sizeof(EVENT));
	EXPECT_INT(e->kind, CUPTI_ACTIVITY_KIND_CUDA_EVENT);
	EXPECT_UINT(e->correlationId, 77);
	EXPECT_UINT(e->contextId, 4);
	EXPECT_UINT(e->streamId, 15);
	EXPECT_UINT(e->eventId, 12);
}

static void test_context(void)
{
	const CONTEXT *c;

	rec_tracer.context(6, 3, true);
	c = taken(sizeof(CONTEXT));
	EXPECT_INT(c->kind, CUPTI_ACTIVITY_KIND_CONTEXT);
	EXPECT_UINT(c->contextId, 6);
	EXPECT_UINT(c->deviceId, 3);
}

static uint32_t one(void)
{
	return 1;
}

static uint32_t itself(uint32_t device)
{
	return device;
}

static void test_device(void)
{
	const struct sim_export driver = { .device_count = one, .device_physical = itself };
	const DEVICE *d;

	rec_devices(&driver);
	d = taken(sizeof(DEVICE));
	EXPECT_INT(d->kind, CUPTI_ACTIVITY_KIND_DEVICE);
	EXPECT_UINT(d->id, 0);
	EXPECT_UINT(d->globalMemorySize, 85520809984u);
	EXPECT_UINT(d->numMultiprocessors, 132);
	EXPECT(strstr(d->name, "(simulated)") != NULL);
}

static void test_sizes(void)
{
	EXPECT_UINT(rec_size(REC_KERNEL), sizeof(KERNEL));
	EXPECT_UINT(rec_size(REC_OVERHEAD), SIM_CUPTI_API >= 22 ? sizeof(CUpti_ActivityOverhead3)
								: sizeof(CUpti_ActivityOverhead));
	EXPECT_UINT(rec_size(REC_MARKER), sizeof(CUpti_ActivityMarker2));
	EXPECT_UINT(rec_size(REC_MARKER_DATA), SIM_CUPTI_API >= 130000
						       ? sizeof(CUpti_ActivityMarkerData2)
						       : sizeof(CUpti_ActivityMarkerData));
	EXPECT_UINT(rec_size(REC_STREAM), sizeof(CUpti_ActivityStream));
	EXPECT_UINT(rec_size(REC_NAME), sizeof(CUpti_ActivityName));
	EXPECT_UINT(rec_size(REC_EXTERNAL_CORRELATION), sizeof(CUpti_ActivityExternalCorrelation));
}

int main(void)
{
	memset(rec_config.kind, true, sizeof rec_config.kind);
	buf_set_per_thread(false);
	buf_callbacks(request, complete);
	return RUN(test_kernel, test_memcpy, test_peer_copy, test_memset, test_graph, test_call,
		   test_external, test_callback_data, test_sync, test_event, test_context,
		   test_device, test_sizes);
}
