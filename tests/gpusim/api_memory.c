/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_memory.c - allocations. Device memory is reserved address space; it has content only with
 * GPUSIM_DATA=1 or a stand-in library in the process (zero at first), and a free gives its pages
 * up. Managed memory, which the host uses as well, always has content.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "clock.h"
#include "config.h"
#include "driver.h"
#include "memory.h"
#include "ranges.h"
#include "shm.h"
#include "state.h"
#include "submit.h"

#define PAGE 4096u
#define PITCH 512u /* what rows of a pitched allocation are rounded up to */

/* ---- device memory ---- */

static uint64_t round_up(uint64_t n)
{
	return (n + 511) / 512 * 512;
}

bool sim_memory_account(uint32_t physical, int64_t bytes)
{
	struct sim_device *d = &sim_shm()->device[physical];
	struct sim_proc *p = &sim_shm()->proc[sim_proc_slot()];
	bool fits;

	sim_device_lock(d);
	fits = bytes < 0 || d->memory_used + (uint64_t)bytes <= sim_config()->unit[physical].memory;
	if (fits) {
		d->memory_used += (uint64_t)bytes;
		p->memory[physical] += (uint64_t)bytes;
	}
	sim_device_unlock(d);
	return fits;
}

static int protection(enum sim_memory kind)
{
	return sim_config()->data || kind == SIM_MANAGED ? PROT_READ | PROT_WRITE : PROT_NONE;
}

static int allocate(struct sim_ctx *ctx, enum sim_memory kind, size_t bytes, struct sim_pool *pool,
		    uint64_t *out)
{
	uint64_t size = round_up(bytes);
	struct sim_range range;
	void *p;

	if (!bytes)
		return SIM_INVALID_VALUE;
	if (size < bytes || !sim_memory_account(ctx->physical, (int64_t)size))
		return SIM_OUT_OF_MEMORY;
	p = mmap(NULL, size, protection(kind), MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	range = (struct sim_range){ .start = (uint64_t)(uintptr_t)p,
				    .size = size,
				    .kind = kind,
				    .physical = ctx->physical,
				    .owner = ctx,
				    .pool = pool };
	if (p == MAP_FAILED || sim_range_add(&range)) {
		sim_memory_account(ctx->physical, -(int64_t)size);
		return SIM_OUT_OF_MEMORY;
	}
	*out = range.start;
	return SIM_OK;
}

int sim_memory_alloc(enum sim_memory kind, size_t bytes, uint64_t *out)
{
	struct sim_ctx *ctx = sim_ctx_current();

	if (!ctx)
		return SIM_INVALID_CONTEXT;
	sim_sleep_until(sim_now() + sim_config()->malloc_ns);
	return allocate(ctx, kind, bytes, NULL, out);
}

int sim_memory_from(struct sim_pool *pool, size_t bytes, uint64_t *out)
{
	int rc = allocate(sim_pool_context(pool), SIM_DEVICE, bytes, pool, out);

	if (!rc)
		sim_pool_count(pool, (int64_t)round_up(bytes));
	return rc;
}

static void give_back(const struct sim_range *range)
{
	sim_memory_account(range->physical, -(int64_t)range->size);
	if (range->pool)
		sim_pool_count(range->pool, -(int64_t)range->size);
	munmap((void *)(uintptr_t)range->start, range->size);
}

int sim_memory_drop(uint64_t address)
{
	struct sim_range range;

	if (!sim_range_find(address, &range) || !range.owner || !sim_range_remove(address, &range))
		return SIM_INVALID_VALUE;
	give_back(&range);
	return SIM_OK;
}

int sim_memory_free(uint64_t address)
{
	struct sim_stream *s = sim_stream_get(NULL);
	struct sim_range range;

	if (!sim_range_find(address, &range) || !range.owner || range.start != address)
		return SIM_INVALID_VALUE;
	if (s)
		sim_context_wait(s->ctx);
	return sim_memory_drop(address);
}

void sim_memory_release(const struct sim_ctx *ctx)
{
	struct sim_range range;

	while (sim_range_take(ctx, &range))
		give_back(&range);
}

static void open_range(const struct sim_range *range)
{
	if (range->kind == SIM_DEVICE || range->kind == SIM_ARRAY)
		mprotect((void *)(uintptr_t)range->start, range->size, PROT_READ | PROT_WRITE);
}

void sim_memory_open(void)
{
	sim_range_each(open_range);
}

int cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemAlloc_v2);

	if (!rc)
		rc = sim_memory_alloc(SIM_DEVICE, bytes, address);
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuMemAlloc, cuMemAlloc_v2);

