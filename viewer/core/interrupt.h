/* SPDX-License-Identifier: Apache-2.0 */
/*
 * INT, TERM and HUP while a command writes files that are worth nothing in part: the first one asks
 * it to stop and take away what it wrote, a second one kills. Once per program, on its main thread.
 */
#ifndef VIEW_INTERRUPT_H
#define VIEW_INTERRUPT_H

#include <signal.h>

/* From now on; signals that are ignored stay so. The number of the one that came, 0: none did. */
const volatile sig_atomic_t *view_interrupt_watch(void);

/* Dies of the signal that came. Returns if none did. */
void view_interrupt_die(void);

#endif
