/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cbid.h - CUPTI's numbers of the API calls that the simulator offers, and their names as
 * cuptiGetCallbackName gives them. Numbers are append-only across CUDA versions; a test compares
 * them with the real headers where those are installed.
 */
#ifndef SIM_CBID_H
#define SIM_CBID_H

#define SIM_DRIVER_CALLS(X)                           \
	X(cuInit, 1)                                  \
	X(cuDriverGetVersion, 2)                      \
	X(cuDeviceGet, 3)                             \
	X(cuDeviceGetCount, 4)                        \
	X(cuDeviceGetName, 5)                         \
	X(cuDeviceComputeCapability, 6)               \
	X(cuDeviceGetAttribute, 9)                    \
	X(cuCtxGetDevice, 16)                         \
	X(cuCtxSynchronize, 17)                       \
	X(cuModuleLoad, 18)                           \
	X(cuModuleLoadData, 19)                       \
	X(cuModuleLoadDataEx, 20)                     \
	X(cuModuleUnload, 22)                         \
	X(cuModuleGetFunction, 23)                    \
	X(cuMemFreeHost, 38)                          \
	X(cuMemHostAlloc, 39)                         \
	X(cuArrayDestroy, 89)                         \
	X(cuEventCreate, 118)                         \
	X(cuEventRecord, 119)                         \
	X(cuEventQuery, 120)                          \
	X(cuEventSynchronize, 121)                    \
	X(cuEventElapsedTime, 123)                    \
	X(cuStreamCreate, 124)                        \
	X(cuStreamQuery, 125)                         \
	X(cuStreamSynchronize, 126)                   \
	X(cuGraphicsUnregisterResource, 128)          \
	X(cuGraphicsSubResourceGetMappedArray, 129)   \
	X(cuGraphicsMapResources, 133)                \
	X(cuGraphicsUnmapResources, 134)              \
	X(cuCtxSetLimit, 136)                         \
	X(cuCtxGetLimit, 137)                         \
	X(cuGraphicsGLRegisterImage, 176)             \
	X(cuMemsetD8Async, 216)                       \
	X(cuMemsetD16Async, 218)                      \
	X(cuMemsetD32Async, 220)                      \
	X(cuMemsetD2D8Async, 222)                     \
	X(cuMemsetD2D16Async, 224)                    \
	X(cuMemsetD2D32Async, 226)                    \
	X(cuCtxCreate_v2, 235)                        \
	X(cuModuleGetGlobal_v2, 241)                  \
	X(cuMemGetInfo_v2, 242)                       \
	X(cuMemAlloc_v2, 243)                         \
	X(cuMemAllocPitch_v2, 244)                    \
	X(cuMemFree_v2, 245)                          \
	X(cuMemGetAddressRange_v2, 246)               \
	X(cuMemHostGetDevicePointer_v2, 247)          \
	X(cuMemsetD8_v2, 249)                         \
	X(cuMemsetD16_v2, 250)                        \
	X(cuMemsetD32_v2, 251)                        \
	X(cuMemsetD2D8_v2, 252)                       \
	X(cuMemsetD2D16_v2, 253)                      \
	X(cuMemsetD2D32_v2, 254)                      \
	X(cuGraphicsResourceGetMappedPointer_v2, 258) \
	X(cuDeviceTotalMem_v2, 259)                   \
	X(cuArrayCreate_v2, 272)                      \
	X(cuArrayGetDescriptor_v2, 273)               \
	X(cuArray3DCreate_v2, 274)                    \
	X(cuArray3DGetDescriptor_v2, 275)             \
	X(cuMemcpyHtoD_v2, 276)                       \
	X(cuMemcpyHtoDAsync_v2, 277)                  \
	X(cuMemcpyDtoH_v2, 278)                       \
	X(cuMemcpyDtoHAsync_v2, 279)                  \
	X(cuMemcpyDtoD_v2, 280)                       \
	X(cuMemcpyDtoDAsync_v2, 281)                  \
	X(cuMemcpy2D_v2, 287)                         \
	X(cuMemcpy2DUnaligned_v2, 288)                \
	X(cuMemcpy2DAsync_v2, 289)                    \
	X(cuMemcpy3D_v2, 290)                         \
	X(cuMemcpy3DAsync_v2, 291)                    \
	X(cuMemAllocHost_v2, 294)                     \
	X(cuStreamWaitEvent, 295)                     \
	X(cuCtxGetApiVersion, 296)                    \
	X(cuMemHostUnregister, 302)                   \
	X(cuCtxSetCurrent, 303)                       \
	X(cuCtxGetCurrent, 304)                       \
	X(cuMemcpy, 305)                              \
	X(cuMemcpyAsync, 306)                         \
	X(cuLaunchKernel, 307)                        \
	X(cuPointerGetAttribute, 310)                 \
	X(cuDeviceCanAccessPeer, 312)                 \
	X(cuMemcpyPeer, 318)                          \
	X(cuMemcpyPeerAsync, 319)                     \
	X(cuCtxDestroy_v2, 322)                       \
	X(cuCtxPushCurrent_v2, 323)                   \
	X(cuCtxPopCurrent_v2, 324)                    \
	X(cuEventDestroy_v2, 325)                     \
	X(cuStreamDestroy_v2, 326)                    \
	X(cuIpcGetMemHandle, 328)                     \
	X(cuIpcCloseMemHandle, 330)                   \
	X(cuDeviceGetPCIBusId, 332)                   \
	X(cuTexObjectCreate, 339)                     \
	X(cuTexObjectDestroy, 340)                    \
	X(cuStreamAddCallback, 346)                   \
	X(cuLinkComplete, 365)                        \
	X(cuLinkDestroy, 366)                         \
	X(cuStreamCreateWithPriority, 367)            \
	X(cuMemAllocManaged, 371)                     \
	X(cuMemHostRegister_v2, 379)                  \
	X(cuLinkCreate_v2, 381)                       \
	X(cuLinkAddData_v2, 382)                      \
	X(cuGLGetDevices_v2, 385)                     \
	X(cuDevicePrimaryCtxRetain, 386)              \
	X(cuDevicePrimaryCtxRelease, 387)             \
	X(cuCtxGetFlags, 391)                         \
	X(cuDevicePrimaryCtxGetState, 392)            \
	X(cuDeviceGetUuid, 482)                       \
	X(cuStreamEndCapture, 497)                    \
	X(cuStreamIsCapturing, 499)                   \
	X(cuGraphCreate, 501)                         \
	X(cuGraphAddKernelNode, 502)                  \
	X(cuGraphAddMemcpyNode, 504)                  \
	X(cuGraphAddMemsetNode, 506)                  \
	X(cuGraphLaunch, 514)                         \
	X(cuGraphExecDestroy, 516)                    \
	X(cuGraphDestroy, 517)                        \
	X(cuGraphAddEmptyNode, 526)                   \
	X(cuLaunchHostFunc, 527)                      \
	X(cuGraphAddHostNode, 530)                    \
	X(cuStreamBeginCapture_v2, 539)               \
	X(cuDevicePrimaryCtxRelease_v2, 544)          \
	X(cuDevicePrimaryCtxReset_v2, 545)            \
	X(cuDevicePrimaryCtxSetFlags_v2, 546)         \
	X(cuIpcOpenMemHandle_v2, 567)                 \
	X(cuGraphInstantiate_v2, 578)                 \
	X(cuGraphUpload, 580)                         \
	X(cuGetProcAddress, 626)                      \
	X(cuGraphInstantiateWithFlags, 643)           \
	X(cuDeviceGetUuid_v2, 647)                    \
	X(cuLaunchKernelEx, 652)                      \
	X(cuGetProcAddress_v2, 677)                   \
	X(cuGraphAddKernelNode_v2, 689)               \
	X(cuCtxCreate_v4, 757)                        \
	X(cuEventElapsedTime_v2, 780)

