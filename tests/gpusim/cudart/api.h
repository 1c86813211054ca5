/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api.h - the CUDA runtime as the stand-in for libcudart.so.13 exports it, with plain C types in
 * place of CUDA's: handles are void *, enums and cudaError_t are int. Semantics are those that
 * NVIDIA documents; tests/gpusim/README.md says where the model simplifies them.
 */
#ifndef SIM_CUDART_API_H
#define SIM_CUDART_API_H

#include "types.h"

/* ---- what nvcc's host code calls ---- */
SIM_API void **__cudaRegisterFatBinary(void *binary);
SIM_API void __cudaRegisterFatBinaryEnd(void **handle);
SIM_API void __cudaUnregisterFatBinary(void **handle);
SIM_API void __cudaRegisterFunction(void **handle, const char *stub, char *on_device,
				    const char *name, int thread_limit, void *tid, void *bid,
				    void *block, void *grid, int *warp);
SIM_API void __cudaRegisterVar(void **handle, char *on_host, char *on_device, const char *name,
			       int external, size_t size, int constant, int global);
SIM_API char __cudaInitModule(void **handle);
SIM_API unsigned __cudaPushCallConfiguration(struct rt_dim grid, struct rt_dim block, size_t shared,
					     void *stream);
SIM_API int __cudaPopCallConfiguration(struct rt_dim *grid, struct rt_dim *block, size_t *shared,
				       void *stream);
SIM_API int __cudaGetKernel(void **kernel, const void *stub);
SIM_API int __cudaLaunchKernel(void *kernel, struct rt_dim grid, struct rt_dim block, void **params,
			       size_t shared, void *stream);
SIM_API int __cudaLaunchKernel_ptsz(void *kernel, struct rt_dim grid, struct rt_dim block,
				    void **params, size_t shared, void *stream);

/* ---- errors, versions ---- */
SIM_API int cudaGetLastError(void);
SIM_API int cudaPeekAtLastError(void);
SIM_API const char *cudaGetErrorName(int error);
SIM_API const char *cudaGetErrorString(int error);
SIM_API int cudaDriverGetVersion(int *version);
SIM_API int cudaRuntimeGetVersion(int *version);
SIM_API int cudaGetDriverEntryPoint(const char *symbol, void **fn, unsigned long long flags,
				    int *status);
SIM_API int cudaGetDriverEntryPointByVersion(const char *symbol, void **fn, unsigned version,
					     unsigned long long flags, int *status);
SIM_API int cudaProfilerStart(void);
SIM_API int cudaProfilerStop(void);

/* ---- devices ---- */
SIM_API int cudaGetDeviceCount(int *count);
SIM_API int cudaGetDevice(int *device);
SIM_API int cudaSetDevice(int device);
SIM_API int cudaDeviceReset(void);
SIM_API int cudaDeviceSynchronize(void);
SIM_API int cudaGetDeviceProperties(struct rt_properties *p, int device);
SIM_API int cudaDeviceGetAttribute(int *value, int attribute, int device);
SIM_API int cudaDeviceGetPCIBusId(char *id, int size, int device);
SIM_API int cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
SIM_API int cudaDeviceCanAccessPeer(int *can, int device, int peer);
SIM_API int cudaDeviceEnablePeerAccess(int peer, unsigned flags);
SIM_API int cudaDeviceDisablePeerAccess(int peer);
SIM_API int cudaDeviceGetLimit(size_t *value, int which);
SIM_API int cudaDeviceSetLimit(int which, size_t value);

/* ---- memory ---- */
SIM_API int cudaMalloc(void **address, size_t bytes);
SIM_API int cudaMallocPitch(void **address, size_t *pitch, size_t width, size_t height);
SIM_API int cudaMallocManaged(void **address, size_t bytes, unsigned flags);
SIM_API int cudaFree(void *address);
SIM_API int cudaMallocHost(void **address, size_t bytes);
SIM_API int cudaHostAlloc(void **address, size_t bytes, unsigned flags);
SIM_API int cudaFreeHost(void *address);
SIM_API int cudaHostRegister(void *address, size_t bytes, unsigned flags);
SIM_API int cudaHostUnregister(void *address);
SIM_API int cudaHostGetDevicePointer(void **out, void *address, unsigned flags);
SIM_API int cudaMemGetInfo(size_t *free_bytes, size_t *total);
SIM_API int cudaPointerGetAttributes(struct rt_pointer *out, const void *address);
SIM_API int cudaGetSymbolAddress(void **address, const void *symbol);
SIM_API int cudaGetSymbolSize(size_t *bytes, const void *symbol);

