/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layouts of the runtime's structs and the numbers of its errors, compared with NVIDIA's
 * headers where those are installed.
 */
#include <cuda_runtime_api.h>

#include "../cudart/types.h"
#include "harness.h"

#if CUDART_VERSION / 1000 == 13

#define SIZE(ours, theirs) EXPECT_UINT(sizeof(struct ours), sizeof(theirs))
#define AT(ours, field, theirs, as) EXPECT_UINT(offsetof(struct ours, field), offsetof(theirs, as))

static void test_sizes(void)
{
	SIZE(rt_dim, dim3);
	SIZE(rt_properties, struct cudaDeviceProp);
	SIZE(rt_pointer, struct cudaPointerAttributes);
	SIZE(rt_function, struct cudaFuncAttributes);
	SIZE(rt_launch, cudaLaunchConfig_t);
	SIZE(rt_launch_attribute, cudaLaunchAttribute);
	SIZE(sim_access, struct cudaMemAccessDesc);
	SIZE(sim_pool_wish, struct cudaMemPoolProps);
	SIZE(sim_ipc, cudaIpcMemHandle_t);
	SIZE(sim_ipc, cudaIpcEventHandle_t);
	SIZE(sim_node_params, struct cudaGraphNodeParams);
	EXPECT_UINT(sizeof(uint64_t), sizeof(cudaGraphEdgeData));
}

#define PROPERTY(field, as) AT(rt_properties, field, struct cudaDeviceProp, as)

static void test_properties(void)
{
	PROPERTY(uuid, uuid);
	PROPERTY(memory, totalGlobalMem);
	PROPERTY(shared_per_block, sharedMemPerBlock);
	PROPERTY(regs_per_block, regsPerBlock);
	PROPERTY(warp, warpSize);
	PROPERTY(pitch, memPitch);
	PROPERTY(threads_per_block, maxThreadsPerBlock);
	PROPERTY(block, maxThreadsDim);
	PROPERTY(grid, maxGridSize);
	PROPERTY(constant, totalConstMem);
	PROPERTY(major, major);
	PROPERTY(minor, minor);
	PROPERTY(texture_alignment, textureAlignment);
	PROPERTY(texture_pitch, texturePitchAlignment);
	PROPERTY(multiprocessors, multiProcessorCount);
	PROPERTY(integrated, integrated);
	PROPERTY(maps_host, canMapHostMemory);
	PROPERTY(surface_alignment, surfaceAlignment);
	PROPERTY(concurrent_kernels, concurrentKernels);
	PROPERTY(ecc, ECCEnabled);
	PROPERTY(pci_bus, pciBusID);
	PROPERTY(pci_device, pciDeviceID);
	PROPERTY(pci_domain, pciDomainID);
	PROPERTY(tcc, tccDriver);
	PROPERTY(copy_engines, asyncEngineCount);
	PROPERTY(unified, unifiedAddressing);
	PROPERTY(bus_width, memoryBusWidth);
	PROPERTY(l2, l2CacheSize);
	PROPERTY(l2_persisting, persistingL2CacheMaxSize);
	PROPERTY(threads_per_multiprocessor, maxThreadsPerMultiProcessor);
	PROPERTY(priorities, streamPrioritiesSupported);
	PROPERTY(global_l1, globalL1CacheSupported);
	PROPERTY(local_l1, localL1CacheSupported);
	PROPERTY(shared_per_multiprocessor, sharedMemPerMultiprocessor);
	PROPERTY(regs_per_multiprocessor, regsPerMultiprocessor);
	PROPERTY(managed, managedMemory);
	PROPERTY(multi_board, isMultiGpuBoard);
	PROPERTY(multi_board_group, multiGpuBoardGroupID);
	PROPERTY(host_atomics, hostNativeAtomicSupported);
	PROPERTY(pageable_access, pageableMemoryAccess);
	PROPERTY(concurrent_managed, concurrentManagedAccess);
	PROPERTY(preemption, computePreemptionSupported);
	PROPERTY(registered_pointer, canUseHostPointerForRegisteredMem);
	PROPERTY(cooperative, cooperativeLaunch);
	PROPERTY(shared_optin, sharedMemPerBlockOptin);
	PROPERTY(host_page_tables, pageableMemoryAccessUsesHostPageTables);
	PROPERTY(direct_managed, directManagedMemAccessFromHost);
	PROPERTY(blocks_per_multiprocessor, maxBlocksPerMultiProcessor);
	PROPERTY(window, accessPolicyMaxWindowSize);
	PROPERTY(shared_reserved, reservedSharedMemPerBlock);
	PROPERTY(host_register, hostRegisterSupported);
	PROPERTY(sparse, sparseCudaArraySupported);
	PROPERTY(register_read_only, hostRegisterReadOnlySupported);
	PROPERTY(timeline, timelineSemaphoreInteropSupported);
	PROPERTY(pools, memoryPoolsSupported);
	PROPERTY(rdma, gpuDirectRDMASupported);
	PROPERTY(rdma_flush, gpuDirectRDMAFlushWritesOptions);
	PROPERTY(rdma_ordering, gpuDirectRDMAWritesOrdering);
	PROPERTY(pool_handles, memoryPoolSupportedHandleTypes);
	PROPERTY(deferred, deferredMappingCudaArraySupported);
	PROPERTY(ipc_event, ipcEventSupported);
	PROPERTY(cluster, clusterLaunch);
	PROPERTY(unified_functions, unifiedFunctionPointers);
	PROPERTY(numa, deviceNumaConfig);
	PROPERTY(numa_id, deviceNumaId);
	PROPERTY(mps, mpsEnabled);
	PROPERTY(host_numa, hostNumaId);
	PROPERTY(pci_ids, gpuPciDeviceID);
	PROPERTY(pci_subsystem, gpuPciSubsystemID);
	PROPERTY(numa_ipc, hostNumaMultinodeIpcSupported);
}

