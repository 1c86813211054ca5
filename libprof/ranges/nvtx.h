/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVTX ranges. InitializeInjectionNvtx2 is what NVTX's header looks up in the library that
 * NVTX_INJECTION64_PATH names; it runs once for every shared object that uses NVTX, on any thread,
 * perhaps several at a time, perhaps before CUDA, perhaps in a process that never uses a GPU.
 *
 * Push and pop, start and end, in all their variants, with domains and registered strings. Marks,
 * names and resources are left alone, so that NVTX skips those calls. Until the arm, and in forked
 * children, a range costs one load and is not recorded. Of a call of NCCL's the communicator is
 * kept, too.
 */
#ifndef PROF_NVTX_H
#define PROF_NVTX_H

#include <stdbool.h>
#include <stdint.h>

/* Exported. Always 1. With GPUSTARVE_NVTX=0 or GPUSTARVE=0 no slot is taken. */
int InitializeInjectionNvtx2(const void *(*get_table)(uint32_t id));

/*
 * From the constructor, where nothing of libprof may run: InitializeInjectionNvtx2 takes no slot.
 */
void prof_nvtx_off(void);

/* From the arm: ranges are recorded from now on. */
void prof_nvtx_arm(void);

#endif
