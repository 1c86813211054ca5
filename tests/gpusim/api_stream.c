/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_stream.c - streams and events.
 */
#include <stdlib.h>

#include "clock.h"
#include "driver.h"
#include "graph.h"
#include "state.h"
#include "submit.h"

#define EVENT_MAGIC 0x746e7665u
#define NON_BLOCKING 1

static int create(void **out, unsigned flags, int priority)
{
	struct sim_ctx *ctx = sim_ctx_current();
	struct sim_stream *s;

	if (!ctx)
		return SIM_INVALID_CONTEXT;
	s = calloc(1, sizeof *s);
	if (!s)
		return SIM_OUT_OF_MEMORY;
	sim_lock();
	sim_stream_init(s, ctx, sim_state.next_stream++, !(flags & NON_BLOCKING));
	sim_unlock();
	s->flags = flags;
	s->priority = priority;
	*out = s;
	return SIM_OK;
}

int cuStreamCreate(void **out, unsigned flags)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuStreamCreate);

	if (!rc)
		rc = create(out, flags, 0);
	return sim_call_end(&call, rc);
}

int cuStreamCreateWithPriority(void **out, unsigned flags, int priority)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuStreamCreateWithPriority);

	if (!rc)
		rc = create(out, flags, priority);
	return sim_call_end(&call, rc);
}

/* Its work goes on; pending work still points at the stream, whose memory therefore stays. */
static void destroy(struct sim_stream *s)
{
	bool busy;

	sim_lock();
	sim_stream_unlink(s);
	busy = s->tail.pending && !s->tail.pending->done;
	sim_when_set(&s->tail, (struct sim_when){ 0, NULL });
	s->magic = 0;
	sim_unlock();
	if (busy)
		return;
	free(s->ends);
	free(s);
}

int cuStreamDestroy_v2(void *handle)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuStreamDestroy_v2);
	struct sim_stream *s = rc ? NULL : sim_stream_get(handle);

	if (!rc && (!s || s == sim_stream_get(NULL)))
		rc = SIM_INVALID_HANDLE;
	if (!rc)
		destroy(s);
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuStreamDestroy, cuStreamDestroy_v2);

int cuStreamQuery(void *handle)
{
	struct sim_call call;
	uint64_t start = sim_now();
	int rc = sim_call_begin(&call, SIM_CBID_cuStreamQuery);
	struct sim_stream *s = rc ? NULL : sim_stream_get(handle);

	if (!rc && !s)
		rc = SIM_INVALID_HANDLE;
	if (!rc) {
		struct sim_when ready;

		sim_lock();
		ready = sim_stream_ready(s);
		rc = sim_when_past(&ready) ? SIM_OK : SIM_NOT_READY;
		sim_unlock();
		sim_note_query(SIM_SYNC_STREAM, s, NULL, start, rc);
	}
	return sim_call_end(&call, rc);
}

int cuStreamSynchronize(void *handle)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuStreamSynchronize);
	struct sim_stream *s = rc ? NULL : sim_stream_get(handle);

	if (!rc && !s)
		rc = SIM_INVALID_HANDLE;
	if (!rc) {
		uint64_t start = sim_now();
		struct sim_when ready;

		sim_lock();
		ready = sim_stream_ready(s);
		ready = sim_when_copy(&ready);
		sim_unlock();
		sim_when_wait(ready);
		sim_note_sync(SIM_SYNC_STREAM, s, NULL, start, rc);
	}
	return sim_call_end(&call, rc);
}

/* ---- what a stream is ---- */

static int of_stream(uint32_t cbid, void *handle,
		     void (*tell)(const struct sim_stream *s, void *out), void *out)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, cbid);
	struct sim_stream *s = rc ? NULL : sim_stream_get(handle);

	if (!rc && !s)
		rc = sim_ctx_current() ? SIM_INVALID_HANDLE : SIM_INVALID_CONTEXT;
	if (!rc && !out)
		rc = SIM_INVALID_VALUE;
	if (!rc)
		tell(s, out);
	return sim_call_end(&call, rc);
}

static void tell_priority(const struct sim_stream *s, void *out)
{
	*(int *)out = s->priority;
}

static void tell_flags(const struct sim_stream *s, void *out)
{
	*(unsigned *)out = s->flags;
}

static void tell_context(const struct sim_stream *s, void *out)
{
	*(struct sim_ctx **)out = s->ctx;
}

static void tell_device(const struct sim_stream *s, void *out)
{
	*(int *)out = (int)s->ctx->device;
}

/* Unique in the process: the numbers of the default streams repeat in each context. */
static void tell_id(const struct sim_stream *s, void *out)
{
	*(uint64_t *)out = (uint64_t)s->ctx->id << 32 | s->id;
}

int cuStreamGetPriority(void *stream, int *priority)
{
	return of_stream(SIM_CBID_cuStreamGetPriority, stream, tell_priority, priority);
}

int cuStreamGetFlags(void *stream, unsigned *flags)
{
	return of_stream(SIM_CBID_cuStreamGetFlags, stream, tell_flags, flags);
}

int cuStreamGetCtx(void *stream, void **ctx)
{
	return of_stream(SIM_CBID_cuStreamGetCtx, stream, tell_context, ctx);
}

int cuStreamGetDevice(void *stream, int *device)
{
	return of_stream(SIM_CBID_cuStreamGetDevice, stream, tell_device, device);
}

int cuStreamGetId(void *stream, uint64_t *id)
{
	return of_stream(SIM_CBID_cuStreamGetId, stream, tell_id, id);
}

