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
#define THREAD_OWN 1024u /* its root_cframe is within so many bytes */
#define CHUNK_MAX (UINT64_C(1) << 30)
#define AHEAD 1024u
#define OWNER_GENERATOR 1

/*
 * The newest bytes of the thread's chunk, and some that it may have come to use since. Without them
 * frames are read one by one.
 */
static void choose_chunk(const struct prof_pylayout *l, const uint8_t *thread,
			 struct prof_pywalk *w)
{
	uint64_t from, end, limit;

	w->chunk.bytes = w->older.bytes = 0;
	if (l->thread.chunk == PROF_PYLAYOUT_NONE)
		return;
	from = prof_pymem_word(thread, l->thread.chunk);
	end = prof_pymem_word(thread, l->thread.chunk + 8);
	limit = prof_pymem_word(thread, l->thread.chunk + 16);
	if (!from || end <= from || limit < end || limit - from > CHUNK_MAX)
		return;
	end = limit - end < AHEAD ? limit : end + AHEAD;
	if (end - from > PROF_PYWALK_CHUNK)
		from = end - PROF_PYWALK_CHUNK;
	w->chunk = (struct prof_pywindow){ from, end - from };
}

static const uint8_t *in_window(const struct prof_pywindow *window, const uint8_t *copy,
				uint64_t at, uint32_t bytes)
{
	if (at < window->from || window->bytes < bytes || at - window->from > window->bytes - bytes)
		return NULL;
	return copy + (at - window->from);
}

/* Older frames of a thread lie below newer ones, if they lie in a chunk. */
static void copy_older(struct prof_pymem *m, const struct prof_pylayout *l, struct prof_pywalk *w,
		       uint64_t at)
{
	uint64_t end = at + l->frame.bytes;

	w->older.bytes = 0;
	if (w->chunk.bytes && end > PROF_PYWALK_OLDER &&
	    !prof_pymem_read(m, end - PROF_PYWALK_OLDER, w->older_copy, PROF_PYWALK_OLDER))
		w->older = (struct prof_pywindow){ end - PROF_PYWALK_OLDER, PROF_PYWALK_OLDER };
}

static int read_frame(struct prof_pymem *m, const struct prof_pylayout *l, struct prof_pywalk *w,
		      uint64_t at, uint8_t *raw)
{
	const uint8_t *copy = in_window(&w->chunk, w->chunk_copy, at, l->frame.bytes);

	w->outside |= !copy && w->frames < PROF_PY_FRAMES;
	if (!copy)
		copy = in_window(&w->older, w->older_copy, at, l->frame.bytes);
	if (!copy) {
		copy_older(m, l, w, at);
		copy = in_window(&w->older, w->older_copy, at, l->frame.bytes);
	}
	if (!copy)
		return prof_pymem_read(m, at, raw, l->frame.bytes);
	memcpy(raw, copy, l->frame.bytes);
	return 0;
}

struct prof_pyframe prof_pywalk_frame_of(const struct prof_pylayout *l, uint64_t at,
					 const uint8_t *raw)
{
	struct prof_pyframe f = { .at = at,
				  .previous = prof_pymem_word(raw, l->frame.previous),
				  .code = prof_pymem_word(raw, l->frame.code) & ~l->code_tag };

	if (l->frames == PROF_PYFRAME_STACK) {
		f.instr = prof_pymem_word(raw, l->frame.instr);
	} else {
		int32_t lasti;

		memcpy(&lasti, raw + l->frame.instr, sizeof(lasti));
		f.instr = (uint64_t)(int64_t)lasti;
	}
	return f;
}

static void keep(struct prof_pywalk *w, const struct prof_pylayout *l, uint64_t at,
		 const uint8_t *raw)
{
	struct prof_pyframe f = prof_pywalk_frame_of(l, at, raw);

	w->root = f.code;
	w->depth++;
	if (w->frames < PROF_PY_FRAMES)
		w->frame[w->frames++] = f;
}

/*
 * A frame object that its function has left waits for another call of it, or in a list of such
 * frames, in which the word for the previous frame is the next in the list. Nothing refers to it.
 * Where frames lie in chunks this is seen only of what is no frame at all.
 */
static bool is_left(const struct prof_pylayout *l, const uint8_t *raw)
{
	if (l->frames == PROF_PYFRAME_OBJECT)
		return !prof_pymem_word(raw, PROF_PYOBJECT_REFERENCES);
	return !l->shim_ends && raw[l->frame.owner] >= l->owner_shim;
}

/*
 * Can a stack end with this frame? What a thread leaves has no previous frame either, and a
 * generator has none while it does not run.
 */
