/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_pool.c - allocation in a stream's order, and the pools it comes from. A pool keeps nothing
 * back: an allocation is new memory at once, and a free gives it up when the stream has come to it.
 */
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "driver.h"
#include "memory.h"
#include "ranges.h"
#include "state.h"
#include "submit.h"

#define POOL_MAGIC 0x6c6f6f70u

/* CUmemPool_attribute */
enum {
	REUSE_FIRST = 1,
	REUSE_LAST = 3,
	RELEASE_THRESHOLD = 4,
	RESERVED = 5,
	RESERVED_HIGH = 6,
	USED = 7,
	USED_HIGH = 8
};

struct sim_pool {
	uint32_t magic, device; /* as the process counts */
	int reuse[REUSE_LAST + 1];
	uint64_t threshold, used, high;
	unsigned access[16];
};

static struct sim_pool *defaults[16], *chosen[16];

static struct sim_pool *pool_get(void *handle)
{
	struct sim_pool *p = handle;

	return p && p->magic == POOL_MAGIC ? p : NULL;
}

static struct sim_pool *pool_new(uint32_t device)
{
	struct sim_pool *p = calloc(1, sizeof *p);
	int i;

	if (!p)
		return NULL;
	p->magic = POOL_MAGIC;
	p->device = device;
	p->access[device] = 3;
	for (i = REUSE_FIRST; i <= REUSE_LAST; i++)
		p->reuse[i] = 1;
	return p;
}

/* With the process's lock held. */
static struct sim_pool *pool_of(uint32_t device, struct sim_pool **list)
{
	if (!defaults[device])
		defaults[device] = pool_new(device);
	return list[device] ? list[device] : defaults[device];
}

/* The memory is of the device's primary context, or else of the current one. */
struct sim_ctx *sim_pool_context(struct sim_pool *p)
{
	struct sim_ctx *ctx = sim_state.primary[p->device];

	return ctx ? ctx : sim_ctx_current();
}

void sim_pool_count(struct sim_pool *p, int64_t bytes)
{
	sim_lock();
	p->used += (uint64_t)bytes;
	p->high = p->used > p->high ? p->used : p->high;
	sim_unlock();
}

/* ---- allocations ---- */

/* The pool of the stream's device where none is named. */
static int allocate(uint64_t *address, size_t bytes, struct sim_pool *pool, void *stream)
{
	struct sim_stream *s = sim_stream_get(stream);

	if (!s)
		return sim_ctx_current() ? SIM_INVALID_HANDLE : SIM_INVALID_CONTEXT;
	if (!address || !bytes)
		return SIM_INVALID_VALUE;
	if (s->capture)
		return SIM_NOT_SUPPORTED; /* a graph's own memory */
	if (!pool) {
		sim_lock();
		pool = pool_of(s->ctx->device, chosen);
		sim_unlock();
	}
	return pool ? sim_memory_from(pool, bytes, address) : SIM_OUT_OF_MEMORY;
}

int cuMemAllocAsync(uint64_t *address, size_t bytes, void *stream)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemAllocAsync);

	if (!rc)
		rc = allocate(address, bytes, NULL, stream);
	return sim_call_end(&call, rc);
}

int cuMemAllocFromPoolAsync(uint64_t *address, size_t bytes, void *pool, void *stream)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemAllocFromPoolAsync);

	if (!rc && !pool_get(pool))
		rc = SIM_INVALID_HANDLE;
	if (!rc)
		rc = allocate(address, bytes, pool, stream);
	return sim_call_end(&call, rc);
}

static void drop(void *address)
{
	sim_memory_drop((uint64_t)(uintptr_t)address);
}

/*
 * What the stream has before it has been told its time, and has moved its bytes, unless it waits
 * for something that is not known yet: then the free waits too.
 */
static int release(uint64_t address, void *stream)
{
	struct sim_stream *s = sim_stream_get(stream);
	struct sim_range range;
	struct sim_when ready;
	struct sim_work work = { .host = drop, .host_data = (void *)(uintptr_t)address };
	struct sim_op op;
	bool open;

	if (!s)
		return sim_ctx_current() ? SIM_INVALID_HANDLE : SIM_INVALID_CONTEXT;
	if (!sim_range_find(address, &range) || !range.owner || range.start != address)
		return SIM_INVALID_VALUE;
	if (s->capture)
		return SIM_NOT_SUPPORTED;
	sim_lock();
	ready = sim_stream_ready(s);
	open = ready.pending != NULL;
	if (open) {
		sim_op_init(&op, SIM_MARKER, s);
		sim_submit_work(s, &op, NULL, 0, &work);
	}
	sim_unlock();
	return open ? SIM_OK : sim_memory_drop(address);
}

int cuMemFreeAsync(uint64_t address, void *stream)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemFreeAsync);

	if (!rc)
		rc = release(address, stream);
	return sim_call_end(&call, rc);
}

/* ---- pools ---- */

static int get_pool(void **out, int device, struct sim_pool **list)
{
	if (device < 0 || (uint32_t)device >= sim_state.devices)
		return SIM_INVALID_DEVICE;
	sim_lock();
	*out = pool_of((uint32_t)device, list);
	sim_unlock();
	return *out ? SIM_OK : SIM_OUT_OF_MEMORY;
}

int cuDeviceGetDefaultMemPool(void **pool, int device)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuDeviceGetDefaultMemPool);

	if (!rc)
		rc = get_pool(pool, device, defaults);
	return sim_call_end(&call, rc);
}

