/* SPDX-License-Identifier: Apache-2.0 */
/* What the files behind reach.h share: the room of a search, kept types, and its steps. */
#ifndef PROF_REACHPRIV_H
#define PROF_REACHPRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "pycode.h"
#include "pylayout.h"
#include "pymem.h"
#include "pythread.h"
#include "pywalk.h"

#define PROF_PYREACH_TYPES 512u
#define PROF_PYREACH_SEEN 2048u
#define PROF_PYREACH_QUEUE 1024u
#define PROF_PYREACH_BATCH 48u /* objects read at once */
#define PROF_PYREACH_BEFORE 32u /* bytes before an object that are its own */
#define PROF_PYREACH_HEAD 160u /* bytes read of an object, those included */
#define PROF_PYREACH_OWN (PROF_PYREACH_HEAD - PROF_PYREACH_BEFORE)
#define PROF_PYREACH_NAMES 1024u /* of all frames */
#define PROF_PYREACH_KEYS 30u /* attributes that objects of a class have in common, at most */
#define PROF_PYREACH_PIECES 128u
#define PROF_PYREACH_WORDS 6144u
#define PROF_PYREACH_LOCALS 64u /* of a frame: variables, and words of the evaluation stack */
#define PROF_PYREACH_STACK 32u
#define PROF_PYREACH_SLOTS (PROF_PYREACH_LOCALS + PROF_PYREACH_STACK)
#define PROF_PYREACH_WANTED 16u
#define PROF_PYREACH_BEHIND 4u
#define PROF_PYREACH_AWAITED 16u
#define PROF_PYREACH_DEPTH 4u /* steps from a variable */
#define PROF_PYREACH_ATTRIBUTES 64u /* of an object, items of a list and such */

#define PROF_PYTYPE_INLINE (UINT64_C(1) << 2) /* tp_flags: values behind the object */
#define PROF_PYTYPE_MANAGED (UINT64_C(1) << 4) /* a dictionary before it */

enum prof_pykind { /* how an object refers to others */
	PROF_PYKIND_NONE = 0, /* in no way that is followed */
	PROF_PYKIND_INSTANCE, /* by its words and attributes */
	PROF_PYKIND_LIST,
	PROF_PYKIND_TUPLE,
	PROF_PYKIND_DICT,
	PROF_PYKIND_SET,
	PROF_PYKIND_DEQUE,
	PROF_PYKIND_FUNCTION, /* by its closure and defaults */
	PROF_PYKIND_BUILTIN, /* a function of C: by its self */
	PROF_PYKIND_METHOD, /* by its self, as if it was that */
	PROF_PYKIND_CELL, /* the same by its contents */
	PROF_PYKIND_QUEUE, /* a SimpleQueue */
	PROF_PYKIND_DESCRIPTOR, /* a method of C, not bound: by nothing */
};

enum prof_pygives { /* what gives to who waits: groups of names */
	PROF_PYGIVES_PUT = 1 << 0,
	PROF_PYGIVES_SET = 1 << 1,
	PROF_PYGIVES_NOTIFY = 1 << 2,
	PROF_PYGIVES_RESULT = 1 << 3,
	PROF_PYGIVES_RELEASE = 1 << 4,
	PROF_PYGIVES_SEND = 1 << 5,
	PROF_PYGIVES_CALL = 1 << 6, /* of an event loop */
	PROF_PYGIVES_WAITS = 1 << 7, /* nothing: who names this takes */
	PROF_PYGIVES_ASKS = 1 << 8, /* nothing: who names this has an event loop do something */
	PROF_PYGIVES_KNOWN = 1 << 15, /* looked up */
	PROF_PYGIVES_HANDS = 0x6f, /* what hands something over; to free a lock does not */
	PROF_PYGIVES_ANYTHING = 0xffff,
};

enum prof_pyawaits { /* what a coroutine that awaits such an object goes on with */
	PROF_PYAWAITS_NOTHING = 0, /* not known */
	PROF_PYAWAITS_FRAME, /* a function of Python that is suspended */
	PROF_PYAWAITS_INNER, /* the object it is for, behind its head */
	PROF_PYAWAITS_TASK, /* what that runs */
	PROF_PYAWAITS_FUTURE, /* asyncio.Future itself: whatever sets it */
	PROF_PYAWAITS_OTHERS, /* a class of futures that stands for others */
};

