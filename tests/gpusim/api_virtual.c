/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_virtual.c - virtual memory by hand: reserved addresses, physical memory, and mappings of the
 * one to the other. Physical memory counts against its device as long as a handle or a mapping
 * holds it, and keeps its content meanwhile. Handles for other processes are not supported.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "config.h"
#include "driver.h"
#include "memory.h"
#include "ranges.h"
#include "state.h"
#include "submit.h"

#define PAGE (2u << 20) /* of the device: what sizes and addresses are whole numbers of */
#define PHYSICAL_MAGIC 0x73796870u

/* CUmemAllocationType, CUmemLocationType and CUmemAllocationHandleType */
enum {
	PINNED = 1,
	ON_DEVICE = 1,
	HANDLE_FD = 1
};

#define READ_WRITE 3 /* CUmemAccess_flags */

struct sim_physical {
	uint32_t magic, refs; /* handles that the program holds, and mappings */
	uint32_t held; /* the first of these alone */
	uint64_t size;
	struct sim_allocation is;
	uint32_t physical;
	unsigned access; /* as the program set it, for all mappings */
	void *pages; /* of all mappings */
};

struct reserved {
	uint64_t start, size;
	struct reserved *next;
};

static struct reserved *reservations;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool whole(uint64_t n)
{
	return n && !(n % PAGE);
}

static void *at(uint64_t address)
{
	return (void *)(uintptr_t)address;
}

/* ---- addresses ---- */

static struct reserved **reserved_find(uint64_t start, uint64_t size)
{
	struct reserved **r;

	for (r = &reservations; *r; r = &(*r)->next)
		if (start >= (*r)->start && size <= (*r)->size &&
		    start - (*r)->start <= (*r)->size - size)
			return r;
	return NULL;
}

/* More than is asked for, so that it can begin at a multiple of the alignment. */
static void *map_aligned(uint64_t size, uint64_t align)
{
	uint64_t room = size + align, skip;
	char *p;

	if (room < size)
		return NULL;
	p = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	skip = (align - (uintptr_t)p % align) % align;
	if (skip)
		munmap(p, skip);
	if (align - skip)
		munmap(p + skip + size, align - skip);
	return p + skip;
}

static int reserve(uint64_t *address, uint64_t size, uint64_t align, uint64_t flags)
{
	struct reserved *r;
	void *p;

	if (!align)
		align = PAGE;
	if (!address || !whole(size) || !whole(align) || (align & (align - 1)) || flags)
		return SIM_INVALID_VALUE;
	r = malloc(sizeof *r);
	p = r ? map_aligned(size, align) : NULL;
	if (!p) {
		free(r);
		return SIM_OUT_OF_MEMORY;
	}
	r->start = *address = (uint64_t)(uintptr_t)p;
	r->size = size;
	pthread_mutex_lock(&lock);
	r->next = reservations;
	reservations = r;
	pthread_mutex_unlock(&lock);
	return SIM_OK;
}

/* The address that a program would like is only a wish. */
int cuMemAddressReserve(uint64_t *address, size_t size, size_t align, uint64_t wish, uint64_t flags)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemAddressReserve);

	(void)wish;
	if (!rc)
		rc = reserve(address, size, align, flags);
	return sim_call_end(&call, rc);
}

static bool mapped_within(uint64_t start, uint64_t size)
{
	struct sim_range range;
	uint64_t p;

	for (p = start; p < start + size; p += PAGE)
		if (sim_range_find(p, &range))
			return true;
	return false;
}

/* Whole reservations, and nothing mapped in them. */
static int unreserve(uint64_t address, uint64_t size)
{
	struct reserved **at_, *r = NULL;

	pthread_mutex_lock(&lock);
	at_ = reserved_find(address, size);
	if (at_ && (*at_)->start == address && (*at_)->size == size &&
	    !mapped_within(address, size)) {
		r = *at_;
		*at_ = r->next;
	}
	pthread_mutex_unlock(&lock);
	if (!r)
		return SIM_INVALID_VALUE;
	munmap(at(address), size);
	free(r);
	return SIM_OK;
}

int cuMemAddressFree(uint64_t address, size_t size)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemAddressFree);

	if (!rc)
		rc = unreserve(address, size);
	return sim_call_end(&call, rc);
}

/* ---- physical memory ---- */

static struct sim_physical *physical_get(uint64_t handle)
{
	struct sim_physical *p = at(handle);

	return p && p->magic == PHYSICAL_MAGIC ? p : NULL;
}

/*
 * On a device that there is, for this process or for others by descriptors: those are not given
 * out.
 */