static void test_fields(void)
{
	AT(rt_pointer, device, struct cudaPointerAttributes, device);
	AT(rt_pointer, on_device, struct cudaPointerAttributes, devicePointer);
	AT(rt_pointer, on_host, struct cudaPointerAttributes, hostPointer);
	AT(rt_function, shared, struct cudaFuncAttributes, sharedSizeBytes);
	AT(rt_function, local, struct cudaFuncAttributes, localSizeBytes);
	AT(rt_function, threads, struct cudaFuncAttributes, maxThreadsPerBlock);
	AT(rt_function, regs, struct cudaFuncAttributes, numRegs);
	AT(rt_function, ptx, struct cudaFuncAttributes, ptxVersion);
	AT(rt_function, binary, struct cudaFuncAttributes, binaryVersion);
	AT(rt_function, dynamic_shared, struct cudaFuncAttributes, maxDynamicSharedSizeBytes);
	AT(rt_function, carveout, struct cudaFuncAttributes, preferredShmemCarveout);
	AT(rt_function, cluster, struct cudaFuncAttributes, requiredClusterWidth);
	AT(rt_launch, block, cudaLaunchConfig_t, blockDim);
	AT(rt_launch, shared, cudaLaunchConfig_t, dynamicSmemBytes);
	AT(rt_launch, stream, cudaLaunchConfig_t, stream);
	AT(rt_launch, attributes, cudaLaunchConfig_t, attrs);
	AT(rt_launch, n_attributes, cudaLaunchConfig_t, numAttrs);
	AT(rt_launch_attribute, value, cudaLaunchAttribute, val);
	AT(sim_node_params, kernel.is.function, struct cudaGraphNodeParams, kernel.func);
	AT(sim_node_params, kernel.is.grid, struct cudaGraphNodeParams, kernel.gridDim);
	AT(sim_node_params, kernel.is.params, struct cudaGraphNodeParams, kernel.kernelParams);
	AT(sim_node_params, memset.is.width, struct cudaGraphNodeParams, memset.width);
	AT(sim_node_params, host.data, struct cudaGraphNodeParams, host.userData);
}

static void test_numbers(void)
{
	EXPECT_INT(SIM_NOT_SUPPORTED, cudaErrorNotSupported);
	EXPECT_INT(SIM_INVALID_HANDLE, cudaErrorInvalidResourceHandle);
	EXPECT_INT(SIM_NOT_READY, cudaErrorNotReady);
	EXPECT_INT(cudaMemoryTypeManaged, 3);
	EXPECT_INT(cudaMemcpyDefault, 4);
	EXPECT_INT(cudaLaunchAttributeProgrammaticEvent, 7);
	EXPECT_INT(cudaLaunchAttributeLaunchCompletionEvent, 12);
	EXPECT_INT(cudaFuncAttributeMaxDynamicSharedMemorySize, 8);
	EXPECT_INT(cudaGraphNodeTypeEmpty, 5);
	EXPECT_INT(cudaEventRecordExternal, 1);
	EXPECT_INT(cudaInvalidDeviceId, -2);
	EXPECT_UINT((uintptr_t)cudaStreamPerThread, 2);
}

int main(void)
{
	return RUN(test_sizes, test_properties, test_fields, test_numbers);
}

#else
int main(void)
{
	return T_SKIPPED;
}
#endif