static bool may_end(const struct prof_pylayout *l, const uint8_t *raw)
{
	if (l->frames == PROF_PYFRAME_OBJECT)
		return true; /* cannot be told */
	if (l->shim_ends)
		return raw[l->frame.owner] >= l->owner_shim;
	return raw[l->frame.owner] != OWNER_GENERATOR && raw[l->frame.entry];
}

static int follow(struct prof_pymem *m, const struct prof_pylayout *l, struct prof_pywalk *w,
		  uint64_t at)
{
	uint64_t mark = at; /* of Brent's search for circles */
	uint8_t raw[PROF_PYWALK_FRAME];
	unsigned int n;

	for (n = 1; at && n <= PROF_PYWALK_DEPTH; n++) {
		int rc = at % 8 ? -EAGAIN : read_frame(m, l, w, at, raw);

		if (rc)
			return rc == -EFAULT ? -EAGAIN : rc;
		if (is_left(l, raw))
			return -EAGAIN;
		if (l->frames == PROF_PYFRAME_OBJECT || raw[l->frame.owner] < l->owner_shim)
			keep(w, l, at, raw);
		at = prof_pymem_word(raw, l->frame.previous);
		if (at == mark || (!at && !may_end(l, raw)))
			return -EAGAIN;
		if (!(n & (n - 1)))
			mark = at;
	}
	if (at)
		w->root = 0;
	return 0;
}

/*
 * Where the thread is: the state's word, and the frame. In 3.11 and 3.12 that word points to a
 * structure on the C stack, which may be left behind while we look: both must stay as they were.
 */
struct place {
	uint64_t word, frame;
};

static size_t place_parts(const struct prof_pylayout *l, const struct prof_py_thread *t,
			  uint64_t expected, struct place *p, struct prof_pymem_part *part)
{
	part[0] =
		(struct prof_pymem_part){ t->tstate + l->thread.frame, &p->word, sizeof(p->word) };
	if (l->thread.cframe == PROF_PYLAYOUT_NONE)
		return 1;
	part[1] = (struct prof_pymem_part){ expected + l->thread.cframe, &p->frame,
					    sizeof(p->frame) };
	return 2;
}

/* Behind a read of these parts. */
static void settle(const struct prof_pylayout *l, struct place *p)
{
	if (l->thread.cframe == PROF_PYLAYOUT_NONE)
		p->frame = p->word;
}

/* The place, the chunk and the place again, as close together as can be. */
static int look(struct prof_pymem *m, const struct prof_pylayout *l, const struct prof_py_thread *t,
		struct prof_pywalk *w, uint64_t expected, struct place *before, struct place *after)
{
	struct prof_pymem_part part[5];
	size_t n = place_parts(l, t, expected, before, part);
	int rc = -EFAULT;

	if (w->chunk.bytes) {
		part[n] = (struct prof_pymem_part){ w->chunk.from, w->chunk_copy, w->chunk.bytes };
		rc = prof_pymem_read_parts(
			m, part, n + 1 + place_parts(l, t, expected, after, part + n + 1));
		w->chunk.bytes = rc ? 0 : w->chunk.bytes;
	}
	if (rc == -EFAULT) {
		rc = prof_pymem_read_parts(m, part, n);
		w->outside = true;
	}
	settle(l, before);
	settle(l, after);
	return rc == -EFAULT ? -EAGAIN : rc;
}

static bool is_where(const struct place *a, const struct place *b)
{
	return a->word == b->word && a->frame == b->frame;
}

/* Leaves the frames from @first on, which are the outer ones. */
static void drop_inner(struct prof_pywalk *w, size_t first)
{
	memmove(w->frame, w->frame + first, (w->frames - first) * sizeof(*w->frame));
	w->frames -= first;
	w->depth -= first;
}

/*
 * What is to be read of all frames, from the root inwards, into the room of the chunk's copy, which
 * has served; frames that lie close together in one part. Where each frame comes to be in @copy.
 * Their number.
 */
static size_t frame_parts(const struct prof_pylayout *l, struct prof_pywalk *w,
			  struct prof_pymem_part *part, uint8_t **copy)
{
	struct prof_pymem_part last = { 0, w->chunk_copy, 0 };
	size_t n = 0, i;

	_Static_assert(PROF_PY_FRAMES * PROF_PYWALK_FRAME <= PROF_PYWALK_CHUNK, "their room");
	for (i = w->frames; i--;) {
		uint64_t at = w->frame[i].at, end = last.from + last.bytes;

		if (n && at >= end && at + l->frame.bytes - end <= PROF_PYWALK_FRAME) {
			last.bytes += at + l->frame.bytes - end;
		} else {
			last.to = (uint8_t *)last.to + last.bytes;
			last.from = at;
			last.bytes = l->frame.bytes;
			n++;
		}
		copy[i] = (uint8_t *)last.to + (at - last.from);
		part[n - 1] = last;
	}
	return n;
}

