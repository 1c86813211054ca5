/* SPDX-License-Identifier: Apache-2.0 */
/*
 * types.h - what the CUDA runtime's calls take and fill in, in the layouts of CUDA 13. A test
 * compares them with NVIDIA's headers where those are installed (test/test_gpusim_cudart_layout.c).
 * What has the driver's layout is the driver's struct.
 */
#ifndef SIM_CUDART_TYPES_H
#define SIM_CUDART_TYPES_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "../driver.h"

/* dim3 */
struct rt_dim {
	unsigned x, y, z;
};

/*
 * cudaDeviceProp of CUDA 13: field by field, in groups of what is filled in from the driver alike.
 */
struct rt_properties {
	char name[256];
	uint8_t uuid[16], luid[8];
	unsigned luid_mask;
	size_t memory, shared_per_block;
	int regs_per_block, warp;
	size_t pitch;
	int threads_per_block, block[3], grid[3];
	size_t constant;
	int major, minor;
	size_t texture_alignment, texture_pitch;
	int multiprocessors, integrated, maps_host;
	int textures[25], surfaces[14];
	size_t surface_alignment;
	int concurrent_kernels, ecc, pci_bus, pci_device, pci_domain, tcc, copy_engines, unified;
	int bus_width, l2, l2_persisting, threads_per_multiprocessor, priorities;
	int global_l1, local_l1;
	size_t shared_per_multiprocessor;
	int regs_per_multiprocessor, managed, multi_board, multi_board_group, host_atomics;
	int pageable_access, concurrent_managed, preemption, registered_pointer, cooperative;
	size_t shared_optin;
	int host_page_tables, direct_managed, blocks_per_multiprocessor, window;
	size_t shared_reserved;
	int host_register, sparse, register_read_only, timeline, pools, rdma;
	unsigned rdma_flush;
	int rdma_ordering;
	unsigned pool_handles;
	int deferred, ipc_event, cluster, unified_functions, numa, numa_id, mps, host_numa;
	unsigned pci_ids, pci_subsystem;
	int numa_ipc, reserved[56];
};
static_assert(sizeof(struct rt_properties) == 1008, "cudaDeviceProp");
static_assert(offsetof(struct rt_properties, multiprocessors) == 384, "cudaDeviceProp");

/* cudaPointerAttributes */
struct rt_pointer {
	int type; /* 0 unregistered, 1 host, 2 device, 3 managed */
	int device;
	void *on_device, *on_host;
	long reserved[8];
};
static_assert(sizeof(struct rt_pointer) == 88, "cudaPointerAttributes");

/* cudaFuncAttributes */
struct rt_function {
	size_t shared, constant, local;
	int threads, regs, ptx, binary, cache, dynamic_shared, carveout;
	int cluster_must, cluster[3], cluster_policy, cluster_large, reserved[16];
};
static_assert(sizeof(struct rt_function) == 144, "cudaFuncAttributes");

/* cudaLaunchConfig_t and cudaLaunchAttribute */
struct rt_launch {
	struct rt_dim grid, block;
	size_t shared;
	void *stream;
	const struct rt_launch_attribute *attributes;
	unsigned n_attributes;
};
static_assert(sizeof(struct rt_launch) == 56, "cudaLaunchConfig_t");

struct rt_launch_attribute {
	int id, pad;
	char value[64];
};
static_assert(sizeof(struct rt_launch_attribute) == 72, "cudaLaunchAttribute");

static_assert(sizeof(struct sim_access) == 12, "cudaMemAccessDesc");
static_assert(sizeof(struct sim_pool_wish) == 88, "cudaMemPoolProps");
static_assert(sizeof(struct sim_ipc) == 64, "cudaIpcMemHandle_t");

static_assert(sizeof(struct sim_node_params) == 256, "cudaGraphNodeParams");

#endif
