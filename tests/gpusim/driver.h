/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver.h - the entry points that the simulated libcuda.so.1 exports, with plain C types in
 * place of CUDA's (handles are void *, CUresult is int, CUdeviceptr is uint64_t). Semantics are
 * those of the CUDA driver API; README.md says where the model simplifies them.
 */
#ifndef SIM_DRIVER_H
#define SIM_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#include "call.h"

struct sim_uuid {
	uint8_t bytes[16];
};

/* CUlaunchConfig */
struct sim_launch_config {
	unsigned grid[3], block[3], shared;
	void *stream;
	void *attrs;
	unsigned n_attrs;
};

/* CUDA_KERNEL_NODE_PARAMS; version 2 only appends to it. */
struct sim_kernel_node {
	void *function;
	unsigned grid[3], block[3], shared;
	void **params, **extra;
};

/* CUmemLocation, CUmemAccessDesc */
struct sim_location {
	int type, id;
};

struct sim_access {
	struct sim_location location;
	unsigned flags;
};

/* CUmemAllocationProp */
struct sim_allocation {
	int type;
	unsigned handles; /* that it can be exported as */
	struct sim_location location;
	void *windows;
	uint8_t compression, rdma;
	uint16_t usage;
	uint8_t reserved[4];
};

/* CUmemPoolProps */
struct sim_pool_wish {
	int type;
	unsigned handles;
	struct sim_location location;
	void *windows;
	size_t most;
	uint16_t usage;
	uint8_t reserved[54];
};

/* CUDA_GRAPH_INSTANTIATE_PARAMS */
struct sim_graph_instantiation {
	uint64_t flags;
	void *upload, *failed; /* a stream, the node that could not be */
	int result;
};

/* CUtensorMap, which lies at a multiple of 64 */
struct sim_tensor_map {
	uint64_t words[16];
};

/* CUipcMemHandle, CUipcEventHandle */
struct sim_ipc {
	char bytes[64];
};

/* CUDA_MEMCPY2D */
struct sim_copy_2d {
	size_t src_x, src_y;
	unsigned src_type;
	const void *src_host;
	uint64_t src_device;
	void *src_array;
	size_t src_pitch;
	size_t dst_x, dst_y;
	unsigned dst_type;
	void *dst_host;
	uint64_t dst_device;
	void *dst_array;
	size_t dst_pitch;
	size_t width, height;
};

/* CUDA_ARRAY_DESCRIPTOR and CUDA_ARRAY3D_DESCRIPTOR */
struct sim_array_2d {
	size_t width, height;
	unsigned format, channels;
};

struct sim_array_3d {
	size_t width, height, depth;
	unsigned format, channels, flags;
};

/* CUDA_MEMCPY3D */
struct sim_copy_3d {
	size_t src_x, src_y, src_z, src_lod;
	unsigned src_type;
	const void *src_host;
	uint64_t src_device;
	void *src_array, *reserved0;
	size_t src_pitch, src_height;
	size_t dst_x, dst_y, dst_z, dst_lod;
	unsigned dst_type;
	void *dst_host;
	uint64_t dst_device;
	void *dst_array, *reserved1;
	size_t dst_pitch, dst_height;
	size_t width, height, depth;
};

/* CUDA_MEMSET_NODE_PARAMS */
struct sim_memset_node {
	uint64_t dst;
	size_t pitch;
	unsigned value, element;
	size_t width, height;
};

/* CUDA_HOST_NODE_PARAMS */
struct sim_host_node {
	void (*fn)(void *);
	void *data;
};

/* CUgraphNodeParams, as far as there are such nodes */
struct sim_node_params {
	int type, reserved0[3];
	union {
		int64_t room[29];
		struct {
			struct sim_kernel_node is;
			void *kernel, *ctx; /* where there is no function */
		} kernel;
		struct {
			int flags, reserved;
			void *ctx;
			struct sim_copy_3d is;
		} memcpy;
		struct {
			struct sim_memset_node is;
			void *ctx;
		} memset;
		struct sim_host_node host;
	};
	int64_t reserved2;
};

