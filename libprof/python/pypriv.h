/* SPDX-License-Identifier: Apache-2.0 */
/* What the files behind pystack.h share. */
#ifndef PROF_PYPRIV_H
#define PROF_PYPRIV_H

#include "pycode.h"
#include "pycoro.h"
#include "pylayout.h"
#include "pymem.h"
#include "pythread.h"
#include "pywalk.h"
#include "reachpriv.h"

#define PROF_PY_KNOWN 1024u

struct prof_py_known { /* what was found out about a thread; may be overwritten by another's */
	uint64_t tstate;
	uint64_t native; /* what Python noted, if that is its tid; 0: tid is its descriptor's */
	pid_t tid; /* 0: not known */
	uint64_t root; /* the outermost code of its stack, 0: not known */
	uint64_t other; /* where it ended instead, lately */
	unsigned int votes; /* for that */
};

struct prof_py {
	struct prof_pymem mem;
	struct prof_pyplaces at;
	struct prof_pylayout layout;
	uint32_t version;
	struct prof_py_known known[PROF_PY_KNOWN];
	struct prof_pywalk walk[2];
	const struct prof_pywalk *last; /* the last of them, whose codes are in raw; NULL: none */
	uint64_t last_tstate; /* of its thread */
	/* the only interpreter there is and its lock, as seen last; 0: not known */
	uint64_t interp, gil;
	uint8_t raw[PROF_PY_FRAMES][PROF_PYCODE_BYTES]; /* code objects of a walk */
	struct prof_pycodes codes;
	struct prof_pyreach reach;
	struct prof_pycoros coros;
};

/*
 * Calls @one for each interpreter, by address, until it returns other than 0, and returns that; or
 * an error of reading.
 */
int prof_py_interpreters(struct prof_py *py,
			 int (*one)(struct prof_py *py, uint64_t interp, void *arg), void *arg);

/* The place for what is known of the thread @tstate; its fields are 0 if nothing is. */
struct prof_py_known *prof_py_known(struct prof_py *py, uint64_t tstate);

/*
 * A walk during which the thread stayed in one frame, with its codes in py->raw; of a thread that
 * keeps moving the frames that lasted for a while. In *found, until the next walk. As prof_py_walk
 * it returns.
 */
int prof_py_walk_frames(struct prof_py *py, const struct prof_py_thread *t,
			struct prof_pywalk **found);

/* How many of them are the process's own, and not inherited from the parent that forked it. */
size_t prof_py_own_frames(struct prof_py *py, const struct prof_pywalk *w);

/* The thread whose PyThreadState is at @at, and the next one's. 0, -EAGAIN: it is none. */
int prof_py_read_thread(struct prof_py *py, uint64_t at, struct prof_py_thread *t, uint64_t *next);

#endif
