/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cbid.h - CUPTI's numbers of the API calls that the simulator offers, and their names as
 * cuptiGetCallbackName gives them; of the runtime's also those that torch imports, whoever has a
 * body for them. Numbers are append-only across CUDA versions; tests compare them with the real
 * headers where those are installed, and with those in the wheels that scripts/cupti-wheels
 * fetched.
 */
#ifndef SIM_CBID_H
#define SIM_CBID_H

#define SIM_DRIVER_CALLS(X)                                          \
	X(cuInit, 1)                                                 \
	X(cuDriverGetVersion, 2)                                     \
	X(cuDeviceGet, 3)                                            \
	X(cuDeviceGetCount, 4)                                       \
	X(cuDeviceGetName, 5)                                        \
	X(cuDeviceComputeCapability, 6)                              \
	X(cuDeviceGetAttribute, 9)                                   \
	X(cuCtxGetDevice, 16)                                        \
	X(cuCtxSynchronize, 17)                                      \
	X(cuModuleLoad, 18)                                          \
	X(cuModuleLoadData, 19)                                      \
	X(cuModuleLoadDataEx, 20)                                    \
	X(cuModuleLoadFatBinary, 21)                                 \
	X(cuModuleUnload, 22)                                        \
	X(cuModuleGetFunction, 23)                                   \
	X(cuMemFreeHost, 38)                                         \
	X(cuMemHostAlloc, 39)                                        \
	X(cuMemHostGetFlags, 42)                                     \
	X(cuFuncGetAttribute, 85)                                    \
	X(cuFuncSetCacheConfig, 86)                                  \
	X(cuArrayDestroy, 89)                                        \
	X(cuEventCreate, 118)                                        \
	X(cuEventRecord, 119)                                        \
	X(cuEventQuery, 120)                                         \
	X(cuEventSynchronize, 121)                                   \
	X(cuEventElapsedTime, 123)                                   \
	X(cuStreamCreate, 124)                                       \
	X(cuStreamQuery, 125)                                        \
	X(cuStreamSynchronize, 126)                                  \
	X(cuGraphicsUnregisterResource, 128)                         \
	X(cuGraphicsSubResourceGetMappedArray, 129)                  \
	X(cuGraphicsMapResources, 133)                               \
	X(cuGraphicsUnmapResources, 134)                             \
	X(cuCtxSetLimit, 136)                                        \
	X(cuCtxGetLimit, 137)                                        \
	X(cuGraphicsGLRegisterImage, 176)                            \
	X(cuMemsetD8Async, 216)                                      \
	X(cuMemsetD16Async, 218)                                     \
	X(cuMemsetD32Async, 220)                                     \
	X(cuMemsetD2D8Async, 222)                                    \
	X(cuMemsetD2D16Async, 224)                                   \
	X(cuMemsetD2D32Async, 226)                                   \
	X(cuCtxCreate_v2, 235)                                       \
	X(cuModuleGetGlobal_v2, 241)                                 \
	X(cuMemGetInfo_v2, 242)                                      \
	X(cuMemAlloc_v2, 243)                                        \
	X(cuMemAllocPitch_v2, 244)                                   \
	X(cuMemFree_v2, 245)                                         \
	X(cuMemGetAddressRange_v2, 246)                              \
	X(cuMemHostGetDevicePointer_v2, 247)                         \
	X(cuMemsetD8_v2, 249)                                        \
	X(cuMemsetD16_v2, 250)                                       \
	X(cuMemsetD32_v2, 251)                                       \
	X(cuMemsetD2D8_v2, 252)                                      \
	X(cuMemsetD2D16_v2, 253)                                     \
	X(cuMemsetD2D32_v2, 254)                                     \
	X(cuGraphicsResourceGetMappedPointer_v2, 258)                \
	X(cuDeviceTotalMem_v2, 259)                                  \
	X(cuArrayCreate_v2, 272)                                     \
	X(cuArrayGetDescriptor_v2, 273)                              \
	X(cuArray3DCreate_v2, 274)                                   \
	X(cuArray3DGetDescriptor_v2, 275)                            \
	X(cuMemcpyHtoD_v2, 276)                                      \
	X(cuMemcpyHtoDAsync_v2, 277)                                 \
	X(cuMemcpyDtoH_v2, 278)                                      \
	X(cuMemcpyDtoHAsync_v2, 279)                                 \
	X(cuMemcpyDtoD_v2, 280)                                      \
	X(cuMemcpyDtoDAsync_v2, 281)                                 \
	X(cuMemcpy2D_v2, 287)                                        \
	X(cuMemcpy2DUnaligned_v2, 288)                               \
	X(cuMemcpy2DAsync_v2, 289)                                   \
	X(cuMemcpy3D_v2, 290)                                        \
	X(cuMemcpy3DAsync_v2, 291)                                   \
	X(cuMemAllocHost_v2, 294)                                    \
	X(cuStreamWaitEvent, 295)                                    \
	X(cuCtxGetApiVersion, 296)                                   \
	X(cuMemHostUnregister, 302)                                  \
	X(cuCtxSetCurrent, 303)                                      \
	X(cuCtxGetCurrent, 304)                                      \
	X(cuMemcpy, 305)                                             \
	X(cuMemcpyAsync, 306)                                        \
	X(cuLaunchKernel, 307)                                       \
	X(cuPointerGetAttribute, 310)                                \
	X(cuDeviceCanAccessPeer, 312)                                \
	X(cuCtxEnablePeerAccess, 313)                                \
	X(cuCtxDisablePeerAccess, 314)                               \
	X(cuMemcpyPeer, 318)                                         \
	X(cuMemcpyPeerAsync, 319)                                    \
	X(cuCtxDestroy_v2, 322)                                      \
	X(cuCtxPushCurrent_v2, 323)                                  \
	X(cuCtxPopCurrent_v2, 324)                                   \
	X(cuEventDestroy_v2, 325)                                    \
	X(cuStreamDestroy_v2, 326)                                   \
	X(cuIpcGetMemHandle, 328)                                    \
	X(cuIpcCloseMemHandle, 330)                                  \
	X(cuDeviceGetByPCIBusId, 331)                                \
	X(cuDeviceGetPCIBusId, 332)                                  \
	X(cuIpcGetEventHandle, 334)                                  \
	X(cuIpcOpenEventHandle, 335)                                 \
	X(cuTexObjectCreate, 339)                                    \
	X(cuTexObjectDestroy, 340)                                   \
	X(cuStreamAddCallback, 346)                                  \
	X(cuLinkComplete, 365)                                       \
	X(cuLinkDestroy, 366)                                        \
	X(cuStreamCreateWithPriority, 367)                           \
	X(cuStreamGetPriority, 368)                                  \
	X(cuStreamGetFlags, 369)                                     \
	X(cuCtxGetStreamPriorityRange, 370)                          \
	X(cuMemAllocManaged, 371)                                    \
	X(cuOccupancyMaxActiveBlocksPerMultiprocessor, 374)          \
	X(cuPointerSetAttribute, 378)                                \
	X(cuMemHostRegister_v2, 379)                                 \
	X(cuLinkCreate_v2, 381)                                      \
	X(cuLinkAddData_v2, 382)                                     \
	X(cuOccupancyMaxPotentialBlockSize, 384)                     \
	X(cuGLGetDevices_v2, 385)                                    \
	X(cuDevicePrimaryCtxRetain, 386)                             \
	X(cuDevicePrimaryCtxRelease, 387)                            \
	X(cuCtxGetFlags, 391)                                        \
	X(cuDevicePrimaryCtxGetState, 392)                           \
	X(cuPointerGetAttributes, 450)                               \
	X(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 451) \
	X(cuOccupancyMaxPotentialBlockSizeWithFlags, 452)            \
	X(cuDeviceGetP2PAttribute, 454)                              \
	X(cuMemAdvise, 457)                                          \
	X(cuMemPrefetchAsync, 467)                                   \
	X(cuLaunchCooperativeKernel, 477)                            \
	X(cuFuncSetAttribute, 481)                                   \
	X(cuDeviceGetUuid, 482)                                      \
	X(cuStreamGetCtx, 483)                                       \
	X(cuStreamEndCapture, 497)                                   \
	X(cuStreamIsCapturing, 499)                                  \
	X(cuGraphCreate, 501)                                        \
	X(cuGraphAddKernelNode, 502)                                 \
	X(cuGraphAddMemcpyNode, 504)                                 \
	X(cuGraphAddMemsetNode, 506)                                 \
	X(cuGraphNodeGetType, 509)                                   \
	X(cuGraphGetRootNodes, 510)                                  \
	X(cuGraphNodeGetDependencies, 511)                           \
	X(cuGraphLaunch, 514)                                        \
	X(cuGraphExecDestroy, 516)                                   \
	X(cuGraphDestroy, 517)                                       \
	X(cuGraphAddEmptyNode, 526)                                  \
	X(cuLaunchHostFunc, 527)                                     \
	X(cuGraphAddHostNode, 530)                                   \
	X(cuGraphGetNodes, 534)                                      \
	X(cuStreamGetCaptureInfo, 536)                               \
	X(cuStreamBeginCapture_v2, 539)                              \
	X(cuThreadExchangeStreamCaptureMode, 541)                    \
	X(cuOccupancyAvailableDynamicSMemPerBlock, 543)              \
	X(cuDevicePrimaryCtxRelease_v2, 544)                         \
	X(cuDevicePrimaryCtxReset_v2, 545)                           \
	X(cuDevicePrimaryCtxSetFlags_v2, 546)                        \
	X(cuMemAddressReserve, 547)                                  \
	X(cuMemAddressFree, 548)                                     \
	X(cuMemCreate, 549)                                          \
	X(cuMemRelease, 550)                                         \
	X(cuMemMap, 551)                                             \
	X(cuMemUnmap, 552)                                           \
	X(cuMemSetAccess, 553)                                       \
	X(cuMemExportToShareableHandle, 554)                         \
	X(cuMemImportFromShareableHandle, 555)                       \
	X(cuMemGetAllocationGranularity, 556)                        \
	X(cuMemGetAllocationPropertiesFromHandle, 557)               \
	X(cuMemGetAccess, 558)                                       \
	X(cuMemRetainAllocationHandle, 565)                          \
	X(cuFuncGetModule, 566)                                      \
	X(cuIpcOpenMemHandle_v2, 567)                                \
	X(cuGraphInstantiate_v2, 578)                                \
	X(cuGraphUpload, 580)                                        \
	X(cuEventRecordWithFlags, 587)                               \
	X(cuMemAllocAsync, 598)                                      \
	X(cuMemFreeAsync, 600)                                       \
	X(cuMemPoolTrimTo, 602)                                      \
	X(cuMemPoolSetAttribute, 603)                                \
	X(cuMemPoolGetAttribute, 604)                                \
	X(cuMemPoolSetAccess, 605)                                   \
	X(cuDeviceGetDefaultMemPool, 606)                            \
	X(cuMemPoolCreate, 607)                                      \
	X(cuMemPoolDestroy, 608)                                     \
	X(cuDeviceSetMemPool, 609)                                   \
	X(cuDeviceGetMemPool, 610)                                   \
	X(cuMemAllocFromPoolAsync, 611)                              \
	X(cuMemPoolGetAccess, 617)                                   \
	X(cuGetProcAddress, 626)                                     \
	X(cuGraphDebugDotPrint, 628)                                 \
	X(cuStreamGetCaptureInfo_v2, 629)                            \
	X(cuStreamUpdateCaptureDependencies, 631)                    \
	X(cuUserObjectCreate, 633)                                   \
	X(cuUserObjectRetain, 634)                                   \
	X(cuUserObjectRelease, 635)                                  \
	X(cuGraphRetainUserObject, 636)                              \
	X(cuGraphReleaseUserObject, 637)                             \
	X(cuDeviceGetGraphMemAttribute, 641)                         \
	X(cuDeviceSetGraphMemAttribute, 642)                         \
	X(cuGraphInstantiateWithFlags, 643)                          \
	X(cuDeviceGetUuid_v2, 647)                                   \
	X(cuLaunchKernelEx, 652)                                     \
	X(cuGraphInstantiateWithParams, 656)                         \
	X(cuStreamWaitValue32_v2, 659)                               \
	X(cuStreamWaitValue64_v2, 661)                               \
	X(cuStreamWriteValue32_v2, 663)                              \
	X(cuStreamWriteValue64_v2, 665)                              \
	X(cuStreamBatchMemOp_v2, 667)                                \
	X(cuModuleGetLoadingMode, 673)                               \
	X(cuOccupancyMaxPotentialClusterSize, 675)                   \
	X(cuOccupancyMaxActiveClusters, 676)                         \
	X(cuGetProcAddress_v2, 677)                                  \
	X(cuLibraryLoadData, 678)                                    \
	X(cuLibraryLoadFromFile, 679)                                \
	X(cuLibraryUnload, 680)                                      \
	X(cuLibraryGetKernel, 681)                                   \
	X(cuLibraryGetModule, 682)                                   \
	X(cuKernelGetFunction, 683)                                  \
	X(cuLibraryGetGlobal, 684)                                   \
	X(cuKernelGetAttribute, 686)                                 \
	X(cuKernelSetAttribute, 687)                                 \
	X(cuKernelSetCacheConfig, 688)                               \
	X(cuGraphAddKernelNode_v2, 689)                              \
	X(cuStreamGetId, 693)                                        \
	X(cuCtxGetId, 695)                                           \
	X(cuTensorMapEncodeTiled, 697)                               \
	X(cuTensorMapReplaceAddress, 699)                            \
	X(cuMemAdvise_v2, 715)                                       \
	X(cuMemPrefetchAsync_v2, 716)                                \
	X(cuFuncGetName, 718)                                        \
	X(cuKernelGetName, 719)                                      \
	X(cuStreamBeginCaptureToGraph, 720)                          \
	X(cuGraphConditionalHandleCreate, 722)                       \
	X(cuGraphAddNode_v2, 723)                                    \
	X(cuGraphNodeGetDependencies_v2, 725)                        \
	X(cuStreamGetCaptureInfo_v3, 729)                            \
	X(cuStreamUpdateCaptureDependencies_v2, 731)                 \
	X(cuFuncIsLoaded, 741)                                       \
	X(cuFuncLoad, 742)                                           \
	X(cuKernelGetLibrary, 754)                                   \
	X(cuCtxCreate_v4, 757)                                       \
	X(cuStreamGetDevice, 774)                                    \
	X(cuEventElapsedTime_v2, 780)

