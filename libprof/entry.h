/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way in for the CUDA driver. InitializeInjectionNvtx2 stands in ranges/nvtx.h.
 */
#ifndef PROF_ENTRY_H
#define PROF_ENTRY_H

#include "core/export.h"

/* Called once by the CUDA driver during cuInit. Always 1. */
PROF_EXPORT int InitializeInjection(void);

#endif
