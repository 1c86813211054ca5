/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names that code on a stack uses, of globals, attributes and methods, and what they lead to.
 * Names are interned: the same one is the same object.
 */
#include <string.h>

#include "pypriv.h"
#include "reachpriv.h"

#define NAMES_OF_FRAME 128u
#define MODULES_MAX 6u
#define ENTRIES_MAX 1024u
#define ENTRIES_AT_ONCE 256u
#define CLASSES_MAX 4u /* a class and its bases */
#define METHODS_MAX 12u /* looked into, of one class */
#define TYPE_BASE 256u
#define TYPE_NAMES 264u

static uint64_t bit_of(uint64_t name)
{
	return UINT64_C(1) << (name >> 4 & 63);
}

/* ---- of frames ---- */

void prof_pyreach_names(struct prof_py *py, size_t frames)
{
	struct prof_pyreach *r = &py->reach;
	struct prof_pymem_part part[PROF_PY_FRAMES];
	uint64_t count[PROF_PY_FRAMES], at;
	size_t i, k, used = 0;

	r->names = 0;
	r->names_filter = 0;
	r->names_known = false;
	for (i = 0; i < frames; i++) {
		at = prof_pymem_word(py->raw[i], py->layout.refs.code.names);
		part[i] = (struct prof_pymem_part){ at + PROF_PYVAR_SIZE, &count[i], 8 };
	}
	if (prof_pyreach_read(py, part, frames))
		return;
	for (i = 0; i < frames; i++) {
		at = prof_pymem_word(py->raw[i], py->layout.refs.code.names);
		if (!part[i].bytes || count[i] > NAMES_OF_FRAME ||
		    used + count[i] > PROF_PYREACH_NAMES)
			return;
		part[i] = (struct prof_pymem_part){ at + py->layout.refs.items, r->words + used,
						    count[i] * 8 };
		used += count[i];
	}
	if (prof_pyreach_read(py, part, frames))
		return;
	for (i = 0; i < frames; i++) {
		if (part[i].bytes != count[i] * 8)
			return;
		for (k = 0; k < count[i]; k++, r->names++) {
			at = r->words[r->names];
			r->name[r->names] = (struct prof_pyname){ at, (uint32_t)i };
			r->names_filter |= bit_of(at);
		}
	}
	r->names_known = true;
}

bool prof_pyreach_named(const struct prof_pyreach *r, uint64_t name, size_t frame, uint16_t *gives)
{
	bool named = false;
	size_t i;

	*gives = 0;
	if (!(r->names_filter & bit_of(name)))
		return false;
	for (i = 0; i < r->names && r->name[i].frame <= frame; i++)
		if (r->name[i].at == name) {
			*gives |= r->own_gives[r->name[i].frame];
			named = true;
		}
	return named;
}

/* ---- entries that are named ---- */

/* Calls @one with the value of each entry of the dictionary whose key code up to @frame names. */
static void each_named(struct prof_py *py, uint64_t dict, size_t frame,
		       void (*one)(struct prof_py *py, uint64_t value, void *arg), void *arg)
{
	uint64_t words[3 * ENTRIES_AT_ONCE], first, i, n;
	struct prof_pyentries e;
	uint16_t gives;

	if (prof_pyreach_entries(py, dict, &e) || e.stride < 2)
		return;
	for (first = 0; first < e.count && first < ENTRIES_MAX; first += n) {
		n = e.count - first < ENTRIES_AT_ONCE ? e.count - first : ENTRIES_AT_ONCE;
		if (prof_pymem_read(&py->mem, e.at + first * e.stride * 8, words, n * e.stride * 8))
			return;
		for (i = 0; i < n; i++)
			if (prof_pyreach_named(&py->reach, words[(i + 1) * e.stride - 2], frame,
					       &gives))
				one(py, words[(i + 1) * e.stride - 1], arg);
	}
}

/* ---- globals ---- */

static void offer_global(struct prof_py *py, uint64_t value, void *arg)
{
	prof_pyreach_offer(py, value, arg);
}

