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

/* The lock of a process with one interpreter, and what else is asked of it: all in one read. */
struct lock {
	uint64_t first, next, gil; /* the list of interpreters, and where the lock is */
	uint64_t holder;
	int32_t locked, collecting;
};

static uint64_t collecting_of(const struct prof_py *py, uint64_t interp)
{
	return py->layout.interp.collecting == PROF_PYLAYOUT_NONE
		       ? py->at.runtime + py->layout.runtime_collecting
		       : interp + py->layout.interp.collecting;
}

static bool read_lock(struct prof_py *py, struct lock *l)
{
	const struct prof_pylayout *to = &py->layout;
	struct prof_pymem_part part[] = {
		{ py->at.runtime + to->interpreters, &l->first, sizeof(l->first) },
		{ py->interp + to->interp.next, &l->next, sizeof(l->next) },
		{ py->gil + to->gil_locked, &l->locked, sizeof(l->locked) },
		{ py->gil + to->gil_holder, &l->holder, sizeof(l->holder) },
		{ collecting_of(py, py->interp), &l->collecting, sizeof(l->collecting) },
		{ py->interp + to->interp.gil, &l->gil, sizeof(l->gil) },
	};
	size_t parts = sizeof(part) / sizeof(*part);

	l->gil = py->gil;
	parts -= to->interp.gil == PROF_PYLAYOUT_NONE; /* it stands where it stands */
	return !prof_pymem_read_parts(&py->mem, part, parts) && l->first == py->interp &&
	       !l->next && l->gil == py->gil;
}

static int note_only(struct prof_py *py, uint64_t interp, void *arg)
{
	unsigned int *n = arg;

	py->interp = interp;
	return ++*n > 1;
}

/* False: there are several interpreters, or none that can be read. */
static bool look_at_lock(struct prof_py *py, struct lock *l)
{
	unsigned int n = 0;

	if (py->interp && py->gil && read_lock(py, l))
		return true;
	py->gil = 0;
	if (!prof_py_interpreters(py, note_only, &n) && n == 1)
		py->gil = gil_of(py, py->interp);
	return py->gil && read_lock(py, l);
}

static pid_t tid_of(struct prof_py *py, uint64_t holder)
{
	struct prof_py_thread t;
	uint64_t next;

	return prof_py_read_thread(py, holder, &t, &next) ? 0 : t.tid;
}

static pid_t holder_in(struct prof_py *py, const struct lock *l)
{
	return l->locked == 1 && l->holder ? tid_of(py, l->holder) : 0;
}

static int find_holder(struct prof_py *py, uint64_t interp, void *arg)
{
	uint64_t at = gil_of(py, interp), holder;
	int32_t locked;

	if (!at || prof_pymem_read(&py->mem, at + py->layout.gil_locked, &locked, 4) ||
	    locked != 1 || prof_pymem_read(&py->mem, at + py->layout.gil_holder, &holder, 8) ||
	    !holder)
		return 0;
	*(pid_t *)arg = tid_of(py, holder);
	return *(pid_t *)arg ? 1 : 0;
}

pid_t prof_py_gil_holder(struct prof_py *py)
{
	pid_t holder = 0;
	struct lock l;

	if (look_at_lock(py, &l))
		return holder_in(py, &l);
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
	struct lock l;

	if (address - py->at.runtime < py->at.runtime_bytes)
		return true;
	if (py->gil || look_at_lock(py, &l)) /* as it was a moment ago, at the thread's sample */
		return address - py->gil < PROF_PYGIL_BYTES;
	return prof_py_interpreters(py, is_in_gil, &address) == 1;
}

static int is_collecting(struct prof_py *py, uint64_t interp, void *arg)
{
	int32_t collecting;

	(void)arg;
	return !prof_pymem_read(&py->mem, collecting_of(py, interp), &collecting,
				sizeof(collecting)) &&
	       collecting == 1;
}

pid_t prof_py_lock_state(struct prof_py *py, bool *collecting)
{
	struct lock l;

	if (!look_at_lock(py, &l)) {
		*collecting = prof_py_collecting(py);
		return prof_py_gil_holder(py);
	}
	*collecting = l.collecting == 1;
	return holder_in(py, &l);
}

bool prof_py_collecting(struct prof_py *py)
{
	struct lock l;

	if (look_at_lock(py, &l))
		return l.collecting == 1;
	return prof_py_interpreters(py, is_collecting, NULL) == 1;
}
