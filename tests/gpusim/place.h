/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.h - the time of an op on its engine. Takes the device's lock; any thread that holds the
 * process lock.
 */
#ifndef SIM_PLACE_H
#define SIM_PLACE_H

#include <stdbool.h>

#include "trace.h"

/* Gives op its start and end, not before op->ready; false when the engine's future is open. */
bool sim_place(struct sim_op *op);

/* Begins a kernel whose end is not known: gives op its start, returns its slot; -1 as above. */
int sim_place_open(struct sim_op *op);

/* op->end is known now. */
void sim_place_close(const struct sim_op *op, int slot);

#endif