/* The first of the frames that are as they were, from the root inwards. */
static size_t first_lasting(const struct prof_pylayout *l, struct prof_pywalk *w,
			    uint8_t *const *copy)
{
	size_t i;

	for (i = w->frames; i; i--) {
		struct prof_pyframe *then = &w->frame[i - 1];
		struct prof_pyframe now = prof_pywalk_frame_of(l, then->at, copy[i - 1]);

		if (is_left(l, copy[i - 1]) || now.previous != then->previous ||
		    now.code != then->code)
			break;
		*then = now;
	}
	return i;
}

/*
 * Frames that were read one by one are of so many moments, and by the last of them a thread that
 * runs may be back in the frame of the first: a function's frame is often where its last one was.
 * So all of them are read once more, in one read, the outermost first, and those stay that lasted.
 */
static int look_again(struct prof_pymem *m, const struct prof_pylayout *l,
		      const struct prof_py_thread *t, struct prof_pywalk *w, uint64_t expected,
		      const struct place *found)
{
	struct prof_pymem_part part[PROF_PYMEM_PARTS];
	struct place before = { 0 }, after = { 0 };
	uint8_t *copy[PROF_PY_FRAMES];
	size_t n = place_parts(l, t, expected, &before, part), first;
	int rc;

	_Static_assert(PROF_PY_FRAMES + 4 <= PROF_PYMEM_PARTS, "the frames, and the place twice");
	n += frame_parts(l, w, part + n, copy);
	n += place_parts(l, t, expected, &after, part + n);
	rc = prof_pymem_read_parts(m, part, n);
	if (rc)
		return rc == -EFAULT ? -EAGAIN : rc;
	settle(l, &before);
	settle(l, &after);
	first = first_lasting(l, w, copy);
	w->still = !first && is_where(&before, found) && is_where(&after, found);
	drop_inner(w, first);
	return w->frames || w->still ? 0 : -EAGAIN;
}

/*
 * A structure on the C stack that has no frame is just being filled in. Only the one within the
 * thread's state, with which all begins, may have none.
 */
static bool is_entering(const struct prof_py_thread *t, const struct place *p)
{
	return !p->frame && p->word - t->tstate >= THREAD_OWN;
}

static int walk_from(struct prof_pymem *m, const struct prof_pylayout *l,
		     const struct prof_py_thread *t, struct prof_pywalk *w, uint64_t expected)
{
	struct place before = { 0 }, after = { 0 };
	int rc = look(m, l, t, w, expected, &before, &after);

	if (!rc && l->thread.cframe != PROF_PYLAYOUT_NONE &&
	    (before.word != expected || is_entering(t, &before)))
		return -EAGAIN;
	if (!rc)
		rc = follow(m, l, w, before.frame);
	w->still = !rc && is_where(&before, &after);
	if (!rc && (w->outside || !w->still))
		rc = look_again(m, l, t, w, expected, &before);
	return rc;
}

int prof_pywalk(struct prof_pymem *m, const struct prof_pylayout *l, const struct prof_py_thread *t,
		struct prof_pywalk *w)
{
	uint8_t thread[THREAD_MAX];
	int rc;

	w->frames = w->depth = 0;
	w->root = 0;
	w->still = true;
	w->outside = false;
	rc = prof_pymem_read(m, t->tstate, thread, l->thread.bytes);
	if (rc)
		return rc == -EFAULT ? -ENOENT : rc;
	if (prof_pymem_word(thread, l->thread.interp) != t->interp ||
	    prof_pymem_word(thread, l->thread.ident) != t->ident)
		return -ENOENT;
	if (!prof_pymem_word(thread, l->thread.frame))
		return 0;
	choose_chunk(l, thread, w);
	return walk_from(m, l, t, w, prof_pymem_word(thread, l->thread.frame));
}

/* Frame of @w that is @distance from the root, NULL: not kept. */
static const struct prof_pyframe *from_root(const struct prof_pywalk *w, size_t distance)
{
	size_t i = w->depth - 1 - distance;

	return distance < w->depth && i < w->frames ? &w->frame[i] : NULL;
}

bool prof_pywalk_lasting(struct prof_pywalk *w, const struct prof_pywalk *before)
{
	size_t first = w->depth - w->frames, distance, lasting;

	if (first < before->depth - before->frames)
		first = before->depth - before->frames;
	for (distance = first;; distance++) {
		const struct prof_pyframe *a = from_root(w, distance);
		const struct prof_pyframe *b = from_root(before, distance);

		if (!a || !b || a->at != b->at || a->code != b->code)
			break;
	}
	lasting = distance - first;
	memmove(w->frame, w->frame + (w->depth - distance), lasting * sizeof(*w->frame));
	w->frames = lasting;
	w->depth = distance;
	return lasting;
}
