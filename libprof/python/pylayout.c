/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of versions, the reading of _Py_DebugOffsets, and the check against PyCode_Type.
 */
#include "pylayout.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NONE PROF_PYLAYOUT_NONE
#define SMALL_MAX 4096u /* offsets in small structures */
#define LARGE_MAX (1u << 24) /* in the runtime and in interpreters */

/* ---- _Py_DebugOffsets ---- */

/* What is taken from it: first offsets in large structures, then from @thread on in small ones. */
#define FIELDS(word)                                                   \
	word version, free_threaded;                                   \
	word interpreters;                                             \
	struct {                                                       \
		word next, threads, gc, gil;                           \
	} interp;                                                      \
	struct {                                                       \
		word lock, locked, holder;                             \
	} gil;                                                         \
	struct {                                                       \
		word next, interp, frame, ident, native, chunk;        \
	} thread;                                                      \
	struct {                                                       \
		word previous, code, instr, owner, locals;             \
	} frame;                                                       \
	struct {                                                       \
		word file, name, qualname, table, firstline, bytecode; \
		word arguments;                                        \
	} code;                                                        \
	struct {                                                       \
		word type;                                             \
	} object;                                                      \
	struct {                                                       \
		word size, data;                                       \
	} bytes;                                                       \
	struct {                                                       \
		word state, length, ascii;                             \
	} text;                                                        \
	struct {                                                       \
		word items;                                            \
	} tuple, list;                                                 \
	struct {                                                       \
		word keys, values;                                     \
	} dict;                                                        \
	struct {                                                       \
		word collecting;                                       \
	} gc;

#define WORDS 39u
#define FIRST_OFFSET offsetof(struct words, interpreters)
#define FIRST_SMALL offsetof(struct words, thread)

struct words { /* where each stands */
	FIELDS(uint8_t)
};

union told { /* what it says */
	struct {
		FIELDS(uint64_t)
	};
	uint64_t at[WORDS];
};

union where {
	struct words words;
	uint8_t at[WORDS];
};

_Static_assert(sizeof(struct words) == WORDS && sizeof(union told) == WORDS * sizeof(uint64_t),
	       "the same fields in both");

/* ---- versions ---- */

struct row {
	uint32_t minor;
	bool tells; /* by itself: where; else the layout */
	union where where;
	struct prof_pylayout layout;
};

