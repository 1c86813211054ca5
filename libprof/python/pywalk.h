/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chain of frames of one thread as raw addresses: which code objects, at which instruction. The
 * thread may run meanwhile: everything is bounded, a chain that cannot be is refused, and whether
 * the thread moved while it was read is told.
 */
#ifndef PROF_PYWALK_H
#define PROF_PYWALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "pylayout.h"
#include "pymem.h"
#include "pythread.h"

#define PROF_PYWALK_CHUNK 16384u
#define PROF_PYWALK_OLDER 4096u
#define PROF_PYWALK_FRAME 256u /* bytes of a frame, at most */
#define PROF_PYWALK_DEPTH 4096u /* frames followed on the way to the root */

struct prof_pyframe {
	uint64_t at, previous;
	uint64_t code;
	uint64_t instr; /* as the frame has it: an index or an address */
	bool suspended; /* it does not run: a coroutine's, put in by pycoro.h */
};

struct prof_pywindow { /* a copy of memory */
	uint64_t from;
	size_t bytes; /* 0: nothing in it */
};

struct prof_pywalk { /* a result, and room to work in */
	struct prof_pyframe frame[PROF_PY_FRAMES]; /* innermost first */
	size_t frames;
	size_t depth; /* frames to the root, kept or not */
	uint64_t root; /* code of the outermost frame, 0: so deep that it was not reached */
	bool still; /* the thread stayed in the same frame; else only those are kept that lasted */
	bool outside; /* frames are kept that the copy of the chunk has not */
	struct prof_pywindow chunk, older;
	uint8_t chunk_copy[PROF_PYWALK_CHUNK], older_copy[PROF_PYWALK_OLDER];
};

/*
 * 0 with w->frame; -ENOENT: that thread is gone; -EAGAIN: the chain is torn, or nothing of it
 * lasted; or an error of reading, such as -ESRCH.
 */
int prof_pywalk(struct prof_pymem *m, const struct prof_pylayout *l, const struct prof_py_thread *t,
		struct prof_pywalk *w);

/* The frame at @at, whose first layout.frame.bytes are @raw. */
struct prof_pyframe prof_pywalk_frame_of(const struct prof_pylayout *l, uint64_t at,
					 const uint8_t *raw);

/*
 * Leaves in @w those of its frames, from the root inwards, that @before has too: they lasted from
 * the one walk to the other. False: there are none.
 */
bool prof_pywalk_lasting(struct prof_pywalk *w, const struct prof_pywalk *before);

#endif
