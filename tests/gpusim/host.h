/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.h - what gpusim-host.so, preloaded, offers to the simulator: the true clock, and what this
 * host's clock shows at a true time. Without it both are NULL, and there is one clock.
 */
#ifndef SIM_HOST_H
#define SIM_HOST_H

#include <stdint.h>

extern uint64_t gpusim_true_now(void) __attribute__((weak, visibility("default")));
extern uint64_t gpusim_shown(uint64_t true_ns) __attribute__((weak, visibility("default")));

#endif
