/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shown.h - what the ranks of a collective show each other: blocks of memory that the processes of
 * a node share, behind the segment in its file. The file is sparse, and memory is asked for before
 * it is written to, so that a full file system is an error and no signal.
 */
#ifndef SIM_SHOWN_H
#define SIM_SHOWN_H

#include <stddef.h>

#include "shm.h"

/* The lowest free block, which is the caller's now; -1: none. The segment's lock is held. */
int sim_shown_take(struct sim_shm *shm);
void sim_shown_free(struct sim_shm *shm, int block);

/* Memory of the block, of at least so many bytes; NULL: there is none. Any thread. */
void *sim_shown_at(int block, size_t bytes);

#endif
