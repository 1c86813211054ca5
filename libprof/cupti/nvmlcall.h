/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls into NVML: one at a time, apart from forks (core/fork_lock.h), and none once the end has
 * come. For the thread that may wait (nvml.h), but for the two that say otherwise.
 */
#ifndef PROF_NVMLCALL_H
#define PROF_NVMLCALL_H

#include <stdbool.h>
#include "cuda_api.h"

/* At arm (devices.h): loads it. */
void prof_nvmlcall_load(void);

/* Its functions, NULL where this one has none; NULL: there is no NVML. */
const struct prof_nvml *prof_nvmlcall(void);

/* Any thread: no call begins any more. */
void prof_nvmlcall_off(void);

bool prof_nvmlcall_enter(void);
int prof_nvmlcall_leave(int rc);

/* What it answers; -1: it was not asked. */
#define PROF_NVML(name, ...)                                               \
	(prof_nvmlcall() && prof_nvmlcall()->name && prof_nvmlcall_enter() \
		 ? prof_nvmlcall_leave(prof_nvmlcall()->name(__VA_ARGS__)) \
		 : -1)

#endif
