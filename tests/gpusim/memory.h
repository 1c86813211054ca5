/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - memory of a device: the program's and that behind arrays. Any thread, without the
 * process's lock.
 */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "state.h"

/* Of the current context; kind is device, array or managed. An enum sim_result. */
int sim_memory_alloc(enum sim_memory kind, size_t bytes, uint64_t *address);

/* Waits for the current context's work, as the driver's does. An enum sim_result. */
int sim_memory_free(uint64_t address);

/* All of a context whose work is over and which ends. */
void sim_memory_release(const struct sim_ctx *ctx);

#endif
