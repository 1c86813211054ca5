/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Was libprof loaded with the program (LD_PRELOAD), or later by dlopen, as the CUDA driver and NVTX
 * do? From the constructor, and at any time later.
 */
#ifndef PROF_ATSTART_H
#define PROF_ATSTART_H

#include <stdbool.h>

bool prof_at_start(void);

#endif