SIM_API int cuInit(unsigned flags);
SIM_API int cuDriverGetVersion(int *version);
SIM_API int cuGetErrorName(int error, const char **text);
SIM_API int cuGetErrorString(int error, const char **text);
SIM_API int cuGetExportTable(const void **table, const struct sim_uuid *id);
SIM_API int cuGetProcAddress(const char *symbol, void **fn, int version, uint64_t flags);
SIM_API int cuGetProcAddress_v2(const char *symbol, void **fn, int version, uint64_t flags,
				int *status);

SIM_API int cuDeviceGet(int *device, int ordinal);
SIM_API int cuDeviceGetCount(int *count);
SIM_API int cuDeviceGetName(char *name, int size, int device);
SIM_API int cuDeviceGetUuid(struct sim_uuid *uuid, int device);
SIM_API int cuDeviceGetUuid_v2(struct sim_uuid *uuid, int device);
SIM_API int cuDeviceComputeCapability(int *major, int *minor, int device);
SIM_API int cuDeviceTotalMem_v2(size_t *bytes, int device);
SIM_API int cuDeviceGetAttribute(int *value, int attribute, int device);
SIM_API int cuDeviceCanAccessPeer(int *can, int device, int peer);
SIM_API int cuDeviceGetPCIBusId(char *id, int size, int device);

SIM_API int cuCtxCreate_v2(void **ctx, unsigned flags, int device);
SIM_API int cuCtxCreate_v4(void **ctx, void *params, unsigned flags, int device);
SIM_API int cuCtxDestroy_v2(void *ctx);
SIM_API int cuCtxGetCurrent(void **ctx);
SIM_API int cuCtxSetCurrent(void *ctx);
SIM_API int cuCtxPushCurrent_v2(void *ctx);
SIM_API int cuCtxPopCurrent_v2(void **ctx);
SIM_API int cuCtxGetDevice(int *device);
SIM_API int cuCtxSynchronize(void);
SIM_API int cuCtxGetFlags(unsigned *flags);
SIM_API int cuCtxGetApiVersion(void *ctx, unsigned *version);
SIM_API int cuCtxSetLimit(int which, size_t value);
SIM_API int cuCtxGetLimit(size_t *value, int which);
SIM_API int cuDevicePrimaryCtxRetain(void **ctx, int device);
SIM_API int cuDevicePrimaryCtxRelease_v2(int device);
SIM_API int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active);
SIM_API int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags);
SIM_API int cuDevicePrimaryCtxReset_v2(int device);

SIM_API int cuModuleLoad(void **module, const char *path);
SIM_API int cuModuleLoadData(void **module, const void *image);
SIM_API int cuModuleLoadDataEx(void **module, const void *image, unsigned n, int *options,
			       void **values);
SIM_API int cuModuleGetFunction(void **function, void *module, const char *name);
SIM_API int cuModuleGetGlobal_v2(uint64_t *address, size_t *bytes, void *module, const char *name);
SIM_API int cuModuleUnload(void *module);
SIM_API int cuLinkCreate_v2(unsigned n, int *options, void **values, void **link);
SIM_API int cuLinkAddData_v2(void *link, int type, void *data, size_t size, const char *name,
			     unsigned n, int *options, void **values);
SIM_API int cuLinkComplete(void *link, void **image, size_t *size);
SIM_API int cuLinkDestroy(void *link);

SIM_API int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
			   unsigned by, unsigned bz, unsigned shared, void *stream, void **params,
			   void **extra);
SIM_API int cuLaunchKernelEx(const struct sim_launch_config *config, void *function, void **params,
			     void **extra);
SIM_API int cuLaunchHostFunc(void *stream, void (*fn)(void *), void *data);
SIM_API int cuStreamAddCallback(void *stream, void (*fn)(void *, int, void *), void *data,
				unsigned flags);

