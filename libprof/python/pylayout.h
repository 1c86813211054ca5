/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the fields of CPython's structures stand, version by version (facts/pythons.def): 64 bits,
 * builds with the global lock.
 */
#ifndef PROF_PYLAYOUT_H
#define PROF_PYLAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "pymem.h"

enum prof_pylines { /* how a code object tells lines */
	PROF_PYLINES_LNOTAB = 0, /* to 3.9 */
	PROF_PYLINES_PAIRS = 1, /* 3.10 */
	PROF_PYLINES_LOCATIONS = 2, /* from 3.11 on */
};

enum prof_pyframe_kind { /* what a frame is */
	PROF_PYFRAME_OBJECT = 0, /* to 3.10: a PyFrameObject, with an index of instructions */
	PROF_PYFRAME_STACK = 1, /* from 3.11 on: a _PyInterpreterFrame, with an address */
};

#define PROF_PYLAYOUT_NONE 0xffffffffu /* this version has no such field */

enum prof_pyattributes { /* where objects of classes have their attributes */
	PROF_PYATTRIBUTES_PLAIN = 0, /* to 3.10: in a dictionary at tp_dictoffset */
	/* 3.11: before the object stand pointers to values and to a dictionary */
	PROF_PYATTRIBUTES_TWO = 1,
	PROF_PYATTRIBUTES_TAGGED = 2, /* 3.12: before it one pointer; to values if it is odd */
	PROF_PYATTRIBUTES_INLINE = 3, /* from 3.13 on: values behind the object, and a dictionary */
};

struct prof_pyrefs { /* where frames and objects refer to others */
	struct {
		uint32_t locals, globals;
		/* a pointer to the end of the variables; NONE: the code counts them */
		uint32_t evaluation;
		uint32_t top; /* of the evaluation stack; NONE: not told */
		uint32_t top_bytes; /* 4: its index, counted from locals; 8: its address */
		/* to 3.10: how many blocks it is in (f_iblock), behind it the blocks */
		uint32_t blocks;
	} frame;
	struct {
		/* how many: locals, cells and free ones; NONE: see evaluation */
		uint32_t variables;
		uint32_t stack; /* how deep the evaluation stack gets */
		uint32_t names, arguments;
		uint32_t handlers; /* the table of exceptions' handlers; NONE: see frame.blocks */
		/* the opcode that calls __enter__; NONE: that is called as others are */
		uint32_t enters;
	} code;
	struct {
		uint32_t closure, defaults, name, code;
	} function;
	struct {
		uint32_t log2; /* bytes of the table before the entries; NONE: by the size at 8 */
		uint32_t kind; /* 0: entries of three words, else of two; NONE: three */
		uint32_t count, entries;
	} keys;
	enum prof_pyattributes attributes;
	uint32_t values; /* in the structure of values: the first */
	uint32_t cached_keys; /* of a class: the keys of such values; NONE: names are not known */
	uint32_t items; /* of a tuple */
	bool known; /* false: this Python is other than its version's */
	struct { /* generators and coroutines that do not run */
		uint32_t frame; /* a pointer to 3.10, later the frame itself; NONE: not known */
		/* as in frame; 3.10's index counts from what evaluation points to */
		uint32_t top, top_bytes;
		uint32_t generator; /* to 3.10: of the frame: whose it is */
		uint32_t task; /* of a task: its coroutine */
	} suspended;
	/* of a SimpleQueue: its items, behind it their places; NONE: it has a list */
	uint32_t ring;
};

struct prof_pylayout {
	enum prof_pyframe_kind frames;
	enum prof_pylines lines;
	uint32_t lasti_unit; /* bytes of code per unit of the frame's index */
	uint32_t interpreters; /* in _PyRuntime: the first interpreter */
	struct {
		uint32_t next, threads;
		uint32_t gil; /* a pointer to the lock; NONE: it stands in _PyRuntime */
		uint32_t collecting; /* NONE: it stands in _PyRuntime */
	} interp;
	uint32_t runtime_gil, runtime_collecting; /* where interp says NONE */
	uint32_t gil_holder, gil_locked; /* in the lock */
	struct {
		uint32_t bytes; /* to be read: all that is named here */
		uint32_t next, interp, ident, native;
		uint32_t frame; /* the frame, or what points to it */
		uint32_t cframe; /* NONE, or: frame points to a structure that has it there */
		uint32_t chunk; /* datastack_chunk, behind it _top and _limit; or NONE */
	} thread;
	struct {
		uint32_t bytes, code, previous, instr, owner;
		uint32_t entry; /* 3.11: a byte that is 1 in frames entered from C; or NONE */
	} frame;
	uint32_t owner_shim; /* frames with this owner or a higher one run no Python code */
	bool shim_ends; /* the outermost frame is one of those */
	uint64_t code_tag; /* bits of the frame's code pointer that are no address */
	struct {
		uint32_t bytes, file, name, qualname, firstline, table;
		uint32_t bytecode; /* the instructions themselves, or a pointer to bytes */
		uint32_t flags; /* co_flags; NONE: not known */
	} code;
	uint32_t ascii, compact; /* sizes of PyASCIIObject and PyCompactUnicodeObject */
	struct prof_pyrefs refs;
};

/* What is the same everywhere. */
#define PROF_PYOBJECT_REFERENCES 0u
#define PROF_PYOBJECT_TYPE 8u
#define PROF_PYVAR_SIZE 16u
#define PROF_PYBYTES_DATA 32u
#define PROF_PYLIST_ITEMS 24u /* ob_item */
#define PROF_PYDICT_KEYS 32u /* ma_keys, behind it ma_values */
#define PROF_PYGIL_BYTES 208u
#define PROF_PYCODE_GENERATORS 0x2a0u /* co_flags: generator, coroutine, or both */

struct prof_pyplaces { /* addresses in the process */
	uint64_t runtime, runtime_bytes, code_type;
};

/*
 * The layout of @version (as Py_Version). 0; -ENOTSUP with a sentence in
 * @why[@room]; -EAGAIN: not initialised yet; or an error of reading.
 */
int prof_pylayout_find(struct prof_pymem *m, const struct prof_pyplaces *at, uint32_t version,
		       struct prof_pylayout *out, char *why, size_t room);

/*
 * Does the type of code objects tell the same offsets as the layout? 0, -ENOTSUP with a sentence,
 * or an error of reading. Where only refs are otherwise they are not known from then on.
 */
int prof_pylayout_check(struct prof_pymem *m, const struct prof_pyplaces *at,
			struct prof_pylayout *l, char *why, size_t room);

#endif