static const struct row rows[] = {
#define FACTS_PYTHON_TABLE(number, ...) { .minor = number, .layout = { __VA_ARGS__ } },
#define FACTS_PYTHON_TELLS(number, tag, ...) \
	{ .minor = number, .tells = true, .where.words = { __VA_ARGS__ }, .layout.code_tag = tag },
#include "facts/pythons.def"
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static const struct row *row_of(uint32_t minor)
{
	size_t i;

	for (i = 0; i < ROWS; i++)
		if (rows[i].minor == minor)
			return &rows[i];
	return NULL;
}

static const struct {
	uint32_t minor;
	struct prof_pyrefs refs;
} objects[] = {
#define FACTS_PYTHON_OBJECTS(number, ...) { .minor = number, .refs = { __VA_ARGS__ } },
#include "facts/pythons.def"
};

_Static_assert(sizeof(objects) / sizeof(objects[0]) == ROWS, "a row of each for every version");

static const struct prof_pyrefs *refs_of(uint32_t minor)
{
	size_t i;

	for (i = 0; i < ROWS - 1; i++)
		if (objects[i].minor == minor)
			break;
	return &objects[i].refs;
}

/* ---- what the interpreter tells ---- */

static bool sizes_sane(const union told *t)
{
	size_t i;

	for (i = FIRST_OFFSET; i < WORDS; i++)
		if (t->at[i] > (i < FIRST_SMALL ? LARGE_MAX : SMALL_MAX))
			return false;
	return true;
}

/* What is the same in all versions. */
static bool is_sane(const union told *t)
{
	return sizes_sane(t) && t->object.type == PROF_PYOBJECT_TYPE &&
	       t->bytes.size == PROF_PYVAR_SIZE && t->bytes.data == PROF_PYBYTES_DATA &&
	       t->text.length == 16 && t->text.state == 32 && t->text.ascii <= 64 &&
	       t->gil.locked >= t->gil.lock && t->gil.holder >= t->gil.lock &&
	       t->gil.locked - t->gil.lock < PROF_PYGIL_BYTES &&
	       t->gil.holder - t->gil.lock < PROF_PYGIL_BYTES;
}

static uint32_t later(uint32_t end, uint64_t offset)
{
	uint32_t behind = (uint32_t)(offset / 8 * 8 + 8); /* each field is within an aligned word */

	return behind > end ? behind : end;
}

static void take_interpreter(const union told *t, struct prof_pylayout *l)
{
	l->interpreters = (uint32_t)t->interpreters;
	l->interp.next = (uint32_t)t->interp.next;
	l->interp.threads = (uint32_t)t->interp.threads;
	l->interp.gil = (uint32_t)t->interp.gil;
	l->interp.collecting = (uint32_t)(t->interp.gc + t->gc.collecting);
	l->runtime_gil = l->runtime_collecting = NONE;
	l->gil_holder = (uint32_t)(t->gil.holder - t->gil.lock);
	l->gil_locked = (uint32_t)(t->gil.locked - t->gil.lock);
}

static void take_thread(const union told *t, struct prof_pylayout *l)
{
	uint32_t end = 0;

	l->thread.next = (uint32_t)t->thread.next;
	l->thread.interp = (uint32_t)t->thread.interp;
	l->thread.ident = (uint32_t)t->thread.ident;
	l->thread.native = (uint32_t)t->thread.native;
	l->thread.frame = (uint32_t)t->thread.frame;
	l->thread.cframe = NONE;
	l->thread.chunk = (uint32_t)t->thread.chunk;
	end = later(later(end, t->thread.next), t->thread.interp);
	end = later(later(end, t->thread.ident), t->thread.native);
	end = later(later(end, t->thread.frame), t->thread.chunk);
	l->thread.bytes = end + 16; /* behind the chunk _top and _limit */
}

static void take_frame(const union told *t, struct prof_pylayout *l)
{
	uint32_t end = 0;

	l->frames = PROF_PYFRAME_STACK;
	l->frame.code = (uint32_t)t->frame.code;
	l->frame.previous = (uint32_t)t->frame.previous;
	l->frame.instr = (uint32_t)t->frame.instr;
	l->frame.owner = (uint32_t)t->frame.owner;
	l->frame.entry = NONE;
	l->owner_shim = 3;
	l->shim_ends = true;
	end = later(later(end, t->frame.code), t->frame.previous);
	l->frame.bytes = later(later(end, t->frame.instr), t->frame.owner);
}

static void take_code(const union told *t, struct prof_pylayout *l)
{
	uint32_t end = PROF_PYVAR_SIZE + 8;

	l->lines = PROF_PYLINES_LOCATIONS;
	l->lasti_unit = 1;
	l->code.file = (uint32_t)t->code.file;
	l->code.name = (uint32_t)t->code.name;
	l->code.qualname = (uint32_t)t->code.qualname;
	l->code.firstline = (uint32_t)t->code.firstline;
	l->code.table = (uint32_t)t->code.table;
	l->code.bytecode = (uint32_t)t->code.bytecode;
	l->code.flags = (uint32_t)t->code.arguments - 4; /* co_flags stands before co_argcount */
	end = later(later(end, t->code.file), t->code.name);
	end = later(later(end, t->code.qualname), t->code.table);
	l->code.bytes = later(later(end, t->code.firstline), t->code.arguments);
}

static void take_text(const union told *t, struct prof_pylayout *l)
{
	l->ascii = (uint32_t)t->text.ascii;
	l->compact = (uint32_t)t->text.ascii + 16; /* utf8_length, utf8 */
}

/*
 * What it tells of objects must be what the table has, which has more: else nothing is taken from
 * that.
 */
static void check_refs(const union told *t, struct prof_pylayout *l)
{
	l->refs.known = t->frame.locals == l->refs.frame.locals &&
			t->code.arguments == l->refs.code.arguments &&
			t->tuple.items == l->refs.items && t->list.items == PROF_PYLIST_ITEMS &&
			t->dict.keys == PROF_PYDICT_KEYS && t->dict.values == PROF_PYDICT_KEYS + 8;
}

static void take_told(const union told *t, struct prof_pylayout *l)
{
	take_interpreter(t, l);
	take_thread(t, l);
	take_frame(t, l);
	take_code(t, l);
	take_text(t, l);
	check_refs(t, l);
}

/* What is read: to the last word that the row names. */
static size_t words_of(const struct row *row)
{
	size_t i, last = 0;

	for (i = 0; i < WORDS; i++)
		if (row->where.at[i] > last)
			last = row->where.at[i];
	return last + 1;
}

static int from_runtime(struct prof_pymem *m, const struct prof_pyplaces *at, uint32_t version,
			const struct row *row, struct prof_pylayout *out, char *why, size_t room)
{
	uint64_t raw[UINT8_MAX + 1];
	union told told;
	size_t i;
	int rc = prof_pymem_read(m, at->runtime, raw, words_of(row) * sizeof(raw[0]));

	if (rc)
		return rc;
	for (i = 0; i < WORDS; i++)
		told.at[i] = raw[row->where.at[i]];
	if (memcmp(raw, "xdebugpy", 8) || told.version != version) {
		snprintf(why, room, "its _Py_DebugOffsets are not those of its version");
		return -ENOTSUP;
	}
	if (told.free_threaded) {
		snprintf(why, room, "it is a free-threaded build");
		return -ENOTSUP;
	}
	if (!is_sane(&told)) {
		snprintf(why, room, "its _Py_DebugOffsets make no sense");
		return -ENOTSUP;
	}
	take_told(&told, out);
	return 0;
}

int prof_pylayout_find(struct prof_pymem *m, const struct prof_pyplaces *at, uint32_t version,
		       struct prof_pylayout *out, char *why, size_t room)
{
	uint32_t major = version >> 24, minor = version >> 16 & 0xff;
	uint32_t stage = version >> 4 & 0xf; /* 0xa, 0xb: before the layout was settled */
	const struct row *row = major == 3 ? row_of(minor) : NULL;

	if (!row || (minor > 10 && stage < 0xc)) {
		snprintf(why, room, "versions 3.%u to 3.%u are known", rows[0].minor,
			 rows[ROWS - 1].minor);
		return -ENOTSUP;
	}
	*out = row->layout;
	out->refs = *refs_of(minor);
	out->refs.known = true;
	return row->tells ? from_runtime(m, at, version, row, out, why, room) : 0;
}

/* ---- the check ---- */

#define TYPE_NAME 24u
#define TYPE_MEMBERS 240u
#define MEMBERS_MAX 40u

struct member { /* PyMemberDef */
	uint64_t name;
	int32_t type, pad;
	int64_t offset;
	int32_t flags, pad2;
	uint64_t doc;
};
_Static_assert(sizeof(struct member) == 40, "PyMemberDef");

/* 1: agrees, 0: not a member that we use, -1: disagrees. */
static int compare_member(const struct prof_pylayout *l, const char *name, int64_t offset)
{
	const struct {
		const char *name;
		uint32_t offset;
	} want[] = {
		{ "co_filename", l->code.file },	 { "co_name", l->code.name },
		{ "co_firstlineno", l->code.firstline }, { "co_qualname", l->code.qualname },
		{ "co_linetable", l->code.table },
	};
	size_t i;

	for (i = 0; i < sizeof(want) / sizeof(*want); i++)
		if (!strcmp(name, want[i].name))
			return offset == want[i].offset ? 1 : -1;
	return 0;
}

/* The same of what only looking for objects needs. */
static bool agrees_for_refs(const struct prof_pyrefs *refs, const char *name, int64_t offset)
{
	if (!strcmp(name, "co_names"))
		return offset == refs->code.names;
	if (!strcmp(name, "co_argcount"))
		return offset == refs->code.arguments;
	return strcmp(name, "co_stacksize") || offset == refs->code.stack;
}

static int check_members(struct prof_pymem *m, uint64_t at, struct prof_pylayout *l)
{
	unsigned int n, agreed = 0;

	for (n = 0; n < MEMBERS_MAX; n++) {
		struct member one;
		char name[32];
		int rc = prof_pymem_read(m, at + n * sizeof(one), &one, sizeof(one));

		if (rc)
			return rc;
		if (!one.name)
			break;
		if (prof_pymem_text(m, one.name, name, sizeof(name)) < 0)
			return -ENOTSUP;
		if (!strcmp(name, "co_flags") && one.offset != l->code.flags)
			l->code.flags = NONE;
		l->refs.known &= agrees_for_refs(&l->refs, name, one.offset);
		rc = compare_member(l, name, one.offset);
		if (rc < 0)
			return -ENOTSUP;
		agreed += (unsigned int)rc;
	}
	return agreed >= 3 ? 0 : -ENOTSUP; /* file, name and first line are members everywhere */
}

int prof_pylayout_check(struct prof_pymem *m, const struct prof_pyplaces *at,
			struct prof_pylayout *l, char *why, size_t room)
{
	uint64_t name, members;
	char text[8];
	int rc = prof_pymem_read(m, at->code_type + TYPE_NAME, &name, sizeof(name));

	if (!rc)
		rc = prof_pymem_read(m, at->code_type + TYPE_MEMBERS, &members, sizeof(members));
	if (rc)
		return rc;
	if (prof_pymem_text(m, name, text, sizeof(text)) < 0 || strcmp(text, "code"))
		rc = -ENOTSUP;
	else
		rc = check_members(m, members, l);
	if (rc == -ENOTSUP)
		snprintf(why, room, "its code objects do not look like those of its version");
	return rc;
}