SIM_API int cuMemAlloc_v2(uint64_t *address, size_t bytes);
SIM_API int cuMemAllocPitch_v2(uint64_t *address, size_t *pitch, size_t width, size_t height,
			       unsigned element);
SIM_API int cuMemAllocManaged(uint64_t *address, size_t bytes, unsigned flags);
SIM_API int cuMemFree_v2(uint64_t address);
SIM_API int cuMemGetInfo_v2(size_t *free_bytes, size_t *total);
SIM_API int cuMemGetAddressRange_v2(uint64_t *base, size_t *size, uint64_t address);
SIM_API int cuMemHostAlloc(void **address, size_t bytes, unsigned flags);
SIM_API int cuMemAllocHost_v2(void **address, size_t bytes);
SIM_API int cuMemFreeHost(void *address);
SIM_API int cuMemHostRegister_v2(void *address, size_t bytes, unsigned flags);
SIM_API int cuMemHostUnregister(void *address);
SIM_API int cuMemHostGetFlags(unsigned *flags, void *address);
SIM_API int cuMemAdvise(uint64_t address, size_t bytes, int advice, int device);
SIM_API int cuMemAdvise_v2(uint64_t address, size_t bytes, int advice, struct sim_location where);
SIM_API int cuMemPrefetchAsync(uint64_t address, size_t bytes, int device, void *stream);
SIM_API int cuMemPrefetchAsync_v2(uint64_t address, size_t bytes, struct sim_location where,
				  unsigned flags, void *stream);
SIM_API int cuMemHostGetDevicePointer_v2(uint64_t *out, void *address, unsigned flags);
SIM_API int cuMemcpy(uint64_t dst, uint64_t src, size_t bytes);
SIM_API int cuMemcpyAsync(uint64_t dst, uint64_t src, size_t bytes, void *stream);
SIM_API int cuMemcpyHtoD_v2(uint64_t dst, const void *src, size_t bytes);
SIM_API int cuMemcpyDtoH_v2(void *dst, uint64_t src, size_t bytes);
SIM_API int cuMemcpyDtoD_v2(uint64_t dst, uint64_t src, size_t bytes);
SIM_API int cuMemcpyHtoDAsync_v2(uint64_t dst, const void *src, size_t bytes, void *stream);
SIM_API int cuMemcpyDtoHAsync_v2(void *dst, uint64_t src, size_t bytes, void *stream);
SIM_API int cuMemcpyDtoDAsync_v2(uint64_t dst, uint64_t src, size_t bytes, void *stream);
SIM_API int cuMemcpyPeer(uint64_t dst, void *dst_ctx, uint64_t src, void *src_ctx, size_t bytes);
SIM_API int cuMemcpyPeerAsync(uint64_t dst, void *dst_ctx, uint64_t src, void *src_ctx,
			      size_t bytes, void *stream);
SIM_API int cuMemsetD8_v2(uint64_t dst, unsigned char value, size_t n);
SIM_API int cuMemsetD16_v2(uint64_t dst, unsigned short value, size_t n);
SIM_API int cuMemsetD32_v2(uint64_t dst, unsigned value, size_t n);
SIM_API int cuMemsetD8Async(uint64_t dst, unsigned char value, size_t n, void *stream);
SIM_API int cuMemsetD16Async(uint64_t dst, unsigned short value, size_t n, void *stream);
SIM_API int cuMemsetD32Async(uint64_t dst, unsigned value, size_t n, void *stream);

