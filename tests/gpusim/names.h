/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h - kernel names that live as long as the process: records point at them.
 */
#ifndef SIM_NAMES_H
#define SIM_NAMES_H

/* The one copy of this text; any thread. */
const char *sim_name(const char *text);

#endif