/* The outermost frame of a module stands for all of them. */
static size_t last_of(const struct prof_pyreach *r, uint64_t globals, size_t frames)
{
	while (frames-- > 1)
		if (r->globals[frames] == globals)
			break;
	return frames;
}

void prof_pyreach_globals(struct prof_py *py, const uint8_t *home, size_t frames)
{
	struct prof_pyreach *r = &py->reach;
	uint64_t done[MODULES_MAX];
	size_t n = 0, i, k;

	for (i = 0; i < frames && n < MODULES_MAX; i++) {
		struct prof_pyway way = { 0 };

		for (k = 0; k < n && done[k] != r->globals[i]; k++)
			;
		if (k < n || !r->globals[i] || home[i] == PROF_PYCODE_LIBRARYS)
			continue;
		way.frame = (uint8_t)last_of(r, r->globals[i], frames);
		each_named(py, r->globals[i], way.frame, offer_global, &way);
		done[n++] = r->globals[i];
	}
}

/* ---- methods ---- */

struct methods {
	uint64_t name; /* of the attribute by which they must give */
	uint16_t gives;
	unsigned int looked;
};

static bool code_names(struct prof_py *py, const uint8_t *raw, uint64_t name)
{
	uint64_t at = prof_pymem_word(raw, py->layout.refs.code.names), n;
	uint64_t names[NAMES_OF_FRAME];

	if (prof_pymem_read(&py->mem, at + PROF_PYVAR_SIZE, &n, sizeof(n)) || !n ||
	    n > NAMES_OF_FRAME ||
	    prof_pymem_read(&py->mem, at + py->layout.refs.items, names, n * sizeof(*names)))
		return false;
	while (n--)
		if (names[n] == name)
			return true;
	return false;
}

/* A method that waits is one by which something is taken, whatever it gives to who gives. */
static void look_at_method(struct prof_py *py, uint64_t value, void *arg)
{
	const struct prof_pylayout *l = &py->layout;
	struct methods *m = arg;
	uint8_t raw[PROF_PYCODE_BYTES];
	struct prof_pycode *code;
	uint64_t at;
	uint16_t gives;

	if (m->looked++ >= METHODS_MAX || value % 8 ||
	    prof_pymem_read(&py->mem, value + l->refs.function.code, &at, sizeof(at)) || at % 8 ||
	    prof_pymem_read(&py->mem, at, raw, l->code.bytes) ||
	    prof_pymem_word(raw, PROF_PYOBJECT_TYPE) != py->at.code_type ||
	    !code_names(py, raw, m->name))
		return;
	code = prof_pycode_get(&py->codes, &py->mem, l, at, raw);
	gives = code ? prof_pyreach_code_gives(py, code, raw) : 0;
	if (!(gives & PROF_PYGIVES_WAITS))
		m->gives |= gives;
}

/* What those methods of a class and its bases give that name this attribute. */
static uint16_t methods_give(struct prof_py *py, uint64_t class, uint64_t name, size_t frame)
{
	struct methods m = { .name = name };
	uint64_t dict;
	unsigned int n;

	for (n = 0; n < CLASSES_MAX && name && class && !(class % 8); n++) {
		if (prof_pymem_read(&py->mem, class + TYPE_NAMES, &dict, sizeof(dict)))
			break;
		each_named(py, dict, frame, look_at_method, &m);
		if (prof_pymem_read(&py->mem, class + TYPE_BASE, &class, sizeof(class)))
			break;
	}
	return m.gives;
}

void prof_pyreach_methods(struct prof_py *py)
{
	struct prof_pyreach *r = &py->reach;
	size_t i;

	for (i = 0; i < r->wanteds; i++) {
		const struct prof_pyway *way = &r->found[i].way;
		uint16_t gives;

		if (!r->found[i].held || r->found[i].gives)
			continue;
		gives = methods_give(py, way->owner, way->name, way->frame);
		if (way->first_name != way->name)
			gives |= methods_give(py, way->first_owner, way->first_name, way->frame);
		r->found[i].gives = gives & r->takes[i];
	}
}