struct prof_pytype {
	uint64_t at; /* 0: free */
	uint64_t name, base; /* of the object; with the next three these tell it from another */
	uint64_t flags;
	int64_t size, dictionary, weak; /* tp_basicsize, tp_dictoffset, tp_weaklistoffset */
	uint32_t values; /* of each of its objects, where those do not tell their number */
	uint64_t keys; /* the keys that they share; 0: not known */
	uint64_t key[PROF_PYREACH_KEYS]; /* their names; 0: not known */
	uint32_t search; /* the one that looked last */
	/* the epochs in which it, and the keys, were seen to be as they are here */
	uint32_t checked, keyed;
	/* enum prof_pygives: who waits for such an object takes by these; 0: not known */
	uint16_t takes;
	uint8_t kind; /* enum prof_pykind */
	uint8_t awaits; /* enum prof_pyawaits */
	bool waited; /* of C, and waited for within C */
	bool lock; /* the same, and there is one in each condition */
	bool thread; /* threading.Thread itself */
	bool asyncio; /* of its C code: a future, a task */
	bool plain_future; /* a class called Future, as that of concurrent.futures is */
	bool shared; /* such an object is the same in a forked child; known of children only */
};

enum prof_pyhow {
	PROF_PYHOW_REFERENCE = 0,
	PROF_PYHOW_SELF, /* the first argument of its frame */
	PROF_PYHOW_STACK, /* on the evaluation stack, as what a with statement holds */
	PROF_PYHOW_ATTRIBUTES, /* the dictionary of an object's attributes */
};

/*
 * How an object was reached. Threads that share an object reach all its attributes, and use but
 * some: those whose names their code has. What a library's own queue consists of needs no name.
 */
struct prof_pyway {
	uint8_t depth; /* steps */
	uint8_t frame; /* from there */
	uint8_t how; /* enum prof_pyhow */
	bool unnamed; /* by an attribute that no code there or further in names */
	bool inside; /* of what one waits for: names do not matter any more */
	bool by_future; /* of a thread's or a pool's: who sets it calls what waits for it */
	uint64_t name, owner; /* the last attribute and its class, 0: by none */
	uint64_t first_name, first_owner; /* and the first one */
};

struct prof_pynode { /* an object that was reached */
	uint64_t at;
	struct prof_pyway way;
};

struct prof_pyname { /* used by the code of a frame */
	uint64_t at;
	uint32_t frame;
};

struct prof_pypiece { /* memory that belongs to an object */
	uint64_t from;
	uint32_t bytes, at; /* where in words[] */
	uint8_t form, node;
};

struct prof_pyentries { /* of a dictionary */
	uint64_t at, count;
	/* words of each, the last is the value; the one before, if any, the key */
	unsigned int stride;
};

struct prof_pyslots { /* of a frame */
	uint32_t locals, stack; /* how many words were read */
	uint32_t in_use; /* of the evaluation stack, at least */
};

struct prof_pyreach {
	uint32_t search; /* a number for each */
	uint32_t epoch; /* types that were looked at in this one are not looked at again */
	int64_t epoch_ns; /* when it began */
	bool lasts; /* it goes on over several searches; else each search has its own */
	uint64_t type_type; /* PyType_Type, 0: not yet known */
	struct prof_pytype type[PROF_PYREACH_TYPES];

	uint64_t wanted[PROF_PYREACH_WANTED];
	uint16_t takes[PROF_PYREACH_WANTED];
	struct {
		bool held, gives;
		struct prof_pyway way; /* the first one by which it is held and nothing gives */
	} found[PROF_PYREACH_WANTED];
	size_t wanteds, open; /* how many are not known to be given */

	uint16_t own_gives[PROF_PY_FRAMES], frame_gives[PROF_PY_FRAMES]; /* and all further in */
	struct prof_pyname name[PROF_PYREACH_NAMES];
	uint64_t names_filter; /* a bit for each */
	size_t names;
	bool names_known;
	struct prof_pyslots slots[PROF_PY_FRAMES];
	uint64_t globals[PROF_PY_FRAMES]; /* 0: not known */
	uint64_t slot[PROF_PY_FRAMES][PROF_PYREACH_SLOTS];

	uint64_t awaited[PROF_PYREACH_AWAITED]; /* what was awaited last, and is it a queue? */
	bool queue_of[PROF_PYREACH_AWAITED];
	size_t awaiteds;

