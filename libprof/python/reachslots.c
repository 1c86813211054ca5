/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The variables and evaluation stacks of frames.
 */
#include <errno.h>
#include <string.h>

#include "pypriv.h"
#include "reachpriv.h"

#define FRAME_HEAD 360u /* before the variables, at most */

int prof_pyreach_read(struct prof_py *py, struct prof_pymem_part *part, size_t parts)
{
	size_t i = 0;

	while (i < parts) {
		size_t n = parts - i < PROF_PYMEM_PARTS ? parts - i : PROF_PYMEM_PARTS;
		int rc = prof_pymem_read_some(&py->mem, part + i, n);

		if (rc < 0)
			return rc;
		i += (size_t)rc;
		if ((size_t)rc < n)
			part[i++].bytes = 0;
	}
	return 0;
}

/* ---- variables ---- */

static uint32_t number_at(const uint8_t *raw, uint32_t offset)
{
	uint32_t n;

	memcpy(&n, raw + offset, sizeof(n));
	return n;
}

static uint32_t least(uint64_t a, uint32_t b)
{
	return a < b ? (uint32_t)a : b;
}

static void size_slots(struct prof_py *py, const struct prof_pyframe *f, const uint8_t *head,
		       const uint8_t *code, struct prof_pyslots *out)
{
	const struct prof_pyrefs *refs = &py->layout.refs;
	uint64_t variables;
	uint32_t in_use;

	if (refs->frame.evaluation == PROF_PYLAYOUT_NONE)
		variables = number_at(code, refs->code.variables);
	else
		variables = (prof_pymem_word(head, refs->frame.evaluation) - f->at -
			     refs->frame.locals) /
			    8;
	out->locals = least(variables, PROF_PYREACH_LOCALS);
	if (variables > PROF_PYREACH_LOCALS)
		return;
	out->stack = least(number_at(code, refs->code.stack), PROF_PYREACH_STACK);
	in_use = out->stack ? prof_pyreach_in_use(py, f, head, code, out->locals) : 0;
	out->in_use = in_use < out->stack ? in_use : out->stack;
}

static int read_heads(struct prof_py *py, const struct prof_pywalk *w, size_t frames)
{
	struct prof_pyreach *r = &py->reach;
	uint8_t head[PROF_PY_FRAMES][FRAME_HEAD];
	struct prof_pymem_part part[PROF_PY_FRAMES];
	size_t i;
	int rc;

	for (i = 0; i < frames; i++)
		part[i] = (struct prof_pymem_part){ w->frame[i].at, head[i],
						    py->layout.refs.frame.locals };
	rc = prof_pyreach_read(py, part, frames);
	for (i = 0; i < frames && !rc; i++)
		if (part[i].bytes) {
			size_slots(py, &w->frame[i], head[i], py->raw[i], &r->slots[i]);
			r->globals[i] = prof_pymem_word(head[i], py->layout.refs.frame.globals);
		}
	return rc;
}

int prof_pyreach_slots(struct prof_py *py, const struct prof_pywalk *w, size_t frames)
{
	struct prof_pyreach *r = &py->reach;
	struct prof_pymem_part part[PROF_PY_FRAMES];
	size_t i;
	int rc;

	memset(r->slots, 0, frames * sizeof(r->slots[0]));
	memset(r->globals, 0, frames * sizeof(r->globals[0]));
	rc = read_heads(py, w, frames);
	for (i = 0; i < frames; i++)
		part[i] = (struct prof_pymem_part){ w->frame[i].at + py->layout.refs.frame.locals,
						    r->slot[i],
						    (r->slots[i].locals + r->slots[i].stack) *
							    sizeof(uint64_t) };
	if (!rc)
		rc = prof_pyreach_read(py, part, frames);
	for (i = 0; i < frames; i++)
		if (!part[i].bytes)
			r->slots[i] = (struct prof_pyslots){ 0 };
	return rc;
}

uint64_t prof_pyreach_slot(const struct prof_py *py, size_t frame, size_t slot)
{
	return py->reach.slot[frame][slot] & ~py->layout.code_tag;
}
