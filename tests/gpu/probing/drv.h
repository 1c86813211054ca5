/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drv.h - the CUDA driver by dlopen, and two kernels of known length. Types are plain C: handles
 * are void *, CUresult is int, CUdeviceptr is uint64_t (the names and arguments are those of
 * cuda.h, stable since CUDA 4; the suffixes _v2 are what its macros append).
 */
#ifndef PROBE_DRV_H
#define PROBE_DRV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct drv {
	int (*Init)(unsigned);
	int (*DriverGetVersion)(int *);
	int (*DeviceGetCount)(int *);
	int (*DeviceGetName)(char *, int, int);
	int (*DeviceGetAttribute)(int *, int, int);
	int (*DeviceGetPCIBusId)(char *, int, int);
	int (*PrimaryCtxRetain)(void **, int);
	int (*CtxSetCurrent)(void *);
	int (*CtxSynchronize)(void);
	int (*ModuleLoadData)(void **, const void *);
	int (*ModuleGetFunction)(void **, void *, const char *);
	int (*LaunchKernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
			    unsigned, void *, void **, void **);
	int (*LaunchHostFunc)(void *, void (*)(void *), void *);
	int (*StreamCreate)(void **, unsigned);
	int (*StreamSynchronize)(void *);
	int (*EventCreate)(void **, unsigned);
	int (*EventRecord)(void *, void *);
	int (*EventSynchronize)(void *);
};
extern struct drv drv;

#define DRV_MULTIPROCESSORS 16 /* CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT */

/* Loads libcuda and calls cuInit. 0, or a CUresult; -1: no libcuda (drv_why says so). */
int drv_init(void);
const char *drv_why(void);

/* drv_init, device 0's primary context made current, both kernels, a stream. 0 or as above. */
int drv_begin(void);
extern void *drv_stream;

/* The primary context again, made current in another thread. */
int drv_use(void);

/* A kernel of `blocks` blocks that runs for ns (by %globaltimer), or for n turns of a loop. */
int drv_spin(int64_t ns, unsigned blocks);
int drv_turns(int64_t n, unsigned blocks);
int drv_wait(void);

/* As many blocks as the device has multiprocessors. */
unsigned drv_blocks(void);

#endif