#define SIM_RUNTIME_CALLS(X)                                                   \
	X(cudaDriverGetVersion, 1, _v3020)                                     \
	X(cudaRuntimeGetVersion, 2, _v3020)                                    \
	X(cudaGetDeviceCount, 3, _v3020)                                       \
	X(cudaGetLastError, 10, _v3020)                                        \
	X(cudaPeekAtLastError, 11, _v3020)                                     \
	X(cudaGetErrorString, 12, _v3020)                                      \
	X(cudaFuncGetAttributes, 15, _v3020)                                   \
	X(cudaSetDevice, 16, _v3020)                                           \
	X(cudaGetDevice, 17, _v3020)                                           \
	X(cudaSetDeviceFlags, 19, _v3020)                                      \
	X(cudaMalloc, 20, _v3020)                                              \
	X(cudaMallocPitch, 21, _v3020)                                         \
	X(cudaFree, 22, _v3020)                                                \
	X(cudaMallocHost, 25, _v3020)                                          \
	X(cudaFreeHost, 26, _v3020)                                            \
	X(cudaHostAlloc, 27, _v3020)                                           \
	X(cudaHostGetDevicePointer, 28, _v3020)                                \
	X(cudaMemGetInfo, 30, _v3020)                                          \
	X(cudaMemcpy, 31, _v3020)                                              \
	X(cudaMemcpy2D, 32, _v3020)                                            \
	X(cudaMemcpyToSymbol, 39, _v3020)                                      \
	X(cudaMemcpyFromSymbol, 40, _v3020)                                    \
	X(cudaMemcpyAsync, 41, _v3020)                                         \
	X(cudaMemcpy2DAsync, 44, _v3020)                                       \
	X(cudaMemcpyToSymbolAsync, 47, _v3020)                                 \
	X(cudaMemset, 49, _v3020)                                              \
	X(cudaMemsetAsync, 51, _v3020)                                         \
	X(cudaMemset2DAsync, 52, _v3020)                                       \
	X(cudaGetSymbolAddress, 53, _v3020)                                    \
	X(cudaGetSymbolSize, 54, _v3020)                                       \
	X(cudaStreamCreate, 129, _v3020)                                       \
	X(cudaStreamSynchronize, 131, _v3020)                                  \
	X(cudaStreamQuery, 132, _v3020)                                        \
	X(cudaEventCreate, 133, _v3020)                                        \
	X(cudaEventCreateWithFlags, 134, _v3020)                               \
	X(cudaEventRecord, 135, _v3020)                                        \
	X(cudaEventDestroy, 136, _v3020)                                       \
	X(cudaEventSynchronize, 137, _v3020)                                   \
	X(cudaEventQuery, 138, _v3020)                                         \
	X(cudaStreamWaitEvent, 147, _v3020)                                    \
	X(cudaPointerGetAttributes, 151, _v4000)                               \
	X(cudaHostRegister, 152, _v4000)                                       \
	X(cudaHostUnregister, 153, _v4000)                                     \
	X(cudaDeviceCanAccessPeer, 154, _v4000)                                \
	X(cudaDeviceEnablePeerAccess, 155, _v4000)                             \
	X(cudaDeviceDisablePeerAccess, 156, _v4000)                            \
	X(cudaMemcpyPeer, 160, _v4000)                                         \
	X(cudaMemcpyPeerAsync, 161, _v4000)                                    \
	X(cudaDeviceReset, 164, _v3020)                                        \
	X(cudaDeviceSynchronize, 165, _v3020)                                  \
	X(cudaDeviceGetLimit, 166, _v3020)                                     \
	X(cudaDeviceSetLimit, 167, _v3020)                                     \
	X(cudaProfilerStart, 171, _v4000)                                      \
	X(cudaProfilerStop, 172, _v4000)                                       \
	X(cudaDeviceGetPCIBusId, 174, _v4010)                                  \
	X(cudaIpcGetEventHandle, 176, _v4010)                                  \
	X(cudaIpcOpenEventHandle, 177, _v4010)                                 \
	X(cudaIpcGetMemHandle, 178, _v4010)                                    \
	X(cudaIpcOpenMemHandle, 179, _v4010)                                   \
	X(cudaIpcCloseMemHandle, 180, _v4010)                                  \
	X(cudaStreamAddCallback, 197, _v5000)                                  \
	X(cudaStreamCreateWithFlags, 198, _v5000)                              \
	X(cudaDeviceGetAttribute, 200, _v5000)                                 \
	X(cudaStreamDestroy, 201, _v5050)                                      \
	X(cudaStreamCreateWithPriority, 202, _v5050)                           \
	X(cudaStreamGetPriority, 203, _v5050)                                  \
	X(cudaDeviceGetStreamPriorityRange, 205, _v5050)                       \
	X(cudaMallocManaged, 206, _v6000)                                      \
	X(cudaGetErrorName, 209, _v6050)                                       \
	X(cudaOccupancyMaxActiveBlocksPerMultiprocessor, 210, _v6050)          \
	X(cudaLaunchKernel, 211, _v7000)                                       \
	X(cudaGetDeviceFlags, 212, _v7000)                                     \
	X(cudaLaunchKernel_ptsz, 214, _v7000)                                  \
	X(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 251, _v7000) \
	X(cudaLaunchCooperativeKernel, 269, _v9000)                            \
	X(cudaFuncSetAttribute, 273, _v9000)                                   \
	X(cudaLaunchHostFunc, 284, _v10000)                                    \
	X(cudaGraphCreate, 286, _v10000)                                       \
	X(cudaGraphAddKernelNode, 289, _v10000)                                \
	X(cudaGraphLaunch, 311, _v10000)                                       \
	X(cudaGraphExecDestroy, 313, _v10000)                                  \
	X(cudaGraphDestroy, 314, _v10000)                                      \
	X(cudaStreamBeginCapture, 315, _v10000)                                \
	X(cudaStreamIsCapturing, 317, _v10000)                                 \
	X(cudaStreamEndCapture, 319, _v10000)                                  \
	X(cudaGraphGetNodes, 322, _v10000)                                     \
	X(cudaThreadExchangeStreamCaptureMode, 327, _v10010)                   \
	X(cudaGraphExecUpdate, 335, _v10020)                                   \
	X(cudaGetFuncBySymbol, 336, _v11000)                                   \
	X(cudaGraphUpload, 348, _v10000)                                       \
	X(cudaEventRecordWithFlags, 370, _v11010)                              \
	X(cudaDeviceGetDefaultMemPool, 372, _v11020)                           \
	X(cudaMallocAsync, 373, _v11020)                                       \
	X(cudaFreeAsync, 375, _v11020)                                         \
	X(cudaMemPoolTrimTo, 377, _v11020)                                     \
	X(cudaMemPoolSetAttribute, 378, _v11020)                               \
	X(cudaMemPoolGetAttribute, 379, _v11020)                               \
	X(cudaMemPoolSetAccess, 380, _v11020)                                  \
	X(cudaMemPoolCreate, 383, _v11020)                                     \
	X(cudaMemPoolDestroy, 384, _v11020)                                    \
	X(cudaDeviceSetMemPool, 385, _v11020)                                  \
	X(cudaDeviceGetMemPool, 386, _v11020)                                  \
	X(cudaMallocFromPoolAsync, 391, _v11020)                               \
	X(cudaGetDriverEntryPoint, 406, _v11030)                               \
	X(cudaGraphDebugDotPrint, 408, _v11030)                                \
	X(cudaUserObjectCreate, 413, _v11030)                                  \
	X(cudaUserObjectRelease, 415, _v11030)                                 \
	X(cudaGraphRetainUserObject, 416, _v11030)                             \
	X(cudaGraphInstantiateWithFlags, 418, _v11040)                         \
	X(cudaDeviceGetGraphMemAttribute, 424, _v11040)                        \
	X(cudaDeviceSetGraphMemAttribute, 425, _v11040)                        \
	X(cudaLaunchKernelExC, 430, _v11060)                                   \
	X(cudaGetDeviceProperties, 440, _v12000)                               \
	X(cudaStreamGetId, 441, _v12000)                                       \
	X(cudaGraphInstantiate, 443, _v12000)                                  \
	X(cudaMemPrefetchAsync, 449, _v12020)                                  \
	X(cudaFuncGetName, 451, _v12030)                                       \
	X(cudaStreamBeginCaptureToGraph, 452, _v12030)                         \
	X(cudaGraphConditionalHandleCreate, 454, _v12030)                      \
	X(cudaGraphNodeGetDependencies, 456, _v12030)                          \
	X(cudaGraphAddNode, 460, _v12030)                                      \
	X(cudaStreamGetCaptureInfo, 461, _v12030)                              \
	X(cudaStreamUpdateCaptureDependencies, 463, _v12030)                   \
	X(cudaGetDriverEntryPointByVersion, 468, _v12050)                      \
	X(cudaLibraryLoadData, 470, _v12060)                                   \
	X(cudaLibraryUnload, 472, _v12060)                                     \
	X(cudaLibraryGetKernel, 473, _v12060)                                  \
	X(cudaKernelSetAttributeForDevice, 479, _v12060)                       \
	X(cudaStreamGetDevice, 480, _v12080)                                   \
	X(cudaEventElapsedTime, 486, _v12080)                                  \
	X(__cudaRegisterFatBinary, 494, _v13000)                               \
	X(__cudaRegisterFatBinaryEnd, 495, _v13000)                            \
	X(__cudaUnregisterFatBinary, 496, _v13000)                             \
	X(__cudaRegisterVar, 497, _v13000)                                     \
	X(__cudaRegisterFunction, 499, _v13000)                                \
	X(__cudaInitModule, 501, _v13000)                                      \
	X(__cudaPushCallConfiguration, 502, _v13000)                           \
	X(__cudaPopCallConfiguration, 503, _v13000)                            \
	X(__cudaGetKernel, 504, _v13000)                                       \
	X(__cudaLaunchKernel, 505, _v13000)                                    \
	X(__cudaLaunchKernel_ptsz, 506, _v13000)

#define SIM_CBID_ENUM(name, id, ...) SIM_CBID_##name = id,
enum sim_cbid {
	SIM_DRIVER_CALLS(SIM_CBID_ENUM) SIM_RUNTIME_CALLS(SIM_CBID_ENUM)
};
#undef SIM_CBID_ENUM

#endif
