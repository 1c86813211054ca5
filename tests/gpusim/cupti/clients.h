/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clients.h - other clients of CUPTI in the same process, by script (GPUSIM_FAULT="foreign:...",
 * README.md). Each has a session on a thread of its own: it registers its callbacks, enables kinds,
 * and what its completion callback is handed it treats as its like do, whoever asked for it.
 */
#ifndef SIM_CUPTI_CLIENTS_H
#define SIM_CUPTI_CLIENTS_H

#include <stdint.h>

#include "../spec.h"
#include "../trace.h"

/* One session, from `begin` on. `spec` must stay. */
void client_start(const struct sim_spec *spec, uint64_t begin, const struct sim_export *driver);

#endif
