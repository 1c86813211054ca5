/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels by their names: kernels.def. Pure. */
#ifndef FACTS_KERNEL_H
#define FACTS_KERNEL_H

#include <stdbool.h>

bool facts_kernel_is_collective(const char *name);

enum facts_meeting { /* of kernels on several GPUs that are one communication */
	FACTS_MEET_NOT, /* one may leave before the other comes, or it is no communication */
	FACTS_MEET_ONE, /* who receives does not leave before the other comes */
	FACTS_MEET_ALL, /* of a collective: nobody leaves before all have come */
};
enum facts_meeting facts_kernel_meeting(const char *name);

/* The library whose work on input it is; NULL: none. */
const char *facts_kernel_input(const char *name);

#endif
