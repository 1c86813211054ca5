/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Python stacks of this process or of a child, read from its memory: nothing is called in Python,
 * no lock of it is taken, no thread is stopped. CPythons of facts/pythons.def on 64-bit Linux,
 * builds with the global lock; every structure read is checked, and a version that does not look as
 * expected is refused as a whole.
 *
 * A prof_py belongs to one process and may be used by one thread at a time. A forked child opens
 * its own. Only prof_py_open and prof_py_close map memory; the others allocate nothing, take no
 * lock and may run while a fork waits for them.
 */
#ifndef PROF_PYSTACK_H
#define PROF_PYSTACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "pythread.h"

#define PROF_PY_TEXT 16384u /* room that is enough for all stacks but freakish ones */

struct prof_py;

/*
 * Finds Python in process @pid, 0: this one. A forked child has our addresses; others are searched
 * through /proc/PID. *py is the caller's, until prof_py_close. Reads some hundred words: not for a
 * hot path.
 *   -ENOENT        no Python there, or not initialised yet: ask again later
 *   -ENOTSUP       a Python that is not known, or does not look as it should; prof_py_note says why
 *   -EPERM, -ENOSYS  its memory cannot be read
 *   -ENOMEM
 */
int prof_py_open(struct prof_py **py, pid_t pid);
void prof_py_close(struct prof_py *py);

/*
 * One sentence on what the last prof_py_open met that a user should know (why it refused, or by
 * which way round memory is read); "" if nothing.
 */
const char *prof_py_note(void);

/* The version as Py_Version has it, 0x030b02f0; the last two bytes are 0 before 3.11. */
uint32_t prof_py_version(const struct prof_py *py);

/*
 * The threads that have run Python, at most @room of them, newest first. Those whose tid cannot be
 * told are left out. The number of them, or -EAGAIN: the list changed under us.
 */
int prof_py_threads(struct prof_py *py, struct prof_py_thread *t, size_t room);

/*
 * The stack of a thread as wire/evidence.h has it: function, tab, file, tab, line, and of a
 * generator or coroutine tab, g, of one that pycoro.h put in tab, s; one frame per line, innermost
 * first; line 0: none known. NUL-terminated; whole frames only, as many as fit. What a forked
 * worker of multiprocessing inherited from its parent's stack is left out. Its length (0: the
 * thread runs no Python now); -EAGAIN: the stack changed while it was read;
 * -ENOENT: the thread is gone.
 */
ssize_t prof_py_walk(struct prof_py *py, const struct prof_py_thread *t, char *text, size_t room);

/* The thread that holds the global lock (of any interpreter); 0: none, or not known. */
pid_t prof_py_gil_holder(struct prof_py *py);

/* The same and, in the same read where there is one interpreter, whether the collector runs. */
pid_t prof_py_lock_state(struct prof_py *py, bool *collecting);

/*
 * Is this the address of a word inside _PyRuntime or inside an interpreter's global lock? A thread
 * that waits on a futex there waits for the global lock.
 */
bool prof_py_in_runtime(struct prof_py *py, uint64_t address);

/* Is the garbage collector running? False where it cannot be told. */
bool prof_py_collecting(struct prof_py *py);

#endif
