/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.c - devices, their properties, and which one a thread uses.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cudart.h"

#define MAX_DEVICES 16

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *primary[MAX_DEVICES];

static int count(int *n)
{
	int rc = rt_init();

	return rc ? rc : cuDeviceGetCount(n);
}

/* Without a device the count is told as well as the error. */
static int get_count(int *out)
{
	int n = 0, rc = count(&n);

	*out = n;
	return rc;
}

static int valid(int device)
{
	int n, rc = count(&n);

	if (rc)
		return rc;
	return device >= 0 && device < n && device < MAX_DEVICES ? SIM_OK : SIM_INVALID_DEVICE;
}

int rt_primary(int device, void **ctx)
{
	int rc = valid(device);

	if (rc)
		return rc;
	pthread_mutex_lock(&lock);
	if (!primary[device])
		rc = cuDevicePrimaryCtxRetain(&primary[device], device);
	*ctx = primary[device];
	pthread_mutex_unlock(&lock);
	return rc;
}

/* As since CUDA 12: choosing a device makes its context. */
static int set_device(int device)
{
	void *ctx;
	int rc = rt_primary(device, &ctx);

	return rc ? rc : cuCtxSetCurrent(ctx);
}

/* Asking makes no context. */
int rt_device(int *device)
{
	if (!device)
		return SIM_INVALID_VALUE;
	*device = 0;
	return cuCtxGetDevice(device) ? rt_init() : SIM_OK;
}

static int reset(void)
{
	int device, rc = rt_device(&device);

	if (rc)
		return rc;
	pthread_mutex_lock(&lock);
	primary[device] = NULL;
	rc = cuDevicePrimaryCtxReset_v2(device);
	pthread_mutex_unlock(&lock);
	return rc ? rc : cuCtxSetCurrent(NULL);
}

RUNTIME_EARLY(cudaGetDeviceCount, (int *n), get_count(n))
RUNTIME_EARLY(cudaGetDevice, (int *device), rt_device(device))
RUNTIME_EARLY(cudaSetDevice, (int device), set_device(device))
RUNTIME_EARLY(cudaDeviceReset, (void), reset())
RUNTIME(cudaDeviceSynchronize, (void), cuCtxSynchronize())
RUNTIME(cudaDeviceGetLimit, (size_t * value, int which), cuCtxGetLimit(value, which))
RUNTIME(cudaDeviceSetLimit, (int which, size_t value), cuCtxSetLimit(which, value))

/* ---- properties ---- */

#define AT(field) offsetof(struct rt_properties, field)
#define ELEMENT(field, i) (AT(field) + (i) * sizeof(int))

/* Which of the driver's attributes fills which field, by the fields' width. */
static const struct {
	int attribute;
	size_t at;
} ints[] = {
	{ 1, AT(threads_per_block) },
	{ 2, ELEMENT(block, 0) },
	{ 3, ELEMENT(block, 1) },
	{ 4, ELEMENT(block, 2) },
	{ 5, ELEMENT(grid, 0) },
	{ 6, ELEMENT(grid, 1) },
	{ 7, ELEMENT(grid, 2) },
	{ 10, AT(warp) },
	{ 12, AT(regs_per_block) },
	{ 16, AT(multiprocessors) },
	{ 18, AT(integrated) },
	{ 19, AT(maps_host) },
	{ 31, AT(concurrent_kernels) },
	{ 32, AT(ecc) },
	{ 33, AT(pci_bus) },
	{ 34, AT(pci_device) },
	{ 35, AT(tcc) },
	{ 37, AT(bus_width) },
	{ 38, AT(l2) },
	{ 39, AT(threads_per_multiprocessor) },
	{ 40, AT(copy_engines) },
	{ 41, AT(unified) },
	{ 50, AT(pci_domain) },
	{ 75, AT(major) },
	{ 76, AT(minor) },
	{ 78, AT(priorities) },
	{ 79, AT(global_l1) },
	{ 80, AT(local_l1) },
	{ 82, AT(regs_per_multiprocessor) },
	{ 83, AT(managed) },
	{ 84, AT(multi_board) },
	{ 85, AT(multi_board_group) },
	{ 86, AT(host_atomics) },
	{ 88, AT(pageable_access) },
	{ 89, AT(concurrent_managed) },
	{ 90, AT(preemption) },
	{ 91, AT(registered_pointer) },
	{ 95, AT(cooperative) },
	{ 99, AT(host_register) },
	{ 100, AT(host_page_tables) },
	{ 101, AT(direct_managed) },
	{ 106, AT(blocks_per_multiprocessor) },
	{ 108, AT(l2_persisting) },
	{ 109, AT(window) },
	{ 112, AT(sparse) },
	{ 113, AT(register_read_only) },
	{ 114, AT(timeline) },
	{ 115, AT(pools) },
	{ 116, AT(rdma) },
	{ 117, AT(rdma_flush) },
	{ 118, AT(rdma_ordering) },
	{ 119, AT(pool_handles) },
	{ 120, AT(cluster) },
	{ 121, AT(deferred) },
	{ 125, AT(ipc_event) },
	{ 130, AT(numa) },
	{ 131, AT(numa_id) },
	{ 133, AT(mps) },
	{ 134, AT(host_numa) },
	{ 139, AT(pci_ids) },
	{ 140, AT(pci_subsystem) },
};