SIM_API int cuArrayCreate_v2(void **array, const struct sim_array_2d *is);
SIM_API int cuArrayGetDescriptor_v2(struct sim_array_2d *is, void *array);
SIM_API int cuArray3DCreate_v2(void **array, const struct sim_array_3d *is);
SIM_API int cuArray3DGetDescriptor_v2(struct sim_array_3d *is, void *array);
SIM_API int cuArrayDestroy(void *array);
SIM_API int cuMemcpy2D_v2(const struct sim_copy_2d *copy);
SIM_API int cuMemcpy2DUnaligned_v2(const struct sim_copy_2d *copy);
SIM_API int cuMemcpy2DAsync_v2(const struct sim_copy_2d *copy, void *stream);
SIM_API int cuMemcpy3D_v2(const struct sim_copy_3d *copy);
SIM_API int cuMemcpy3DAsync_v2(const struct sim_copy_3d *copy, void *stream);
SIM_API int cuMemsetD2D8_v2(uint64_t dst, size_t pitch, unsigned char value, size_t width,
			    size_t height);
SIM_API int cuMemsetD2D16_v2(uint64_t dst, size_t pitch, unsigned short value, size_t width,
			     size_t height);
SIM_API int cuMemsetD2D32_v2(uint64_t dst, size_t pitch, unsigned value, size_t width,
			     size_t height);
SIM_API int cuMemsetD2D8Async(uint64_t dst, size_t pitch, unsigned char value, size_t width,
			      size_t height, void *stream);
SIM_API int cuMemsetD2D16Async(uint64_t dst, size_t pitch, unsigned short value, size_t width,
			       size_t height, void *stream);
SIM_API int cuMemsetD2D32Async(uint64_t dst, size_t pitch, unsigned value, size_t width,
			       size_t height, void *stream);

SIM_API int cuIpcGetMemHandle(struct sim_ipc *handle, uint64_t address);
SIM_API int cuIpcOpenMemHandle_v2(uint64_t *address, struct sim_ipc handle, unsigned flags);
SIM_API int cuIpcCloseMemHandle(uint64_t address);

SIM_API int cuTexObjectCreate(uint64_t *texture, const void *resource, const void *how,
			      const void *view);
SIM_API int cuTexObjectDestroy(uint64_t texture);
SIM_API int cuGLGetDevices_v2(unsigned *n, int *devices, unsigned room, int list);
SIM_API int cuGraphicsGLRegisterImage(void **resource, unsigned image, unsigned target,
				      unsigned flags);
SIM_API int cuGraphicsUnregisterResource(void *resource);
SIM_API int cuGraphicsMapResources(unsigned n, void **resources, void *stream);
SIM_API int cuGraphicsUnmapResources(unsigned n, void **resources, void *stream);
SIM_API int cuGraphicsSubResourceGetMappedArray(void **array, void *resource, unsigned index,
						unsigned level);
SIM_API int cuGraphicsResourceGetMappedPointer_v2(uint64_t *address, size_t *size, void *resource);

SIM_API int cuStreamCreate(void **stream, unsigned flags);
SIM_API int cuStreamCreateWithPriority(void **stream, unsigned flags, int priority);
SIM_API int cuStreamDestroy_v2(void *stream);
SIM_API int cuStreamQuery(void *stream);
SIM_API int cuStreamSynchronize(void *stream);
SIM_API int cuStreamWaitEvent(void *stream, void *event, unsigned flags);
SIM_API int cuEventCreate(void **event, unsigned flags);
SIM_API int cuEventDestroy_v2(void *event);
SIM_API int cuEventRecord(void *event, void *stream);
SIM_API int cuEventQuery(void *event);
SIM_API int cuEventSynchronize(void *event);
SIM_API int cuEventElapsedTime(float *ms, void *start, void *end);

SIM_API int cuGraphCreate(void **graph, unsigned flags);
SIM_API int cuGraphAddKernelNode_v2(void **node, void *graph, void *const *deps, size_t n,
				    const struct sim_kernel_node *params);
SIM_API int cuGraphAddMemcpyNode(void **node, void *graph, void *const *deps, size_t n,
				 const struct sim_copy_3d *params, void *ctx);
SIM_API int cuGraphAddMemsetNode(void **node, void *graph, void *const *deps, size_t n,
				 const struct sim_memset_node *params, void *ctx);