int cuDeviceGetMemPool(void **pool, int device)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuDeviceGetMemPool);

	if (!rc)
		rc = get_pool(pool, device, chosen);
	return sim_call_end(&call, rc);
}

int cuDeviceSetMemPool(int device, void *pool)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuDeviceSetMemPool);

	if (!rc && (device < 0 || (uint32_t)device >= sim_state.devices))
		rc = SIM_INVALID_DEVICE;
	if (!rc && (!pool_get(pool) || pool_get(pool)->device != (uint32_t)device))
		rc = SIM_INVALID_VALUE;
	if (!rc)
		chosen[device] = pool;
	return sim_call_end(&call, rc);
}

static int pool_create(void **out, const struct sim_pool_wish *is)
{
	if (!out || !is || is->type != 1 || is->location.type != 1)
		return SIM_INVALID_VALUE;
	if (is->handles)
		return SIM_NOT_SUPPORTED; /* for other processes */
	if (is->location.id < 0 || (uint32_t)is->location.id >= sim_state.devices)
		return SIM_INVALID_DEVICE;
	*out = pool_new((uint32_t)is->location.id);
	return *out ? SIM_OK : SIM_OUT_OF_MEMORY;
}

int cuMemPoolCreate(void **pool, const struct sim_pool_wish *is)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemPoolCreate);

	if (!rc)
		rc = pool_create(pool, is);
	return sim_call_end(&call, rc);
}

/* It stays as long as something from it does: for good, a few bytes. */
int cuMemPoolDestroy(void *pool)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemPoolDestroy);
	struct sim_pool *p = pool_get(pool);

	if (!rc && (!p || p == defaults[p->device]))
		rc = SIM_INVALID_VALUE;
	if (!rc) {
		sim_lock();
		if (chosen[p->device] == p)
			chosen[p->device] = NULL;
		p->magic = 0;
		sim_unlock();
	}
	return sim_call_end(&call, rc);
}

/* It never holds more than is in use. */
int cuMemPoolTrimTo(void *pool, size_t keep)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemPoolTrimTo);

	(void)keep;
	if (!rc && !pool_get(pool))
		rc = SIM_INVALID_VALUE;
	return sim_call_end(&call, rc);
}

static int set_attribute(struct sim_pool *p, int attribute, const void *value)
{
	uint64_t n;

	if (!p || !value || attribute < REUSE_FIRST || attribute > USED_HIGH)
		return SIM_INVALID_VALUE;
	if (attribute <= REUSE_LAST) {
		memcpy(&p->reuse[attribute], value, sizeof p->reuse[attribute]);
		return SIM_OK;
	}
	memcpy(&n, value, sizeof n);
	if (attribute == RELEASE_THRESHOLD)
		p->threshold = n;
	else if (n || attribute == RESERVED || attribute == USED)
		return SIM_INVALID_VALUE; /* high marks can be set back, and nothing else */
	else
		p->high = p->used;
	return SIM_OK;
}

int cuMemPoolSetAttribute(void *pool, int attribute, void *value)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemPoolSetAttribute);

	if (!rc)
		rc = set_attribute(pool_get(pool), attribute, value);
	return sim_call_end(&call, rc);
}

static int get_attribute(const struct sim_pool *p, int attribute, void *value)
{
	uint64_t n;

	if (!p || !value || attribute < REUSE_FIRST || attribute > USED_HIGH)
		return SIM_INVALID_VALUE;
	if (attribute <= REUSE_LAST) {
		memcpy(value, &p->reuse[attribute], sizeof p->reuse[attribute]);
		return SIM_OK;
	}
	n = attribute == RELEASE_THRESHOLD			   ? p->threshold
	    : attribute == RESERVED_HIGH || attribute == USED_HIGH ? p->high
								   : p->used;
	memcpy(value, &n, sizeof n);
	return SIM_OK;
}

int cuMemPoolGetAttribute(void *pool, int attribute, void *value)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemPoolGetAttribute);

	if (!rc)
		rc = get_attribute(pool_get(pool), attribute, value);
	return sim_call_end(&call, rc);
}

/* Remembered, not enforced. */
static int set_access(struct sim_pool *p, const struct sim_access *list, size_t n)
{
	size_t i;

	if (!p || (n && !list))
		return SIM_INVALID_VALUE;
	for (i = 0; i < n; i++)
		if (list[i].location.type != 1 || list[i].location.id < 0 ||
		    (uint32_t)list[i].location.id >= sim_state.devices || list[i].flags > 3)
			return SIM_INVALID_VALUE;
	for (i = 0; i < n; i++)
		p->access[list[i].location.id] = list[i].flags;
	return SIM_OK;
}

int cuMemPoolSetAccess(void *pool, const struct sim_access *list, size_t n)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemPoolSetAccess);

	if (!rc)
		rc = set_access(pool_get(pool), list, n);
	return sim_call_end(&call, rc);
}

int cuMemPoolGetAccess(int *flags, void *pool, const struct sim_location *where)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemPoolGetAccess);

	if (!rc && (!pool_get(pool) || !where || where->type != 1 || where->id < 0 ||
		    (uint32_t)where->id >= sim_state.devices))
		rc = SIM_INVALID_VALUE;
	if (!rc)
		*flags = (int)pool_get(pool)->access[where->id];
	return sim_call_end(&call, rc);
}
