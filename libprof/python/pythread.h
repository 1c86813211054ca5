/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that runs Python, and how much of its stack is looked at. */
#ifndef PROF_PYTHREAD_H
#define PROF_PYTHREAD_H

#include <stdint.h>
#include <sys/types.h>

#define PROF_PY_FRAMES 64u /* the innermost ones are given */

struct prof_py_thread {
	pid_t tid; /* as the process itself numbers it */
	uint64_t tstate; /* address of its PyThreadState */
	uint64_t interp,
		ident; /* what the PyThreadState must still say: its interpreter, pthread_t */
};

#endif
