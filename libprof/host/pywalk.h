/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chain of frames of one thread as raw addresses: which code objects, at which instruction. The
 * thread may run meanwhile: everything is bounded, and a chain that cannot be is refused.
 */
#ifndef PROF_PYWALK_H
#define PROF_PYWALK_H

#include <stddef.h>
#include <stdint.h>
#include "pylayout.h"
#include "pymem.h"
#include "pystack.h"

#define PROF_PYWALK_CHUNK 16384u
#define PROF_PYWALK_DEPTH 4096u /* frames followed on the way to the root */

struct prof_pyframe {
	uint64_t code;
	uint64_t instr; /* as the frame has it: an index or an address */
};

struct prof_pywalk { /* room to work in, and the result */
	uint64_t chunk_from;
	size_t chunk_bytes; /* 0: no copy */
	struct prof_pyframe frame[PROF_PY_FRAMES]; /* innermost first */
	size_t frames;
	uint64_t root; /* code of the outermost frame, 0: so deep that it was not reached */
	uint8_t chunk[PROF_PYWALK_CHUNK];
};

/*
 * 0 with w->frame; -ENOENT: that thread is gone; -EAGAIN: the chain is torn; or an error of
 * reading, such as -ESRCH.
 */
int prof_pywalk(struct prof_pymem *m, const struct prof_pylayout *l, const struct prof_py_thread *t,
		struct prof_pywalk *w);

#endif