SIM_API int cudaMallocAsync(void **address, size_t bytes, void *stream);
SIM_API int cudaMallocFromPoolAsync(void **address, size_t bytes, void *pool, void *stream);
SIM_API int cudaFreeAsync(void *address, void *stream);
SIM_API int cudaDeviceGetDefaultMemPool(void **pool, int device);
SIM_API int cudaDeviceGetMemPool(void **pool, int device);
SIM_API int cudaDeviceSetMemPool(int device, void *pool);
SIM_API int cudaMemPoolCreate(void **pool, const struct sim_pool_wish *is);
SIM_API int cudaMemPoolDestroy(void *pool);
SIM_API int cudaMemPoolTrimTo(void *pool, size_t keep);
SIM_API int cudaMemPoolSetAttribute(void *pool, int attribute, void *value);
SIM_API int cudaMemPoolGetAttribute(void *pool, int attribute, void *value);
SIM_API int cudaMemPoolSetAccess(void *pool, const struct sim_access *list, size_t n);
SIM_API int cudaIpcGetMemHandle(struct sim_ipc *handle, void *address);
SIM_API int cudaIpcOpenMemHandle(void **address, struct sim_ipc handle, unsigned flags);
SIM_API int cudaIpcCloseMemHandle(void *address);
SIM_API int cudaIpcGetEventHandle(struct sim_ipc *handle, void *event);
SIM_API int cudaIpcOpenEventHandle(void **event, struct sim_ipc handle);

/* ---- copies ---- */
SIM_API int cudaMemcpy(void *dst, const void *src, size_t bytes, int kind);
SIM_API int cudaMemcpyAsync(void *dst, const void *src, size_t bytes, int kind, void *stream);
SIM_API int cudaMemcpy2D(void *dst, size_t dst_pitch, const void *src, size_t src_pitch,
			 size_t width, size_t height, int kind);
SIM_API int cudaMemcpy2DAsync(void *dst, size_t dst_pitch, const void *src, size_t src_pitch,
			      size_t width, size_t height, int kind, void *stream);
SIM_API int cudaMemcpyPeer(void *dst, int dst_device, const void *src, int src_device,
			   size_t bytes);
SIM_API int cudaMemcpyPeerAsync(void *dst, int dst_device, const void *src, int src_device,
				size_t bytes, void *stream);
SIM_API int cudaMemcpyToSymbol(const void *symbol, const void *src, size_t bytes, size_t offset,
			       int kind);
SIM_API int cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t bytes, size_t offset,
				 int kind);
SIM_API int cudaMemset(void *dst, int value, size_t bytes);
SIM_API int cudaMemsetAsync(void *dst, int value, size_t bytes, void *stream);

/* ---- streams and events ---- */
SIM_API int cudaStreamCreate(void **stream);
SIM_API int cudaStreamCreateWithFlags(void **stream, unsigned flags);
SIM_API int cudaStreamCreateWithPriority(void **stream, unsigned flags, int priority);
SIM_API int cudaStreamGetPriority(void *stream, int *priority);
SIM_API int cudaStreamGetId(void *stream, unsigned long long *id);
SIM_API int cudaStreamGetDevice(void *stream, int *device);
SIM_API int cudaStreamDestroy(void *stream);
SIM_API int cudaStreamSynchronize(void *stream);
SIM_API int cudaStreamQuery(void *stream);
SIM_API int cudaStreamWaitEvent(void *stream, void *event, unsigned flags);
SIM_API int cudaStreamAddCallback(void *stream, void (*fn)(void *, int, void *), void *data,
				  unsigned flags);
