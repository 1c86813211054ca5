/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which GPUs a job was given, as NVML knows them. NVML is found at run time and asked in a process
 * of its own that has a few seconds: a hook of the scheduler must neither crash nor hang with it.
 */
#ifndef VIEW_JOB_NVML_H
#define VIEW_JOB_NVML_H

#include "alloc.h"

/*
 * Fills uuid, name and MIG of each of the @n GPUs, known by index or UUID, as far as NVML can say;
 * texts lie in @mem. An index is that of /dev/nvidia<index>, which is what schedulers count; where
 * NVML does not tell that number, its own. 0, or -ENOENT (no NVML), -EIO (it refused or crashed),
 * -ETIMEDOUT; then what is known stays as it was.
 */
int view_nvml_fill(struct view_alloc_gpu *gpu, size_t n, struct base_arena *mem);

/*
 * A function of a library, NULL if it lacks it, into the pointer at @to: out of dlsym's object
 * pointer, as POSIX wants it. @handle: dlopen's.
 */
void view_nvml_find(void *handle, void *to, const char *name);

#endif
