/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What libprof.so exports. InitializeInjectionNvtx2 stands in nvtx.h.
 */
#ifndef PROF_ENTRY_H
#define PROF_ENTRY_H

#define PROF_EXPORT __attribute__((visibility("default")))

/* Called once by the CUDA driver during cuInit. Always 1. */
PROF_EXPORT int InitializeInjection(void);

#endif