SIM_API int cudaLaunchHostFunc(void *stream, void (*fn)(void *), void *data);
SIM_API int cudaEventCreate(void **event);
SIM_API int cudaEventCreateWithFlags(void **event, unsigned flags);
SIM_API int cudaEventDestroy(void *event);
SIM_API int cudaEventRecord(void *event, void *stream);
SIM_API int cudaEventRecordWithFlags(void *event, void *stream, unsigned flags);
SIM_API int cudaEventSynchronize(void *event);
SIM_API int cudaEventQuery(void *event);
SIM_API int cudaEventElapsedTime(float *ms, void *start, void *end);

/* ---- launches, what a kernel may use ---- */
SIM_API int cudaLaunchKernel(const void *function, struct rt_dim grid, struct rt_dim block,
			     void **params, size_t shared, void *stream);
SIM_API int cudaLaunchKernel_ptsz(const void *function, struct rt_dim grid, struct rt_dim block,
				  void **params, size_t shared, void *stream);
SIM_API int cudaLaunchKernelExC(const struct rt_launch *launch, const void *function,
				void **params);
SIM_API int cudaLaunchCooperativeKernel(const void *function, struct rt_dim grid,
					struct rt_dim block, void **params, size_t shared,
					void *stream);
SIM_API int cudaFuncGetAttributes(struct rt_function *out, const void *function);
SIM_API int cudaFuncSetAttribute(const void *function, int attribute, int value);
SIM_API int cudaKernelSetAttributeForDevice(void *kernel, int attribute, int value, int device);
SIM_API int cudaGetFuncBySymbol(void **function, const void *symbol);
SIM_API int cudaFuncGetName(const char **name, const void *function);
SIM_API int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function,
							  int threads, size_t shared);
SIM_API int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks,
								   const void *function,
								   int threads, size_t shared,
								   unsigned flags);
SIM_API int cudaLibraryLoadData(void **library, const void *code, int *jit, void **jit_values,
				unsigned n_jit, int *options, void **values, unsigned n);
SIM_API int cudaLibraryGetKernel(void **kernel, void *library, const char *name);
SIM_API int cudaLibraryUnload(void *library);

/* ---- graphs and capture ---- */
SIM_API int cudaStreamBeginCapture(void *stream, int mode);
SIM_API int cudaStreamEndCapture(void *stream, void **graph);
SIM_API int cudaStreamIsCapturing(void *stream, int *status);
SIM_API int cudaStreamBeginCaptureToGraph(void *stream, void *graph, void *const *deps,
					  const void *edges, size_t n, int mode);
SIM_API int cudaStreamGetCaptureInfo(void *stream, int *status, unsigned long long *id,
				     void **graph, void *const **deps, const void **edges,
				     size_t *n);
SIM_API int cudaStreamUpdateCaptureDependencies(void *stream, void *const *deps, const void *edges,
						size_t n, unsigned flags);
SIM_API int cudaThreadExchangeStreamCaptureMode(int *mode);
SIM_API int cudaGraphCreate(void **graph, unsigned flags);
SIM_API int cudaGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags);
SIM_API int cudaGraphInstantiate(void **exec, void *graph, unsigned long long flags);
SIM_API int cudaGraphUpload(void *exec, void *stream);
SIM_API int cudaGraphLaunch(void *exec, void *stream);
SIM_API int cudaGraphExecDestroy(void *exec);
SIM_API int cudaGraphDestroy(void *graph);
SIM_API int cudaGraphAddNode(void **node, void *graph, void *const *deps, const void *edges,
			     size_t n, const struct sim_node_params *p);
SIM_API int cudaGraphGetNodes(void *graph, void **nodes, size_t *n);
SIM_API int cudaGraphNodeGetDependencies(void *node, void **deps, uint64_t *edges, size_t *n);
SIM_API int cudaGraphDebugDotPrint(void *graph, const char *path, unsigned flags);
SIM_API int cudaGraphConditionalHandleCreate(uint64_t *handle, void *graph, unsigned value,
					     unsigned flags);
SIM_API int cudaDeviceGetGraphMemAttribute(int device, int attribute, void *value);
SIM_API int cudaDeviceSetGraphMemAttribute(int device, int attribute, void *value);
SIM_API int cudaUserObjectCreate(void **object, void *data, void (*destroy)(void *), unsigned refs,
				 unsigned flags);
SIM_API int cudaUserObjectRelease(void *object, unsigned n);
SIM_API int cudaGraphRetainUserObject(void *graph, void *object, unsigned n, unsigned flags);

#endif