static int pitched(uint64_t *address, size_t *pitch, size_t width, size_t height, unsigned element)
{
	size_t row = (width + PITCH - 1) / PITCH * PITCH;
	size_t bytes;
	int rc;

	if (!address || !pitch || (element != 4 && element != 8 && element != 16))
		return SIM_INVALID_VALUE;
	if (row < width || __builtin_mul_overflow(row, height, &bytes))
		return SIM_OUT_OF_MEMORY;
	rc = sim_memory_alloc(SIM_DEVICE, bytes, address);
	if (!rc)
		*pitch = row;
	return rc;
}

int cuMemAllocPitch_v2(uint64_t *address, size_t *pitch, size_t width, size_t height,
		       unsigned element)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemAllocPitch_v2);

	if (!rc)
		rc = pitched(address, pitch, width, height, element);
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuMemAllocPitch, cuMemAllocPitch_v2);

/* It never moves: what a device or the host touches is there. */
int cuMemAllocManaged(uint64_t *address, size_t bytes, unsigned flags)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemAllocManaged);

	if (!rc && flags != 1 && flags != 2) /* attached to all streams, to the host */
		rc = SIM_INVALID_VALUE;
	if (!rc)
		rc = sim_memory_alloc(SIM_MANAGED, bytes, address);
	return sim_call_end(&call, rc);
}

int cuMemFree_v2(uint64_t address)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemFree_v2);

	if (!rc && address)
		rc = sim_memory_free(address);
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuMemFree, cuMemFree_v2);

int cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
	struct sim_call call;
	struct sim_ctx *ctx = sim_ctx_current();
	int rc = sim_call_begin(&call, SIM_CBID_cuMemGetInfo_v2);

	if (!rc && !ctx)
		rc = SIM_INVALID_CONTEXT;
	if (!rc) {
		*total = sim_config()->unit[ctx->physical].memory;
		*free_bytes = *total - sim_shm()->device[ctx->physical].memory_used;
	}
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuMemGetInfo, cuMemGetInfo_v2);

int cuMemGetAddressRange_v2(uint64_t *base, size_t *size, uint64_t address)
{
	struct sim_call call;
	struct sim_range range;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemGetAddressRange_v2);

	if (!rc && (!sim_range_find(address, &range) || range.kind == SIM_PINNED))
		rc = SIM_NOT_FOUND;
	if (!rc && base)
		*base = range.start;
	if (!rc && size)
		*size = range.size;
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuMemGetAddressRange, cuMemGetAddressRange_v2);

/* ---- wishes about managed memory, which never moves ---- */

static int wish(uint32_t cbid, uint64_t address, size_t bytes, bool good)
{
	struct sim_call call;
	struct sim_range range;
	int rc = sim_call_begin(&call, cbid);

	if (!rc && (!good || !bytes || !sim_range_find(address, &range) ||
		    range.kind != SIM_MANAGED || bytes > range.size - (address - range.start)))
		rc = SIM_INVALID_VALUE;
	return sim_call_end(&call, rc);
}

#define ADVICE_LAST 6 /* CU_MEM_ADVISE_UNSET_ACCESSED_BY */

int cuMemAdvise(uint64_t address, size_t bytes, int advice, int device)
{
	(void)device;
	return wish(SIM_CBID_cuMemAdvise, address, bytes, advice > 0 && advice <= ADVICE_LAST);
}

int cuMemAdvise_v2(uint64_t address, size_t bytes, int advice, struct sim_location where)
{
	(void)where;
	return wish(SIM_CBID_cuMemAdvise_v2, address, bytes, advice > 0 && advice <= ADVICE_LAST);
}