SIM_API int cuGraphAddHostNode(void **node, void *graph, void *const *deps, size_t n,
			       const struct sim_host_node *params);
SIM_API int cuGraphAddEmptyNode(void **node, void *graph, void *const *deps, size_t n);
SIM_API int cuGraphInstantiateWithFlags(void **exec, void *graph, uint64_t flags);
SIM_API int cuGraphInstantiateWithParams(void **exec, void *graph,
					 struct sim_graph_instantiation *params);
SIM_API int cuGraphInstantiate_v2(void **exec, void *graph, void **node, char *log, size_t size);
SIM_API int cuGraphUpload(void *exec, void *stream);
SIM_API int cuGraphLaunch(void *exec, void *stream);
SIM_API int cuGraphExecDestroy(void *exec);
SIM_API int cuGraphDestroy(void *graph);
SIM_API int cuStreamBeginCapture_v2(void *stream, int mode);
SIM_API int cuStreamEndCapture(void *stream, void **graph);
SIM_API int cuStreamIsCapturing(void *stream, int *status);

/* api_module.c */
SIM_API int cuModuleLoadFatBinary(void **out, const void *image);
SIM_API int cuModuleGetLoadingMode(int *mode);
SIM_API int cuLibraryLoadData(void **out, const void *image, int *jit, void **jit_values,
			      unsigned jit_n, int *options, void **values, unsigned n);
SIM_API int cuLibraryLoadFromFile(void **out, const char *path, int *jit, void **jit_values,
				  unsigned jit_n, int *options, void **values, unsigned n);
SIM_API int cuLibraryUnload(void *library);
SIM_API int cuLibraryGetKernel(void **out, void *library, const char *name);
SIM_API int cuLibraryGetModule(void **out, void *library);
SIM_API int cuLibraryGetGlobal(uint64_t *address, size_t *bytes, void *library, const char *name);
SIM_API int cuKernelGetFunction(void **function, void *kernel);
SIM_API int cuKernelGetLibrary(void **library, void *kernel);
SIM_API int cuFuncGetModule(void **module, void *function);

/* api_function.c */
SIM_API int cuFuncGetAttribute(int *value, int attribute, void *function);
SIM_API int cuFuncSetAttribute(void *function, int attribute, int value);
SIM_API int cuKernelGetAttribute(int *value, int attribute, void *kernel, int device);
SIM_API int cuKernelSetAttribute(int attribute, int value, void *kernel, int device);
SIM_API int cuFuncSetCacheConfig(void *function, int config);
SIM_API int cuKernelSetCacheConfig(void *kernel, int config, int device);
SIM_API int cuFuncGetName(const char **name, void *function);
SIM_API int cuKernelGetName(const char **name, void *kernel);
SIM_API int cuFuncIsLoaded(int *state, void *function);
SIM_API int cuFuncLoad(void *function);
SIM_API int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void *function, int threads,
							size_t shared);
SIM_API int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, void *function,
								 int threads, size_t shared,
								 unsigned flags);
SIM_API int cuOccupancyMaxPotentialBlockSize(int *grid, int *block, void *function,
					     size_t (*shared_of)(int), size_t shared, int limit);
SIM_API int cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, void *function,
						      size_t (*shared_of)(int), size_t shared,
						      int limit, unsigned flags);
SIM_API int cuOccupancyAvailableDynamicSMemPerBlock(size_t *shared, void *function, int blocks,
						    int threads);
SIM_API int cuOccupancyMaxActiveClusters(int *clusters, void *function,
					 const struct sim_launch_config *c);
SIM_API int cuOccupancyMaxPotentialClusterSize(int *size, void *function,
					       const struct sim_launch_config *c);
SIM_API int cuTensorMapEncodeTiled(struct sim_tensor_map *map, int type, unsigned rank,
				   void *address, const uint64_t *dims, const uint64_t *strides,
				   const unsigned *box, const unsigned *element_strides,
				   int interleave, int swizzle, int l2, int fill);
