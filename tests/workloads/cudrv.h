/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cudrv.h - the CUDA driver API for the C workloads, found with dlopen: simulated or real. Calls
 * that fail end the program with a line on stderr; a workload has nothing to do without them.
 */
#ifndef CUDRV_H
#define CUDRV_H

#include <stddef.h>
#include <stdint.h>

struct cudrv {
	int (*Init)(unsigned);
	int (*DeviceGetCount)(int *);
	int (*DeviceGetName)(char *, int, int);
	int (*PrimaryCtxRetain)(void **, int);
	int (*CtxSetCurrent)(void *);
	int (*CtxSynchronize)(void);
	int (*ModuleLoadData)(void **, const void *);
	int (*ModuleGetFunction)(void **, void *, const char *);
	int (*LaunchKernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
			    unsigned, void *, void **, void **);
	int (*LaunchHostFunc)(void *, void (*)(void *), void *);
	int (*MemAlloc)(uint64_t *, size_t);
	int (*MemFree)(uint64_t);
	int (*MemHostAlloc)(void **, size_t, unsigned);
	int (*MemcpyHtoDAsync)(uint64_t, const void *, size_t, void *);
	int (*MemcpyDtoHAsync)(void *, uint64_t, size_t, void *);
	int (*MemcpyDtoDAsync)(uint64_t, uint64_t, size_t, void *);
	int (*MemcpyPeerAsync)(uint64_t, void *, uint64_t, void *, size_t, void *);
	int (*MemsetD8Async)(uint64_t, unsigned char, size_t, void *);
	int (*StreamCreate)(void **, unsigned);
	int (*StreamSynchronize)(void *);
	int (*StreamWaitEvent)(void *, void *, unsigned);
	int (*EventCreate)(void **, unsigned);
	int (*EventRecord)(void *, void *);
	int (*EventSynchronize)(void *);
	int (*StreamBeginCapture)(void *, int);
	int (*StreamEndCapture)(void *, void **);
	int (*GraphInstantiate)(void **, void *, uint64_t);
	int (*GraphLaunch)(void *, void *);
};
extern struct cudrv cu;

/* Loads the driver and calls cuInit. */
void cudrv_init(void);

/* Primary context of the device, made current in this thread. */
void *cudrv_device(int ordinal);

/* A kernel of this name (letters, digits, underscore) that spins for its u64 parameter's ns. */
void *cudrv_kernel(const char *name);

/* Launches it. */
void cudrv_launch(void *kernel, uint64_t ns, void *stream);

/*
 * From now on kernels, copies, memsets, graph launches and synchronisations go through the CUDA
 * runtime's calls, as they do in PyTorch: the simulator's (libgpusimrt.so) or NVIDIA's (a path of
 * libcudart.so.13). Kernels made before cannot be launched any more by NVIDIA's.
 */
void cudrv_use_runtime(const char *path);

/* Ends the program if rc is not 0. */
void cudrv_check(int rc, const char *what);
#define CU(call) cudrv_check(cu.call, #call)

#endif
