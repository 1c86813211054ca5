/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of NVML's functions, and the gate in front of it.
 */
#include "nvmlcall.h"

#include <stdatomic.h>

#include "core/fork_lock.h"

static struct {
	struct prof_nvml nvml;
	bool found; /* before any thread asks */
	atomic_bool hushed;
} call;

void prof_nvmlcall_load(void)
{
	call.found = !prof_nvml_load(&call.nvml);
}

const struct prof_nvml *prof_nvmlcall(void)
{
	return call.found ? &call.nvml : NULL;
}

void prof_nvmlcall_off(void)
{
	atomic_store(&call.hushed, true);
}

bool prof_nvmlcall_enter(void)
{
	return !atomic_load(&call.hushed) && prof_fork_lock_nvml_enter();
}

int prof_nvmlcall_leave(int rc)
{
	prof_fork_lock_nvml_leave();
	return rc;
}
