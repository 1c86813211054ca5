/* SPDX-License-Identifier: Apache-2.0 */
/* What the files behind pystack.h share. */
#ifndef PROF_PYPRIV_H
#define PROF_PYPRIV_H

#include <string.h>

#include "pycode.h"
#include "pylayout.h"
#include "pymem.h"
#include "pystack.h"
#include "pywalk.h"

#define PROF_PY_ROOTS 1024u /* threads whose outermost code is known */

struct prof_py_root {
	uint64_t tstate, code;
	uint64_t other; /* where it ended instead, lately */
	unsigned int votes; /* for that */
};

struct prof_py {
	struct prof_pymem mem;
	struct prof_pyplaces at;
	struct prof_pylayout layout;
	uint32_t version;
	struct prof_py_root root[PROF_PY_ROOTS];
	struct prof_pywalk walk[2];
	uint8_t raw[PROF_PY_FRAMES][PROF_PYCODE_BYTES]; /* code objects of a walk */
	struct prof_pycodes codes;
};

/*
 * Calls @one for each interpreter, by address, until it returns other than 0, and returns that; or
 * an error of reading.
 */
int prof_py_interpreters(struct prof_py *py,
			 int (*one)(struct prof_py *py, uint64_t interp, void *arg), void *arg);

/* The thread whose PyThreadState is at @at, and the next one's. 0, -EAGAIN: it is none. */
int prof_py_read_thread(struct prof_py *py, uint64_t at, struct prof_py_thread *t, uint64_t *next);

static inline uint64_t prof_py_word(const uint8_t *raw, uint32_t offset)
{
	uint64_t value;

	memcpy(&value, raw + offset, sizeof(value));
	return value;
}

#endif
