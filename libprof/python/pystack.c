/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns the frames of one thread into text.
 */
#include "pystack.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "pypriv.h"

#define TRIES 32u /* walks, at most, for a stack that is whole */
#define PATIENCE 3u /* of them until the thread stands still */
#define VOTES 24u /* for another end: of three walks of a thread that stands still, or of more */

/*
 * A stack that ends elsewhere than the thread's did so far is torn; or the thread's outermost
 * function is another now, which is seldom. Then it ends there again and again.
 */
static bool ends_right(struct prof_py_known *r, const struct prof_pywalk *w)
{
	if (!w->root)
		return true; /* not reached */
	if (w->root == r->root) {
		r->votes = 0;
		return true;
	}
	if (w->root != r->other)
		r->votes = 0;
	r->other = w->root;
	r->votes += w->still ? VOTES / 3 : r->root ? 1 : VOTES / 4;
	if (r->votes < VOTES)
		return false;
	r->root = w->root;
	return true;
}

/* A generator is always resumed by some frame; in one that has none it has just been left. */
static bool ends_in_generator(const struct prof_py *py, const struct prof_pywalk *w)
{
	uint32_t flags;

	if (py->layout.frames != PROF_PYFRAME_OBJECT) /* the walk itself has looked */
		return false;
	if (py->layout.code.flags == PROF_PYLAYOUT_NONE || !w->frames || w->depth > w->frames)
		return false;
	memcpy(&flags, py->raw[w->frames - 1] + py->layout.code.flags, sizeof(flags));
	return flags & PROF_PYCODE_GENERATORS;
}

static int read_codes(struct prof_py *py, const struct prof_pywalk *w)
{
	struct prof_pymem_part part[PROF_PY_FRAMES];
	size_t i;
	int rc;

	_Static_assert(PROF_PY_FRAMES <= PROF_PYMEM_PARTS, "all codes of a walk in one read");
	for (i = 0; i < w->frames; i++)
		part[i] = (struct prof_pymem_part){ w->frame[i].code, py->raw[i],
						    py->layout.code.bytes };
	rc = prof_pymem_read_parts(&py->mem, part, w->frames);
	if (rc)
		return rc == -EFAULT ? -EAGAIN : rc;
	for (i = 0; i < w->frames; i++)
		if (prof_pymem_word(py->raw[i], PROF_PYOBJECT_TYPE) != py->at.code_type)
			return -EAGAIN;
	return ends_in_generator(py, w) ? -EAGAIN : 0;
}

/* One walk to the end of this thread's stack. */
static int walk_once(struct prof_py *py, const struct prof_py_thread *t, struct prof_pywalk *w)
{
	int rc = prof_pywalk(&py->mem, &py->layout, t, w);

	if (!rc && w->frames && !ends_right(prof_py_known(py, t->tstate), w))
		rc = -EAGAIN;
	return rc;
}

/*
 * Are these the frames to be had of a thread that keeps moving? What a frame object tells of itself
 * shows that it was in the stack twice. Where frames lie in chunks what is left there looks as it
 * did: such must be met on the way from two places.
 */
static bool will_do(const struct prof_py *py, struct prof_pywalk *now,
		    const struct prof_pywalk *before)
{
	if (py->layout.frames == PROF_PYFRAME_OBJECT)
		return true;
	return before && prof_pywalk_lasting(now, before);
}

int prof_py_walk_frames(struct prof_py *py, const struct prof_py_thread *t,
			struct prof_pywalk **found)
{
	struct prof_pywalk *now = &py->walk[0], *before = NULL;
	unsigned int tries;
	int rc;

	py->last = NULL;
	for (tries = 0; tries < TRIES; tries++) {
		rc = walk_once(py, t, now);
		if (rc == -EAGAIN)
			continue;
		if (rc || now->still || (tries >= PATIENCE && will_do(py, now, before))) {
			*found = now;
			rc = rc ? rc : read_codes(py, now);
			if (!rc)
				prof_pycoro_add(py, now);
			py->last = rc ? NULL : now;
			py->last_tstate = t->tstate;
			if (rc != -EAGAIN)
				return rc;
		} else {
			before = now;
			now = now == &py->walk[0] ? &py->walk[1] : &py->walk[0];
		}
	}
	return -EAGAIN;
}

static int64_t lasti_of(const struct prof_py *py, const struct prof_pyframe *f)
{
	const struct prof_pylayout *l = &py->layout;

	if (l->frames == PROF_PYFRAME_STACK)
		return (int64_t)(f->instr - f->code - l->code.bytecode);
	return (int64_t)f->instr * (int64_t)l->lasti_unit;
}

struct text {
	char *at, *end;
};

static bool append(struct text *out, const struct prof_pycode *code, bool suspended, uint32_t line)
{
	const char *mark = suspended ? "\ts" : code->generator ? "\tg" : "";
	char number[16];
	int n = snprintf(number, sizeof(number), "\t%u%s", line, mark);
	size_t separator = 1;

	if ((size_t)(out->end - out->at) <= separator + code->bytes + (size_t)n)
		return false;
	memcpy(out->at, code->text, code->bytes);
	memcpy(out->at + code->bytes, number, (size_t)n);
	out->at += code->bytes + (size_t)n;
	*out->at++ = '\n';
	return true;
}

/* A forked worker begins where multiprocessing's child code does; outside of it is the parent. */
static bool is_parents(uint8_t inner, uint8_t mark)
{
	return inner == PROF_PYCODE_BOOTSTRAP && mark == PROF_PYCODE_LAUNCH;
}

size_t prof_py_own_frames(struct prof_py *py, const struct prof_pywalk *w)
{
	uint8_t inner = PROF_PYCODE_PLAIN;
	size_t i;

	for (i = 0; i < w->frames; i++) {
		const struct prof_pycode *code = prof_pycode_get(&py->codes, &py->mem, &py->layout,
								 w->frame[i].code, py->raw[i]);

		if (!code || is_parents(inner, code->mark))
			break;
		inner = code->mark;
	}
	return i;
}

static int write_text(struct prof_py *py, const struct prof_pywalk *w, struct text *out)
{
	uint8_t inner = PROF_PYCODE_PLAIN;
	size_t i;

	for (i = 0; i < w->frames; i++) {
		const struct prof_pyframe *f = &w->frame[i];
		struct prof_pycode *code =
			prof_pycode_get(&py->codes, &py->mem, &py->layout, f->code, py->raw[i]);
		uint32_t line;

		if (!code || !prof_pycode_line(&py->codes, &py->mem, &py->layout, code,
					       lasti_of(py, f), &line))
			return -EAGAIN;
		if (is_parents(inner, code->mark) || !append(out, code, f->suspended, line))
			break;
		inner = code->mark;
	}
	return 0;
}

ssize_t prof_py_walk(struct prof_py *py, const struct prof_py_thread *t, char *text, size_t room)
{
	struct text out = { text, text + room };
	struct prof_pywalk *found;
	int rc = prof_py_walk_frames(py, t, &found);

	if (!rc && room < 2)
		rc = -EINVAL;
	if (!rc)
		rc = write_text(py, found, &out);
	if (rc)
		return rc == -ESRCH ? -ENOENT : rc;
	if (out.at > text)
		out.at--; /* no newline behind the last */
	*out.at = 0;
	return out.at - text;
}
