/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who a process is that holds a GPU, from /proc: whose, what command, of which job of a
 * scheduler, and whether it is recorded (libprof.so is in it, and nothing switches it off).
 * Another user's process tells that to root alone. One thread.
 */
#ifndef VIEW_WHO_H
#define VIEW_WHO_H

#include "holders.h"

extern const struct view_holder_source view_who;

#endif
