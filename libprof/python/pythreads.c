/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists interpreters and their threads.
 */
#include <errno.h>

#include "pypriv.h"
#include "pystack.h"
#include "pytid.h"

#define INTERPRETERS_MAX 16u
#define THREADS_MAX 65536u
#define TRIES 3u

struct prof_py_known *prof_py_known(struct prof_py *py, uint64_t tstate)
{
	struct prof_py_known *k = &py->known[(tstate >> 4 ^ tstate >> 14) % PROF_PY_KNOWN];

	if (k->tstate != tstate)
		*k = (struct prof_py_known){ .tstate = tstate };
	return k;
}

/*
 * The number that Python noted holds for as long as it stands there. Where it noted none (before
 * 3.11) a new thread may have the same state and the same descriptor as one that has ended, so that
 * the descriptor is read each time; only that its number is a thread's is kept.
 */
static pid_t find_tid(struct prof_py *py, uint64_t tstate, uint64_t ident, uint64_t native)
{
	struct prof_py_known *k = prof_py_known(py, tstate);
	pid_t tid;

	if (native && k->native == native)
		return k->tid;
	tid = prof_pytid(&py->mem, ident, native, k->native ? 0 : k->tid);
	k->native = tid == (pid_t)native ? native : 0;
	k->tid = tid;
	return tid;
}

int prof_py_read_thread(struct prof_py *py, uint64_t at, struct prof_py_thread *t, uint64_t *next)
{
	const struct prof_pylayout *l = &py->layout;
	uint8_t raw[8192];
	uint64_t native = 0;
	int rc = prof_pymem_read(&py->mem, at, raw, l->thread.bytes);

	if (rc)
		return rc == -EFAULT ? -EAGAIN : rc;
	if (l->thread.native != PROF_PYLAYOUT_NONE)
		native = prof_pymem_word(raw, l->thread.native);
	*t = (struct prof_py_thread){ .tstate = at,
				      .interp = prof_pymem_word(raw, l->thread.interp),
				      .ident = prof_pymem_word(raw, l->thread.ident) };
	t->tid = find_tid(py, at, t->ident, native);
	*next = prof_pymem_word(raw, l->thread.next);
	return 0;
}

static int list_interpreter(struct prof_py *py, uint64_t interp, struct prof_py_thread *t,
			    size_t room, size_t *n)
{
	struct prof_py_thread one;
	uint64_t at;
	unsigned int seen;
	int rc = prof_pymem_read(&py->mem, interp + py->layout.interp.threads, &at, sizeof(at));

	for (seen = 0; !rc && at && *n < room && seen < THREADS_MAX; seen++) {
		rc = prof_py_read_thread(py, at, &one, &at);
		if (!rc && one.interp != interp)
			rc = -EAGAIN;
		if (!rc && one.tid)
			t[(*n)++] = one;
	}
	return rc;
}

int prof_py_interpreters(struct prof_py *py,
			 int (*one)(struct prof_py *py, uint64_t interp, void *arg), void *arg)
{
	uint64_t interp;
	unsigned int n;
	int rc = prof_pymem_read(&py->mem, py->at.runtime + py->layout.interpreters, &interp,
				 sizeof(interp));

	for (n = 0; !rc && interp && n < INTERPRETERS_MAX; n++) {
		rc = one(py, interp, arg);
		if (!rc)
			rc = prof_pymem_read(&py->mem, interp + py->layout.interp.next, &interp,
					     sizeof(interp));
	}
	return rc;
}

struct listing {
	struct prof_py_thread *t;
	size_t room, n;
};

static int list_one(struct prof_py *py, uint64_t interp, void *arg)
{
	struct listing *list = arg;

	return list_interpreter(py, interp, list->t, list->room, &list->n);
}

int prof_py_threads(struct prof_py *py, struct prof_py_thread *t, size_t room)
{
	struct listing list = { .t = t };
	unsigned int tries;
	int rc = -EAGAIN;

	list.room = room < THREADS_MAX ? room : THREADS_MAX;
	for (tries = 0; rc == -EAGAIN && tries < TRIES; tries++) {
		list.n = 0;
		rc = prof_py_interpreters(py, list_one, &list);
		if (rc == -EFAULT)
			rc = -EAGAIN;
	}
	return rc ? rc : (int)list.n;
}
