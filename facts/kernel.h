/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels by their names: kernels.def. Pure. */
#ifndef FACTS_KERNEL_H
#define FACTS_KERNEL_H

#include <stdbool.h>

bool facts_kernel_is_collective(const char *name);

/* Of a collective: nobody leaves before all have come. */
bool facts_kernel_meets(const char *name);

/* The library whose work on input it is; NULL: none. */
const char *facts_kernel_input(const char *name);

#endif