	uint64_t seen[PROF_PYREACH_SEEN];
	size_t seens;
	struct prof_pynode queue[PROF_PYREACH_QUEUE];
	size_t head, tail;
	/* opened at most, and so many steps from a variable, in this search */
	size_t objects, depth;
	uint64_t behind[PROF_PYREACH_BEHIND]; /* what stands behind what is awaited */
	size_t behinds;
	uint64_t task_behind; /* and a task there; 0: none was seen */
	bool looks_behind; /* the search is for that */
	bool looks_results; /* ... or for all futures and results, wherever they are */
	bool in_loop; /* ... of a thread that runs the loop itself */
	struct prof_pynode later[PROF_PYREACH_QUEUE]; /* by attributes that are not named */
	size_t laters;

	uint64_t head_of[PROF_PYREACH_BATCH][PROF_PYREACH_HEAD / 8];
	struct prof_pytype *type_of[PROF_PYREACH_BATCH];
	struct prof_pypiece piece[PROF_PYREACH_PIECES];
	size_t pieces, used; /* used: words */
	uint64_t words[PROF_PYREACH_WORDS];
};

struct prof_py;

/*
 * Reads each part that can be read; the others have 0 bytes from then on. 0, or an error that ends
 * all reading, such as -ESRCH.
 */
int prof_pyreach_read(struct prof_py *py, struct prof_pymem_part *part, size_t parts);

/*
 * The types at @at[@n], at most PROF_PYREACH_BATCH, into out[n]; NULL: it is none, or 0. @keys:
 * their keys, too.
 */
int prof_pyreach_types(struct prof_py *py, const uint64_t *at, size_t n, bool keys,
		       struct prof_pytype **out);

/* What the names that a code object uses give; @raw as prof_pycode_get has it. */
uint16_t prof_pyreach_code_gives(struct prof_py *py, struct prof_pycode *code, const uint8_t *raw);

/* What @name gives, 0: nothing. What who waits for a @type takes, 0: its name does not tell. */
uint16_t prof_pyreach_name_gives(const char *name);
uint16_t prof_pyreach_type_takes(const char *type);

/* Reads variables and evaluation stacks of the first @frames of @w into reach.slot. */
int prof_pyreach_slots(struct prof_py *py, const struct prof_pywalk *w, size_t frames);

/* The word of a frame as an address of an object. */
uint64_t prof_pyreach_slot(const struct prof_py *py, size_t frame, size_t slot);

/*
 * How many words of the evaluation stack are there at least; @head: the frame before its variables.
 */
uint32_t prof_pyreach_in_use(struct prof_py *py, const struct prof_pyframe *f, const uint8_t *head,
			     const uint8_t *code, uint32_t variables);

/* The same by a table of handlers as 3.11 has it, at the instruction number @unit. */
uint32_t prof_pyreach_level(const uint8_t *table, size_t bytes, uint64_t unit);

/* Begins a search for reach.wanted, and an epoch if the last one is over. */
void prof_pyreach_begin(struct prof_py *py);

/* This object is reached. */
void prof_pyreach_offer(struct prof_py *py, uint64_t at, const struct prof_pyway *way);

/* Follows what was offered until nothing is left, all is found, or it has been enough. */
int prof_pyreach_follow(struct prof_py *py);

/* Where the entries of a dictionary are. */
int prof_pyreach_entries(struct prof_py *py, uint64_t dict, struct prof_pyentries *e);

/* Reads the names that the code of @frames uses into reach.name. */
void prof_pyreach_names(struct prof_py *py, size_t frames);

/* Does the code of that frame or one further in name it? *gives: what else that code names. */
bool prof_pyreach_named(const struct prof_pyreach *r, uint64_t name, size_t frame, uint16_t *gives);

/*
 * What is held and not given: does the code name a method of the class it is an attribute of, which
 * gives by it?
 */
void prof_pyreach_methods(struct prof_py *py);

/*
 * What stands behind these futures, tasks and lists of futures into reach.behind: futures of
 * threads and pools whose results they take, and the selectors of the loops that run what they are
 * for. @in_loop: of a thread that runs a loop. 0, or an error that ends all reading.
 */
int prof_pyreach_behind(struct prof_py *py, const uint64_t *from, size_t n, bool in_loop);

/*
 * The futures and results of pools that these objects have, the nearest first, into reach.behind.
 */
int prof_pyreach_results(struct prof_py *py, const uint64_t *from, size_t n);

/* In such searches: keeps what is looked for. False: no way leads on from there. */
bool prof_pyreach_leads_behind(struct prof_pyreach *r, struct prof_pynode *node,
			       const struct prof_pytype *type);

/* Offers the globals that the code of frames names; @home: enum prof_pycode_home of each. */
void prof_pyreach_globals(struct prof_py *py, const uint8_t *home, size_t frames);

#endif
