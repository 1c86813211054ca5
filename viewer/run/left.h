/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a command left behind: processes of this machine that it started, or they in turn, and that
 * outlive it, as daemons do. Known by GPUSTARVE_UNITS, which each wrapper gives another value; one
 * that threw its environment away is not seen, and not recorded either.
 */
#ifndef VIEW_LEFT_H
#define VIEW_LEFT_H

#include <stdbool.h>

/* Of the wrapper whose command was given this file. "": of none. */
bool view_left_by(const char *counter);

/* Of any wrapper of the run that is kept in this folder. */
bool view_left_by_run(const char *dir);

#endif