SIM_API int cuTensorMapReplaceAddress(struct sim_tensor_map *map, void *address);

/* api_virtual.c */
SIM_API int cuMemAddressReserve(uint64_t *address, size_t size, size_t align, uint64_t wish,
				uint64_t flags);
SIM_API int cuMemAddressFree(uint64_t address, size_t size);
SIM_API int cuMemCreate(uint64_t *handle, size_t size, const struct sim_allocation *is,
			uint64_t flags);
SIM_API int cuMemRelease(uint64_t handle);
SIM_API int cuMemGetAllocationGranularity(size_t *granularity, const struct sim_allocation *is,
					  int option);
SIM_API int cuMemGetAllocationPropertiesFromHandle(struct sim_allocation *is, uint64_t handle);
SIM_API int cuMemRetainAllocationHandle(uint64_t *handle, void *address);
SIM_API int cuMemExportToShareableHandle(void *out, uint64_t handle, int type, uint64_t flags);
SIM_API int cuMemImportFromShareableHandle(uint64_t *handle, void *from, int type);
SIM_API int cuMemMap(uint64_t address, size_t size, size_t offset, uint64_t handle, uint64_t flags);
SIM_API int cuMemUnmap(uint64_t address, size_t size);
SIM_API int cuMemSetAccess(uint64_t address, size_t size, const struct sim_access *list, size_t n);
SIM_API int cuMemGetAccess(uint64_t *flags, const struct sim_location *where, uint64_t address);

/* api_pool.c */
SIM_API int cuMemAllocAsync(uint64_t *address, size_t bytes, void *stream);
SIM_API int cuMemAllocFromPoolAsync(uint64_t *address, size_t bytes, void *pool, void *stream);
SIM_API int cuMemFreeAsync(uint64_t address, void *stream);
SIM_API int cuDeviceGetDefaultMemPool(void **pool, int device);
SIM_API int cuDeviceGetMemPool(void **pool, int device);
SIM_API int cuDeviceSetMemPool(int device, void *pool);
SIM_API int cuMemPoolCreate(void **pool, const struct sim_pool_wish *is);
SIM_API int cuMemPoolDestroy(void *pool);
SIM_API int cuMemPoolTrimTo(void *pool, size_t keep);
SIM_API int cuMemPoolSetAttribute(void *pool, int attribute, void *value);
SIM_API int cuMemPoolGetAttribute(void *pool, int attribute, void *value);
SIM_API int cuMemPoolSetAccess(void *pool, const struct sim_access *list, size_t n);
SIM_API int cuMemPoolGetAccess(int *flags, void *pool, const struct sim_location *where);

/* api_pointer.c */
SIM_API int cuPointerGetAttribute(void *data, int attribute, uint64_t address);
SIM_API int cuPointerGetAttributes(unsigned n, int *attributes, void **data, uint64_t address);
SIM_API int cuPointerSetAttribute(const void *value, int attribute, uint64_t address);

/* api_value.c */
SIM_API int cuStreamWriteValue32_v2(void *stream, uint64_t address, uint32_t value, unsigned flags);
SIM_API int cuStreamWriteValue64_v2(void *stream, uint64_t address, uint64_t value, unsigned flags);
SIM_API int cuStreamWaitValue32_v2(void *stream, uint64_t address, uint32_t value, unsigned flags);
SIM_API int cuStreamWaitValue64_v2(void *stream, uint64_t address, uint64_t value, unsigned flags);
SIM_API int cuStreamBatchMemOp_v2(void *stream, unsigned n, void *ops, unsigned flags);

