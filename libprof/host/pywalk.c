/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows frames from a PyThreadState outwards. From 3.11 on frames lie close together in chunks,
 * so that the newest part of the chunk is copied in one read, which is faster and less torn than a
 * read per frame.
 */
#include "pywalk.h"

#include <errno.h>
#include <string.h>

#define THREAD_MAX 8192u
#define FRAME_MAX 4096u
#define CHUNK_MAX (UINT64_C(1) << 30)

static uint64_t word(const uint8_t *raw, uint32_t offset)
{
	uint64_t value;

	memcpy(&value, raw + offset, sizeof(value));
	return value;
}

/* Copies the newest bytes of the thread's chunk; without them frames are read one by one. */
static void copy_chunk(struct prof_pymem *m, const struct prof_pylayout *l, const uint8_t *thread,
		       struct prof_pywalk *w)
{
	uint64_t from, top;

	w->chunk_bytes = 0;
	if (l->thread.chunk == PROF_PYLAYOUT_NONE)
		return;
	from = word(thread, l->thread.chunk);
	top = word(thread, l->thread.chunk + 8);
	if (!from || top <= from || top - from > CHUNK_MAX)
		return;
	if (top - from > PROF_PYWALK_CHUNK)
		from = top - PROF_PYWALK_CHUNK;
	if (prof_pymem_read(m, from, w->chunk, top - from))
		return;
	w->chunk_from = from;
	w->chunk_bytes = top - from;
}

static int read_frame(struct prof_pymem *m, const struct prof_pylayout *l, struct prof_pywalk *w,
		      uint64_t at, uint8_t *raw)
{
	if (at >= w->chunk_from && w->chunk_bytes >= l->frame.bytes &&
	    at - w->chunk_from <= w->chunk_bytes - l->frame.bytes) {
		memcpy(raw, w->chunk + (at - w->chunk_from), l->frame.bytes);
		return 0;
	}
	return prof_pymem_read(m, at, raw, l->frame.bytes);
}

static void keep(struct prof_pywalk *w, const struct prof_pylayout *l, const uint8_t *raw)
{
	struct prof_pyframe f = { word(raw, l->frame.code) & ~l->code_tag, 0 };

	if (l->frames == PROF_PYFRAME_STACK) {
		f.instr = word(raw, l->frame.instr);
	} else {
		int32_t lasti;

		memcpy(&lasti, raw + l->frame.instr, sizeof(lasti));
		f.instr = (uint64_t)(int64_t)lasti;
	}
	w->root = f.code;
	if (w->frames < PROF_PY_FRAMES)
		w->frame[w->frames++] = f;
}

static int follow(struct prof_pymem *m, const struct prof_pylayout *l, struct prof_pywalk *w,
		  uint64_t at)
{
	uint64_t mark = at; /* of Brent's search for circles */
	uint8_t raw[FRAME_MAX];
	unsigned int n;

	for (n = 1; at && n <= PROF_PYWALK_DEPTH; n++) {
		int rc = at % 8 ? -EAGAIN : read_frame(m, l, w, at, raw);

		if (rc)
			return rc == -EFAULT ? -EAGAIN : rc;
		if (l->frames == PROF_PYFRAME_OBJECT || raw[l->frame.owner] < l->owner_shim)
			keep(w, l, raw);
		at = word(raw, l->frame.previous);
		if (at == mark)
			return -EAGAIN;
		if (!(n & (n - 1)))
			mark = at;
	}
	if (at)
		w->root = 0;
	return 0;
}

int prof_pywalk(struct prof_pymem *m, const struct prof_pylayout *l, const struct prof_py_thread *t,
		struct prof_pywalk *w)
{
	uint8_t thread[THREAD_MAX];
	uint64_t at;
	int rc;

	w->frames = 0;
	w->root = 0;
	rc = prof_pymem_read(m, t->tstate, thread, l->thread.bytes);
	if (rc)
		return rc == -EFAULT ? -ENOENT : rc;
	if (word(thread, l->thread.interp) != t->interp ||
	    word(thread, l->thread.ident) != t->ident)
		return -ENOENT;
	at = word(thread, l->thread.frame);
	if (at && l->thread.cframe != PROF_PYLAYOUT_NONE) {
		rc = prof_pymem_read(m, at + l->thread.cframe, &at, sizeof(at));
		if (rc)
			return rc == -EFAULT ? -EAGAIN : rc;
	}
	if (!at)
		return 0;
	copy_chunk(m, l, thread, w);
	return follow(m, l, w, at);
}