#define SIM_RUNTIME_CALLS(X)                      \
	X(cudaSetDevice, 16, _v3020)              \
	X(cudaGetDevice, 17, _v3020)              \
	X(cudaMalloc, 20, _v3020)                 \
	X(cudaFree, 22, _v3020)                   \
	X(cudaFreeHost, 26, _v3020)               \
	X(cudaHostAlloc, 27, _v3020)              \
	X(cudaMemcpy, 31, _v3020)                 \
	X(cudaMemcpyAsync, 41, _v3020)            \
	X(cudaMemset, 49, _v3020)                 \
	X(cudaMemsetAsync, 51, _v3020)            \
	X(cudaStreamCreate, 129, _v3020)          \
	X(cudaStreamSynchronize, 131, _v3020)     \
	X(cudaStreamQuery, 132, _v3020)           \
	X(cudaEventCreate, 133, _v3020)           \
	X(cudaEventRecord, 135, _v3020)           \
	X(cudaEventDestroy, 136, _v3020)          \
	X(cudaEventSynchronize, 137, _v3020)      \
	X(cudaEventQuery, 138, _v3020)            \
	X(cudaStreamWaitEvent, 147, _v3020)       \
	X(cudaDeviceSynchronize, 165, _v3020)     \
	X(cudaStreamCreateWithFlags, 198, _v5000) \
	X(cudaStreamDestroy, 201, _v5050)         \
	X(cudaLaunchKernel, 211, _v7000)          \
	X(cudaGraphLaunch, 311, _v10000)

#define SIM_CBID_ENUM(name, id, ...) SIM_CBID_##name = id,
enum sim_cbid {
	SIM_DRIVER_CALLS(SIM_CBID_ENUM) SIM_RUNTIME_CALLS(SIM_CBID_ENUM)
};
#undef SIM_CBID_ENUM

#endif
