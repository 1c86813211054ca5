/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns the frames of one thread into text.
 */
#include "pystack.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "pypriv.h"

#define TRIES 3u

static struct prof_py_root *root_of(struct prof_py *py, uint64_t tstate)
{
	struct prof_py_root *r = &py->root[(tstate >> 4 ^ tstate >> 14) % PROF_PY_ROOTS];

	if (r->tstate != tstate)
		*r = (struct prof_py_root){ .tstate = tstate };
	return r;
}

static int read_codes(struct prof_py *py)
{
	struct prof_pymem_part part[PROF_PY_FRAMES];
	const struct prof_pywalk *w = &py->walk;
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
		if (prof_py_word(py->raw[i], PROF_PYOBJECT_TYPE) != py->at.code_type)
			return -EAGAIN;
	return 0;
}

/*
 * A walk whose frames are all code and end where this thread's stack ends. The end is believed when
 * two walks agree on it, since it seldom changes.
 */
static int walk_whole(struct prof_py *py, const struct prof_py_thread *t)
{
	struct prof_py_root *known = root_of(py, t->tstate);
	uint64_t other = 0;
	unsigned int tries;
	int rc = -EAGAIN;

	for (tries = 0; tries < TRIES; tries++) {
		rc = prof_pywalk(&py->mem, &py->layout, t, &py->walk);
		if (!rc && py->walk.frames)
			rc = read_codes(py);
		if (rc == -EAGAIN)
			continue;
		if (rc || !py->walk.root || py->walk.root == known->code)
			return rc;
		if (py->walk.root == other) {
			known->code = other;
			return 0;
		}
		other = py->walk.root;
		rc = -EAGAIN;
	}
	return rc;
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

static bool append(struct text *out, const struct prof_pycode *code, uint32_t line)
{
	char number[16];
	int n = snprintf(number, sizeof(number), "\t%u", line);
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

static int write_text(struct prof_py *py, struct text *out)
{
	const struct prof_pywalk *w = &py->walk;
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
		if (is_parents(inner, code->mark) || !append(out, code, line))
			break;
		inner = code->mark;
	}
	return 0;
}

ssize_t prof_py_walk(struct prof_py *py, const struct prof_py_thread *t, char *text, size_t room)
{
	struct text out = { text, text + room };
	int rc = walk_whole(py, t);

	if (!rc && room < 2)
		rc = -EINVAL;
	if (!rc)
		rc = write_text(py, &out);
	if (rc)
		return rc == -ESRCH ? -ENOENT : rc;
	if (out.at > text)
		out.at--; /* no newline behind the last */
	*out.at = 0;
	return out.at - text;
}