static int check(const struct sim_allocation *is)
{
	if (!is || is->type != PINNED || is->location.type != ON_DEVICE)
		return SIM_INVALID_VALUE;
	if (is->location.id < 0 || (uint32_t)is->location.id >= sim_state.devices)
		return SIM_INVALID_DEVICE;
	return is->handles & ~HANDLE_FD ? SIM_NOT_SUPPORTED : SIM_OK;
}

static int create(uint64_t *handle, uint64_t size, const struct sim_allocation *is, uint64_t flags)
{
	struct sim_physical *p;
	int rc = check(is);

	if (rc || !handle || !whole(size) || flags)
		return rc ? rc : SIM_INVALID_VALUE;
	p = calloc(1, sizeof *p);
	if (!p)
		return SIM_OUT_OF_MEMORY;
	*p = (struct sim_physical){
		.magic = PHYSICAL_MAGIC, .refs = 1, .held = 1, .size = size, .is = *is
	};
	p->physical = sim_state.physical[is->location.id];
	p->pages = mmap(NULL, size, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p->pages == MAP_FAILED)
		goto fail;
	if (!sim_memory_account(p->physical, (int64_t)size))
		goto unmap;
	*handle = (uint64_t)(uintptr_t)p;
	return SIM_OK;
unmap:
	munmap(p->pages, size);
fail:
	free(p);
	return SIM_OUT_OF_MEMORY;
}

int cuMemCreate(uint64_t *handle, size_t size, const struct sim_allocation *is, uint64_t flags)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemCreate);

	if (!rc)
		rc = create(handle, size, is, flags);
	return sim_call_end(&call, rc);
}

/* With the lock held. */
static void put(struct sim_physical *p)
{
	if (--p->refs)
		return;
	p->magic = 0;
	sim_memory_account(p->physical, -(int64_t)p->size);
	munmap(p->pages, p->size);
	free(p);
}

static int release(uint64_t handle)
{
	struct sim_physical *p;
	int rc = SIM_INVALID_VALUE;

	pthread_mutex_lock(&lock);
	p = physical_get(handle);
	if (p && p->held) {
		p->held--;
		put(p);
		rc = SIM_OK;
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

int cuMemRelease(uint64_t handle)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemRelease);

	if (!rc)
		rc = release(handle);
	return sim_call_end(&call, rc);
}

int cuMemGetAllocationGranularity(size_t *granularity, const struct sim_allocation *is, int option)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemGetAllocationGranularity);

	if (!rc && (!granularity || option < 0 || option > 1))
		rc = SIM_INVALID_VALUE;
	if (!rc)
		rc = check(is);
	if (!rc)
		*granularity = PAGE;
	return sim_call_end(&call, rc);
}

int cuMemGetAllocationPropertiesFromHandle(struct sim_allocation *is, uint64_t handle)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemGetAllocationPropertiesFromHandle);
	const struct sim_physical *p = rc ? NULL : physical_get(handle);

	if (!rc && (!p || !is))
		rc = SIM_INVALID_VALUE;
	if (!rc)
		*is = p->is;
	return sim_call_end(&call, rc);
}

static int retain(uint64_t *handle, uint64_t address)
{
	struct sim_range range;
	int rc = SIM_INVALID_VALUE;

	pthread_mutex_lock(&lock);
	if (handle && sim_range_find(address, &range) && range.mapped) {
		range.mapped->refs++;
		range.mapped->held++;
		*handle = (uint64_t)(uintptr_t)range.mapped;
		rc = SIM_OK;
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

int cuMemRetainAllocationHandle(uint64_t *handle, void *address)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemRetainAllocationHandle);

	if (!rc)
		rc = retain(handle, (uint64_t)(uintptr_t)address);
	return sim_call_end(&call, rc);
}

int cuMemExportToShareableHandle(void *out, uint64_t handle, int type, uint64_t flags)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemExportToShareableHandle);

	(void)out;
	(void)type;
	(void)flags;
	if (!rc)
		rc = physical_get(handle) ? SIM_NOT_SUPPORTED : SIM_INVALID_VALUE;
	return sim_call_end(&call, rc);
}

int cuMemImportFromShareableHandle(uint64_t *handle, void *from, int type)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemImportFromShareableHandle);

	(void)handle;
	(void)from;
	(void)type;
	return sim_call_end(&call, rc ? rc : SIM_NOT_SUPPORTED);
}

/* ---- mappings ---- */

static int protection(void)
{
	return sim_config()->data ? PROT_READ | PROT_WRITE : PROT_NONE;
}