/* ---- events ---- */

static struct sim_event *event_get(void *handle)
{
	struct sim_event *e = handle;

	return e && e->magic == EVENT_MAGIC ? e : NULL;
}

int cuEventCreate(void **out, unsigned flags)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuEventCreate);
	struct sim_event *e = rc ? NULL : calloc(1, sizeof *e);

	if (!rc && !sim_ctx_current())
		rc = SIM_INVALID_CONTEXT;
	else if (!rc && !e)
		rc = SIM_OUT_OF_MEMORY;
	if (!rc) {
		e->magic = EVENT_MAGIC;
		e->flags = flags;
		sim_lock();
		e->id = ++sim_state.next_event;
		sim_unlock();
		*out = e;
	} else {
		free(e);
	}
	return sim_call_end(&call, rc);
}

int cuEventDestroy_v2(void *handle)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuEventDestroy_v2);
	struct sim_event *e = event_get(handle);

	if (!rc && !e)
		rc = SIM_INVALID_HANDLE;
	if (!rc) {
		sim_lock();
		sim_when_set(&e->when, (struct sim_when){ 0, NULL });
		e->magic = 0;
		sim_unlock();
		free(e);
	}
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuEventDestroy, cuEventDestroy_v2);

/* The event's moment is that of the stream's tail, or now on a stream with nothing to do. */
static void record(struct sim_event *e, struct sim_stream *s)
{
	const struct sim_tracer *t = sim_tracer();
	struct sim_when ready = sim_stream_ready(s);
	struct sim_op where;

	ready.t = sim_max(ready.t, sim_now());
	sim_when_set(&e->when, ready);
	e->recorded = true;
	if (!t)
		return;
	sim_op_init(&where, SIM_MARKER, s);
	t->event_record(&where, e->id);
}

static int record_on(void *handle, void *stream)
{
	struct sim_stream *s = sim_stream_get(stream);
	struct sim_event *e = event_get(handle);

	if (!s || !e)
		return SIM_INVALID_HANDLE;
	sim_lock();
	if (!sim_capture_record(s, e))
		record(e, s);
	sim_unlock();
	return SIM_OK;
}

int cuEventRecord(void *handle, void *stream)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuEventRecord);

	if (!rc)
		rc = record_on(handle, stream);
	return sim_call_end(&call, rc);
}

/*
 * The flag makes a node of its own in a capture; here the event is the stream's moment in any case.
 */
int cuEventRecordWithFlags(void *handle, void *stream, unsigned flags)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuEventRecordWithFlags);

	if (!rc && flags > 1)
		rc = SIM_INVALID_VALUE;
	if (!rc)
		rc = record_on(handle, stream);
	return sim_call_end(&call, rc);
}

int cuEventQuery(void *handle)
{
	struct sim_call call;
	uint64_t start = sim_now();
	int rc = sim_call_begin(&call, SIM_CBID_cuEventQuery);
	struct sim_event *e = event_get(handle);

	if (!rc && !e)
		rc = SIM_INVALID_HANDLE;
	if (!rc && e->recorded) {
		sim_lock();
		rc = sim_when_past(&e->when) ? SIM_OK : SIM_NOT_READY;
		sim_unlock();
		if (sim_ctx_current())
			sim_note_query(SIM_SYNC_EVENT, sim_stream_get(NULL), e, start, rc);
	}
	return sim_call_end(&call, rc);
}

int cuEventSynchronize(void *handle)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuEventSynchronize);
	struct sim_event *e = event_get(handle);

	if (!rc && (!e || !sim_ctx_current()))
		rc = SIM_INVALID_HANDLE;
	if (!rc) {
		uint64_t start = sim_now();
		struct sim_when when;

		sim_lock();
		when = sim_when_copy(&e->when);
		sim_unlock();
		sim_when_wait(when);
		sim_note_sync(SIM_SYNC_EVENT, sim_stream_get(NULL), e, start, rc);
	}
	return sim_call_end(&call, rc);
}

int cuEventElapsedTime(float *ms, void *start, void *end)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuEventElapsedTime);
	struct sim_event *a = event_get(start), *b = event_get(end);

	if (!rc && (!a || !b || !a->recorded || !b->recorded))
		rc = SIM_INVALID_HANDLE;
	if (!rc) {
		sim_lock();
		if (!sim_when_past(&a->when) || !sim_when_past(&b->when))
			rc = SIM_NOT_READY;
		else
			*ms = (float)((double)(int64_t)(b->when.t - a->when.t) / 1e6);
		sim_unlock();
	}
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuEventElapsedTime_v2, cuEventElapsedTime);

int cuStreamWaitEvent(void *handle, void *event, unsigned flags)
{
	struct sim_call call;
	uint64_t start = sim_now();
	int rc = sim_call_begin(&call, SIM_CBID_cuStreamWaitEvent);
	struct sim_stream *s = rc ? NULL : sim_stream_get(handle);
	struct sim_event *e = event_get(event);
	bool captured;

	(void)flags;
	if (!rc && (!s || !e))
		rc = SIM_INVALID_HANDLE;
	if (!rc) {
		sim_lock();
		captured = sim_capture_wait(s, e);
		if (!captured && e->recorded) {
			struct sim_when both[2] = { s->tail, e->when };

			sim_when_set(&s->tail, sim_join(s, both, 2));
		}
		sim_unlock();
		if (!captured)
			sim_note_sync(SIM_SYNC_WAIT, s, e, start, rc);
	}
	return sim_call_end(&call, rc);
}
