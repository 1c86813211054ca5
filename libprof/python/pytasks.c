/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tasks of an event loop, out of the set of weak references that asyncio.tasks has of all of
 * them (_all_tasks, from 3.12 on _scheduled_tasks).
 */
#include <string.h>

#include "pycoro.h"
#include "pypriv.h"
#include "pytext.h"

#define MODULE_DICT 16u
#define WEAKREF_OBJECT 16u
#define SET_MASK 32u
#define SET_TABLE 40u
#define SET_PLACES 256u
#define NAMES_MOST 400u /* of a module */
#define TRIES_MOST 4u

/* What a dictionary whose keys are texts has by that name; 0: nothing. */
static uint64_t look_up(struct prof_py *py, uint64_t dict, const char *const *names)
{
	uint64_t *word = py->reach.words;
	struct prof_pyentries e;
	char text[24];
	size_t i;

	_Static_assert(NAMES_MOST * 3 <= PROF_PYREACH_WORDS, "their room");
	if (!dict || prof_pyreach_entries(py, dict, &e) || e.stride < 2 || e.count > NAMES_MOST ||
	    prof_pymem_read(&py->mem, e.at, word, e.count * e.stride * sizeof(*word)))
		return 0;
	for (i = 0; i < e.count; i++, word += e.stride) {
		const char *const *name = names;

		if (!word[e.stride - 1] || prof_pytext(&py->mem, &py->layout, word[e.stride - 2],
						       false, text, sizeof(text)) <= 0)
			continue;
		for (; *name; name++)
			if (!strcmp(text, *name))
				return word[e.stride - 1];
	}
	return 0;
}

/* The function _run_once has asyncio.tasks among its globals. */
static uint64_t find_set(struct prof_py *py, uint64_t globals)
{
	static const char *const module[] = { "tasks", NULL };
	static const char *const set[] = { "_all_tasks", "_scheduled_tasks", NULL };
	uint64_t at = look_up(py, globals, module), dict;

	if (!at || prof_pymem_read(&py->mem, at + MODULE_DICT, &dict, sizeof(dict)))
		return 0;
	return look_up(py, dict, set);
}

static const struct prof_pytype *type_of(struct prof_py *py, uint64_t object)
{
	struct prof_pytype *type;
	uint64_t at;

	if (!object || object % 8 ||
	    prof_pymem_read(&py->mem, object + PROF_PYOBJECT_TYPE, &at, sizeof(at)) ||
	    prof_pyreach_types(py, &at, 1, false, &type))
		return NULL;
	return type;
}

static uint64_t first_of_dict(struct prof_py *py, uint64_t dict)
{
	struct prof_pyentries e;
	uint64_t value;

	if (!dict || prof_pyreach_entries(py, dict, &e) ||
	    prof_pymem_read(&py->mem, e.at + (e.stride - 1) * 8, &value, sizeof(value)))
		return 0;
	return value;
}

/* The attribute that a WeakSet's __init__ makes first: its set. */
static uint64_t first_attribute(struct prof_py *py, uint64_t object, const struct prof_pytype *t)
{
	const struct prof_pyrefs *refs = &py->layout.refs;
	uint64_t before[2] = { 0, 0 }, values = 0, dict, value = 0;

	if (!(t->flags & PROF_PYTYPE_MANAGED))
		return t->dictionary > 0 &&
				       !prof_pymem_read(&py->mem, object + (uint64_t)t->dictionary,
							&dict, sizeof(dict))
			       ? first_of_dict(py, dict)
			       : 0;
	if (prof_pymem_read(&py->mem, object - 32, before, sizeof(before)))
		return 0;
	dict = before[1];
	if (refs->attributes == PROF_PYATTRIBUTES_TWO) {
		values = before[0];
	} else if (refs->attributes == PROF_PYATTRIBUTES_TAGGED && dict & 1) {
		values = dict + 1;
		dict = 0;
	} else if (refs->attributes == PROF_PYATTRIBUTES_INLINE && !dict &&
		   t->flags & PROF_PYTYPE_INLINE) {
		values = object + (uint64_t)t->size;
	}
	if (!values)
		return first_of_dict(py, dict);
	if (prof_pymem_read(&py->mem, values + refs->values, &value, sizeof(value)))
		return 0;
	return value;
}

/* The weak references in asyncio's set; their number. */
static size_t read_set(struct prof_py *py, uint64_t *out)
{
	const struct prof_pytype *type = type_of(py, py->coros.set);
	uint64_t set = type && type->kind == PROF_PYKIND_INSTANCE
			       ? first_attribute(py, py->coros.set, type)
			       : 0;
	uint64_t mask, table, *word = py->reach.words;
	size_t n = 0, i;

	type = type_of(py, set);
	if (!type || type->kind != PROF_PYKIND_SET ||
	    prof_pymem_read(&py->mem, set + SET_MASK, &mask, sizeof(mask)) ||
	    prof_pymem_read(&py->mem, set + SET_TABLE, &table, sizeof(table)))
		return 0;
	mask = mask < SET_PLACES ? mask : SET_PLACES - 1;
	if (prof_pymem_read(&py->mem, table, word, (mask + 1) * 16))
		return 0;
	for (i = 0; i <= mask; i++)
		if (word[2 * i] && word[2 * i] % 8 == 0)
			out[n++] = word[2 * i];
	return n;
}

/* What these refer to. */
static void read_references(struct prof_py *py, uint64_t *at, size_t n)
{
	struct prof_pymem_part part[SET_PLACES];
	uint64_t object[SET_PLACES];
	size_t i;

	for (i = 0; i < n; i++)
		part[i] = (struct prof_pymem_part){ at[i] + WEAKREF_OBJECT, &object[i], 8 };
	if (prof_pyreach_read(py, part, n))
		n = 0;
	for (i = 0; i < n; i++)
		at[i] = part[i].bytes ? object[i] : 0;
}

static bool is_there(const struct prof_pycoros *c, uint64_t task)
{
	size_t i;

	for (i = 0; i < c->tasks; i++)
		if (c->task[i].task == task)
			return true;
	return false;
}

/* Those of them that are tasks of @loop. */
static void add_tasks(struct prof_py *py, uint64_t loop, const uint64_t *at, size_t n)
{
	struct prof_pymem_part part[SET_PLACES];
	struct prof_pycoros *c = &py->coros;
	uint64_t head[SET_PLACES][3]; /* references, type, loop */
	size_t i;

	for (i = 0; i < n; i++)
		part[i] = (struct prof_pymem_part){ at[i], head[i], sizeof(head[i]) };
	if (prof_pyreach_read(py, part, n))
		return;
	for (i = 0; i < n && c->tasks < PROF_PYCORO_TASKS; i++) {
		struct prof_pytype *type;

		if (!part[i].bytes || head[i][2] != loop || is_there(c, at[i]) ||
		    prof_pyreach_types(py, &head[i][1], 1, false, &type) || !type ||
		    type->awaits != PROF_PYAWAITS_TASK)
			continue;
		c->task[c->tasks++] = (struct prof_pytask){ .task = at[i], .object = at[i] };
	}
}

void prof_pytasks_find(struct prof_py *py, uint64_t loop, uint64_t globals)
{
	struct prof_pycoros *c = &py->coros;
	uint64_t at[SET_PLACES];
	size_t n;

	if (!c->set && c->tries < TRIES_MOST) {
		c->tries++;
		c->set = find_set(py, globals);
	}
	if (!c->set)
		return;
	n = read_set(py, at);
	read_references(py, at, n);
	add_tasks(py, loop, at, n);
}