/* api_stream.c */
SIM_API int cuStreamGetPriority(void *stream, int *priority);
SIM_API int cuStreamGetFlags(void *stream, unsigned *flags);
SIM_API int cuStreamGetCtx(void *stream, void **ctx);
SIM_API int cuStreamGetDevice(void *stream, int *device);
SIM_API int cuStreamGetId(void *stream, uint64_t *id);
SIM_API int cuEventRecordWithFlags(void *handle, void *stream, unsigned flags);

/* api_context.c */
SIM_API int cuCtxGetStreamPriorityRange(int *least, int *greatest);
SIM_API int cuCtxGetId(void *handle, uint64_t *id);
SIM_API int cuCtxEnablePeerAccess(void *handle, unsigned flags);
SIM_API int cuCtxDisablePeerAccess(void *handle);

/* api_device.c */
SIM_API int cuDeviceGetByPCIBusId(int *device, const char *id);
SIM_API int cuDeviceGetP2PAttribute(int *value, int attribute, int device, int peer);

/* api_graph.c */
SIM_API int cuStreamGetCaptureInfo(void *stream, int *status, uint64_t *id);
SIM_API int cuStreamGetCaptureInfo_v2(void *stream, int *status, uint64_t *id, void **graph,
				      void *const **deps, size_t *n);
SIM_API int cuStreamGetCaptureInfo_v3(void *stream, int *status, uint64_t *id, void **graph,
				      void *const **deps, const void **edges, size_t *n);
SIM_API int cuStreamUpdateCaptureDependencies(void *stream, void *const *deps, size_t n,
					      unsigned flags);
SIM_API int cuStreamUpdateCaptureDependencies_v2(void *stream, void *const *deps, const void *edges,
						 size_t n, unsigned flags);
SIM_API int cuThreadExchangeStreamCaptureMode(int *mode);

/* api_nodes.c */
SIM_API int cuGraphGetNodes(void *graph, void **list, size_t *n);
SIM_API int cuGraphGetRootNodes(void *graph, void **list, size_t *n);
SIM_API int cuGraphNodeGetDependencies(void *node, void **list, size_t *n);
SIM_API int cuGraphNodeGetDependencies_v2(void *node, void **list, uint64_t *edges, size_t *n);
SIM_API int cuGraphNodeGetType(void *node, int *type);
SIM_API int cuGraphDebugDotPrint(void *graph, const char *path, unsigned flags);
SIM_API int cuGraphAddNode(void **out, void *graph, void *const *deps, size_t n,
			   struct sim_node_params *p);
SIM_API int cuGraphAddNode_v2(void **out, void *graph, void *const *deps, const void *edges,
			      size_t n, struct sim_node_params *p);
SIM_API int cuGraphConditionalHandleCreate(uint64_t *handle, void *graph, void *ctx, unsigned value,
					   unsigned flags);
SIM_API int cuStreamBeginCaptureToGraph(void *stream, void *graph, void *const *deps,
					const void *edges, size_t n, int mode);
SIM_API int cuDeviceGetGraphMemAttribute(int device, int attribute, void *value);
SIM_API int cuDeviceSetGraphMemAttribute(int device, int attribute, void *value);
SIM_API int cuUserObjectCreate(void **out, void *data, void (*destroy)(void *), unsigned refs,
			       unsigned flags);
SIM_API int cuUserObjectRetain(void *handle, unsigned n);
SIM_API int cuUserObjectRelease(void *handle, unsigned n);
SIM_API int cuGraphRetainUserObject(void *graph, void *handle, unsigned n, unsigned flags);
SIM_API int cuGraphReleaseUserObject(void *graph, void *handle, unsigned n);

/* api_launch.c */
SIM_API int cuLaunchCooperativeKernel(void *function, unsigned gx, unsigned gy, unsigned gz,
				      unsigned bx, unsigned by, unsigned bz, unsigned shared,
				      void *stream, void **params);

/* api_absent.c */
SIM_API int cuIpcGetEventHandle(struct sim_ipc *handle, void *event);
SIM_API int cuIpcOpenEventHandle(void **event, struct sim_ipc handle);

#endif
