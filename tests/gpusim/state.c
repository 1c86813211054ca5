/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.c - the process's contexts and streams, and the lock that guards them.
 */
#include "state.h"

#include <stdlib.h>
#include <string.h>

#include "call.h"

#define STREAM_MAGIC 0x6d727473u

struct sim_state sim_state = { .next_stream = 13, .pending_end = &sim_state.pending };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t resolved = PTHREAD_COND_INITIALIZER;

void sim_lock(void)
{
	pthread_mutex_lock(&lock);
}

void sim_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

void sim_wait_resolved(void)
{
	pthread_cond_wait(&resolved, &lock);
}

int sim_wait_resolved_until(pthread_cond_t *cond, const struct timespec *t)
{
	return pthread_cond_timedwait(cond, &lock, t);
}

void sim_tell_resolved(void)
{
	pthread_cond_broadcast(&resolved);
}

uint32_t sim_device_of(uint32_t physical)
{
	uint32_t i;

	for (i = 0; i < sim_state.devices && sim_state.physical[i] != physical; i++)
		;
	return i < sim_state.devices ? i : 0;
}

struct sim_ctx *sim_ctx_current(void)
{
	return sim_thread.current;
}

struct sim_stream *sim_stream_get(void *handle)
{
	struct sim_ctx *ctx = sim_thread.current;
	struct sim_stream *s = handle;

	if (!handle || handle == (void *)1)
		return ctx ? &ctx->null_stream : NULL;
	if (handle == (void *)2)
		return ctx ? &ctx->thread_stream : NULL;
	return s->magic == STREAM_MAGIC ? s : NULL;
}

void sim_stream_init(struct sim_stream *s, struct sim_ctx *ctx, uint32_t id, bool blocking)
{
	memset(s, 0, sizeof *s);
	s->magic = STREAM_MAGIC;
	s->id = id;
	s->ctx = ctx;
	s->blocking = blocking;
	s->next = ctx->streams;
	ctx->streams = s;
}

/*
 * What an H100 says at the beginning: stack, printf, heap, -, launches, fetches of L2, persisting.
 */
static const size_t limits[SIM_LIMITS] = { 1024, 1u << 20, 8u << 20, 0, 2048, 128, 0 };

/* The legacy stream is no "blocking stream": it is the one that those take turns with. */
struct sim_ctx *sim_ctx_new(uint32_t device)
{
	struct sim_ctx *ctx = calloc(1, sizeof *ctx);

	if (!ctx)
		return NULL;
	ctx->magic = 0x78746373;
	ctx->device = device;
	ctx->physical = sim_state.physical[device];
	ctx->id = ++sim_state.next_context;
	memcpy(ctx->limit, limits, sizeof limits);
	sim_stream_init(&ctx->null_stream, ctx, 7, false);
	sim_stream_init(&ctx->thread_stream, ctx, 8, true);
	ctx->next = sim_state.contexts;
	sim_state.contexts = ctx;
	return ctx;
}

void sim_stream_unlink(struct sim_stream *s)
{
	struct sim_stream **p;

	for (p = &s->ctx->streams; *p; p = &(*p)->next)
		if (*p == s) {
			*p = s->next;
			return;
		}
}
