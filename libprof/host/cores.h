/* SPDX-License-Identifier: Apache-2.0 */
/* How many cores the job may use: advice on workers is worth no more than this. Any thread. */
#ifndef PROF_CORES_H
#define PROF_CORES_H

#include <stdint.h>

/* By the affinity of the main thread; 0: not known. */
uint32_t prof_cores(void);

#endif
