/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults.h - what goes wrong by script (GPUSIM_FAULT, README.md): which record is dropped or
 * damaged, when buffers are full, late or missing, when a flush hangs, and a foreign client that
 * takes the callbacks over. Each strike is a line in the truth file.
 */
#ifndef SIM_CUPTI_FAULTS_H
#define SIM_CUPTI_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "../trace.h"

enum fault_stamp {
	FAULT_NONE,
	FAULT_ZERO,
	FAULT_REVERSE,
	FAULT_DROP
};

/* The client has registered callbacks: fault times count from the first such call. */
void fault_armed(const struct sim_export *driver);

/* Any thread. What happens to the record of this op. */
enum fault_stamp fault_record(const struct sim_op *op);

/* The record of this op found no buffer: says so, whoever is to blame. */
void fault_lost(const struct sim_export *driver, const struct sim_op *op);

/* Records after which a buffer counts as full; 0: when it is. */
uint64_t fault_full(void);

/* Is the client's pool empty now, as far as CUPTI can tell? */
bool fault_no_buffer(void);

/* Does CUPTI ask for the next buffer as soon as one is retired? Then a flush may find it empty. */
bool fault_early(void);

/* ns for which finished buffers are kept back, when FlushAll asks and the worker looks. */
uint64_t fault_late(void);

/* Blocks a flush as long as the script says. Without locks. */
void fault_hang(void);

#endif