/* A mapping shows the same pages as any other of this memory: mremap of nothing makes it. */
static bool show(const struct sim_physical *p, uint64_t address)
{
	if (mremap(p->pages, 0, p->size, MREMAP_MAYMOVE | MREMAP_FIXED, at(address)) == MAP_FAILED)
		return false;
	mprotect(at(address), p->size, protection());
	return true;
}

static bool hide(uint64_t address, uint64_t size)
{
	return mmap(at(address), size, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED;
}

/* All of an allocation, into reserved addresses where nothing is. */
static int map(uint64_t address, uint64_t size, struct sim_physical *p)
{
	struct sim_range range = {
		.start = address, .size = size, .kind = SIM_DEVICE, .mapped = p
	};

	if (!p || size != p->size || address % PAGE || !reserved_find(address, size) ||
	    mapped_within(address, size))
		return SIM_INVALID_VALUE;
	range.physical = p->physical;
	if (!show(p, address))
		return SIM_OUT_OF_MEMORY;
	if (sim_range_add(&range)) {
		hide(address, size);
		return SIM_OUT_OF_MEMORY;
	}
	p->refs++;
	return SIM_OK;
}

int cuMemMap(uint64_t address, size_t size, size_t offset, uint64_t handle, uint64_t flags)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemMap);

	if (!rc && (offset || flags))
		rc = SIM_INVALID_VALUE;
	if (!rc) {
		pthread_mutex_lock(&lock);
		rc = map(address, size, physical_get(handle));
		pthread_mutex_unlock(&lock);
	}
	return sim_call_end(&call, rc);
}

/* Whole mappings, one or several in a row. */
static int unmap(uint64_t address, uint64_t size)
{
	struct sim_range range;
	uint64_t p;

	for (p = address; p - address < size; p += range.size)
		if (!sim_range_find(p, &range) || !range.mapped || range.start != p ||
		    range.size > size - (p - address))
			return SIM_INVALID_VALUE;
	for (p = address; p - address < size; p += range.size) {
		sim_range_remove(p, &range);
		put(range.mapped);
	}
	hide(address, size);
	return SIM_OK;
}

/* Waits for the work of the context, as the driver may. */
int cuMemUnmap(uint64_t address, size_t size)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemUnmap);

	if (!rc && !whole(size))
		rc = SIM_INVALID_VALUE;
	if (!rc) {
		if (sim_ctx_current())
			sim_context_wait(sim_ctx_current());
		pthread_mutex_lock(&lock);
		rc = unmap(address, size);
		pthread_mutex_unlock(&lock);
	}
	return sim_call_end(&call, rc);
}

/* Who may reach it is remembered and not enforced. */
static int set_access(uint64_t address, uint64_t size, const struct sim_access *list, size_t n)
{
	struct sim_range range;
	uint64_t p;
	size_t i;

	for (i = 0; i < n; i++)
		if (list[i].location.type != ON_DEVICE || list[i].location.id < 0 ||
		    (uint32_t)list[i].location.id >= sim_state.devices ||
		    (list[i].flags & ~READ_WRITE))
			return SIM_INVALID_VALUE;
	for (p = address; p - address < size; p = range.start + range.size) {
		if (!sim_range_find(p, &range) || !range.mapped)
			return SIM_INVALID_VALUE;
		for (i = 0; i < n; i++) {
			unsigned shift = 2 * (unsigned)list[i].location.id;

			range.mapped->access &= ~(3u << shift);
			range.mapped->access |= list[i].flags << shift;
		}
	}
	return SIM_OK;
}

int cuMemSetAccess(uint64_t address, size_t size, const struct sim_access *list, size_t n)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemSetAccess);

	if (!rc && (!whole(size) || !list || !n))
		rc = SIM_INVALID_VALUE;
	if (!rc) {
		pthread_mutex_lock(&lock);
		rc = set_access(address, size, list, n);
		pthread_mutex_unlock(&lock);
	}
	return sim_call_end(&call, rc);
}

int cuMemGetAccess(uint64_t *flags, const struct sim_location *where, uint64_t address)
{
	struct sim_call call;
	struct sim_range range;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemGetAccess);

	if (!rc && (!flags || !where || where->type != ON_DEVICE || where->id < 0 ||
		    (uint32_t)where->id >= sim_state.devices))
		rc = SIM_INVALID_VALUE;
	if (!rc && (!sim_range_find(address, &range) || !range.mapped))
		rc = SIM_INVALID_VALUE;
	if (!rc)
		*flags = range.mapped->access >> 2 * where->id & 3;
	return sim_call_end(&call, rc);
}