static const struct {
	int attribute;
	size_t at;
} sizes[] = {
	{ 8, AT(shared_per_block) },
	{ 9, AT(constant) },
	{ 11, AT(pitch) },
	{ 14, AT(texture_alignment) },
	{ 30, AT(surface_alignment) },
	{ 51, AT(texture_pitch) },
	{ 81, AT(shared_per_multiprocessor) },
	{ 97, AT(shared_optin) },
	{ 111, AT(shared_reserved) },
};

/* The largest textures and surfaces stay 0: there are none. */
static int properties(struct rt_properties *p, int device)
{
	char *base = (char *)p;
	size_t i, wide;
	int value, rc = valid(device);

	if (rc)
		return rc;
	memset(p, 0, sizeof *p);
	rc = cuDeviceGetName(p->name, sizeof p->name, device);
	rc = rc ? rc : cuDeviceGetUuid_v2((struct sim_uuid *)p->uuid, device);
	rc = rc ? rc : cuDeviceTotalMem_v2(&p->memory, device);
	for (i = 0; !rc && i < sizeof ints / sizeof ints[0]; i++) {
		rc = cuDeviceGetAttribute(&value, ints[i].attribute, device);
		memcpy(base + ints[i].at, &value, sizeof value);
	}
	for (i = 0; !rc && i < sizeof sizes / sizeof sizes[0]; i++) {
		rc = cuDeviceGetAttribute(&value, sizes[i].attribute, device);
		wide = (size_t)value;
		memcpy(base + sizes[i].at, &wide, sizeof wide);
	}
	return rc;
}

static int attribute(int *value, int which, int device)
{
	int rc = valid(device);

	return rc ? rc : cuDeviceGetAttribute(value, which, device);
}

static int bus_id(char *id, int size, int device)
{
	int rc = valid(device);

	return rc ? rc : cuDeviceGetPCIBusId(id, size, device);
}

RUNTIME_EARLY(cudaGetDeviceProperties, (struct rt_properties * p, int device),
	      properties(p, device))
RUNTIME_EARLY(cudaDeviceGetAttribute, (int *value, int which, int device),
	      attribute(value, which, device))
RUNTIME_EARLY(cudaDeviceGetPCIBusId, (char *id, int size, int device), bus_id(id, size, device))

RUNTIME(cudaDeviceGetStreamPriorityRange, (int *least, int *greatest),
	cuCtxGetStreamPriorityRange(least, greatest))

/* ---- peers ---- */

static int can_access(int *can, int device, int peer)
{
	int rc = valid(device);

	return rc ? rc : cuDeviceCanAccessPeer(can, device, peer);
}

static int enable_peer(int peer, unsigned flags)
{
	void *ctx;
	int rc = rt_primary(peer, &ctx);

	return rc ? rc : cuCtxEnablePeerAccess(ctx, flags);
}

static int disable_peer(int peer)
{
	void *ctx;
	int rc = rt_primary(peer, &ctx);

	return rc ? rc : cuCtxDisablePeerAccess(ctx);
}

RUNTIME_EARLY(cudaDeviceCanAccessPeer, (int *can, int device, int peer),
	      can_access(can, device, peer))
RUNTIME(cudaDeviceEnablePeerAccess, (int peer, unsigned flags), enable_peer(peer, flags))
RUNTIME(cudaDeviceDisablePeerAccess, (int peer), disable_peer(peer))