int cuMemPrefetchAsync(uint64_t address, size_t bytes, int device, void *stream)
{
	(void)device;
	return wish(SIM_CBID_cuMemPrefetchAsync, address, bytes, sim_stream_get(stream) != NULL);
}

int cuMemPrefetchAsync_v2(uint64_t address, size_t bytes, struct sim_location where, unsigned flags,
			  void *stream)
{
	(void)where;
	return wish(SIM_CBID_cuMemPrefetchAsync_v2, address, bytes,
		    !flags && sim_stream_get(stream) != NULL);
}

/* ---- host memory ---- */

static int pin(void *p, size_t bytes)
{
	struct sim_range range = { .start = (uint64_t)(uintptr_t)p,
				   .size = bytes,
				   .kind = SIM_PINNED };

	return sim_range_add(&range) ? SIM_OUT_OF_MEMORY : SIM_OK;
}

static int host_alloc(void **out, size_t bytes)
{
	void *p;

	if (!sim_ctx_current())
		return SIM_INVALID_CONTEXT;
	if (!bytes)
		return SIM_INVALID_VALUE;
	sim_sleep_until(sim_now() + sim_config()->malloc_ns);
	if (posix_memalign(&p, PAGE, bytes))
		return SIM_OUT_OF_MEMORY;
	if (pin(p, bytes)) {
		free(p);
		return SIM_OUT_OF_MEMORY;
	}
	*out = p;
	return SIM_OK;
}

int cuMemHostAlloc(void **address, size_t bytes, unsigned flags)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemHostAlloc);

	(void)flags;
	if (!rc)
		rc = host_alloc(address, bytes);
	return sim_call_end(&call, rc);
}

int cuMemAllocHost_v2(void **address, size_t bytes)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemAllocHost_v2);

	if (!rc)
		rc = host_alloc(address, bytes);
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuMemAllocHost, cuMemAllocHost_v2);

int cuMemFreeHost(void *address)
{
	struct sim_call call;
	struct sim_range range;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemFreeHost);

	if (!rc && !sim_range_remove((uint64_t)(uintptr_t)address, &range))
		rc = SIM_INVALID_VALUE;
	if (!rc)
		free(address);
	return sim_call_end(&call, rc);
}

int cuMemHostRegister_v2(void *address, size_t bytes, unsigned flags)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemHostRegister_v2);

	(void)flags;
	if (!rc && (!address || !bytes))
		rc = SIM_INVALID_VALUE;
	if (!rc)
		rc = pin(address, bytes);
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuMemHostRegister, cuMemHostRegister_v2);

int cuMemHostUnregister(void *address)
{
	struct sim_call call;
	struct sim_range range;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemHostUnregister);

	if (!rc && !sim_range_remove((uint64_t)(uintptr_t)address, &range))
		rc = SIM_INVALID_VALUE;
	return sim_call_end(&call, rc);
}

/* One address space: pinned memory is where it is, for the device too. */
int cuMemHostGetDevicePointer_v2(uint64_t *out, void *address, unsigned flags)
{
	struct sim_call call;
	struct sim_range range;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemHostGetDevicePointer_v2);

	if (!rc && (flags || !sim_range_find((uint64_t)(uintptr_t)address, &range) ||
		    range.kind != SIM_PINNED))
		rc = SIM_INVALID_VALUE;
	if (!rc)
		*out = (uint64_t)(uintptr_t)address;
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuMemHostGetDevicePointer, cuMemHostGetDevicePointer_v2);

/* All pinned memory can be reached by all devices, as if each had been asked for that. */
int cuMemHostGetFlags(unsigned *flags, void *address)
{
	struct sim_call call;
	struct sim_range range;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemHostGetFlags);

	if (!rc && (!flags || !sim_range_find((uint64_t)(uintptr_t)address, &range) ||
		    range.kind != SIM_PINNED))
		rc = SIM_INVALID_VALUE;
	if (!rc)
		*flags = 3; /* CU_MEMHOSTALLOC_PORTABLE, _DEVICEMAP */
	return sim_call_end(&call, rc);
}
