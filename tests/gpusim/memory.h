/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - memory of a device: the program's, that behind arrays, and pools. Any thread, without
 * the process's lock.
 */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "state.h"

struct sim_pool;

/* Of the current context; kind is device, array or managed. An enum sim_result. */
int sim_memory_alloc(enum sim_memory kind, size_t bytes, uint64_t *address);

/* The same from a pool, on its device. */
int sim_memory_from(struct sim_pool *pool, size_t bytes, uint64_t *address);

/* Waits for the current context's work, as the driver's does. An enum sim_result. */
int sim_memory_free(uint64_t address);

/* The same without waiting: the caller knows that nothing needs it any more. */
int sim_memory_drop(uint64_t address);

/* Counts bytes (fewer, if negative) against a device; false when it has no room for them. */
bool sim_memory_account(uint32_t physical, int64_t bytes);

/* From now on memory of devices has content, also what has been allocated. */
void sim_memory_open(void);

/* All of a context whose work is over and which ends. */
void sim_memory_release(const struct sim_ctx *ctx);

/* What pools count; api_pool.c. The process's lock is not held. */
struct sim_ctx *sim_pool_context(struct sim_pool *pool);
void sim_pool_count(struct sim_pool *pool, int64_t bytes);

#endif
