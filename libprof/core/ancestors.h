/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether this process is a notebook's kernel or was started below one. ipykernel gives what it
 * starts JPY_PARENT_PID, which batch systems pass on; so the ancestors are asked, too.
 */
#ifndef PROF_ANCESTORS_H
#define PROF_ANCESTORS_H

#include <stdbool.h>

/* Opens files below /proc, some for each ancestor: on a thread of ours. Never fails. */
bool prof_below_ipykernel(void);

#endif
