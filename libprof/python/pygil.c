/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who holds the global lock, which words belong to it, and whether the collector runs.
 */
#include "pypriv.h"
#include "pystack.h"

/* Address of the lock of @interp, 0: cannot be told. */
static uint64_t gil_of(struct prof_py *py, uint64_t interp)
{
	uint64_t at = 0;

	if (py->layout.interp.gil == PROF_PYLAYOUT_NONE)
		return py->at.runtime + py->layout.runtime_gil;
	if (prof_pymem_read(&py->mem, interp + py->layout.interp.gil, &at, sizeof(at)))
		return 0;
	return at;
}

static int find_holder(struct prof_py *py, uint64_t interp, void *arg)
{
	uint64_t at = gil_of(py, interp), holder, next;
	struct prof_py_thread t;
	int32_t locked;

	if (!at || prof_pymem_read(&py->mem, at + py->layout.gil_locked, &locked, 4) ||
	    locked != 1 || prof_pymem_read(&py->mem, at + py->layout.gil_holder, &holder, 8) ||
	    !holder || prof_py_read_thread(py, holder, &t, &next))
		return 0;
	*(pid_t *)arg = t.tid;
	return t.tid ? 1 : 0;
}

pid_t prof_py_gil_holder(struct prof_py *py)
{
	pid_t holder = 0;

	prof_py_interpreters(py, find_holder, &holder);
	return holder;
}

static int is_in_gil(struct prof_py *py, uint64_t interp, void *arg)
{
	uint64_t at = gil_of(py, interp);

	return at && *(uint64_t *)arg - at < PROF_PYGIL_BYTES;
}

bool prof_py_in_runtime(struct prof_py *py, uint64_t address)
{
	if (address - py->at.runtime < py->at.runtime_bytes)
		return true;
	return prof_py_interpreters(py, is_in_gil, &address) == 1;
}

static int is_collecting(struct prof_py *py, uint64_t interp, void *arg)
{
	uint64_t at = interp + py->layout.interp.collecting;
	int32_t collecting;

	(void)arg;
	if (py->layout.interp.collecting == PROF_PYLAYOUT_NONE)
		at = py->at.runtime + py->layout.runtime_collecting;
	return !prof_pymem_read(&py->mem, at, &collecting, sizeof(collecting)) && collecting == 1;
}

bool prof_py_collecting(struct prof_py *py)
{
	return prof_py_interpreters(py, is_collecting, NULL) == 1;
}
