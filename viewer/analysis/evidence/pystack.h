/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a Python stack tells: which kind of code ran, and which line of the user's that is. Looked
 * at once per stack of a stream. One thread at a time.
 */
#ifndef ANALYSIS_PYSTACK_H
#define ANALYSIS_PYSTACK_H

#include <stdbool.h>
#include <stdint.h>
#include "analysis/ids.h"
#include "frames.h"
#include "no_work.h"
#include "wire/strtab.h"

struct ana_pystack {
	uint8_t code; /* enum ana_code */
	bool user; /* some frame is the user's own */
	bool user_leaf; /* the innermost one is */
	bool own; /* at and inside the innermost frame of the user's nothing tells of other code */
	bool waits; /* in the loader's next() */
	/* some frame is of the iterator protocol, and not the standard library's own business */
	bool iterates;
	bool draws; /* the same, or a generator */
	/*
	 * the outermost generator of the user's that a function of the user's resumes; without:
	 * empty
	 */
	struct ana_text resumed, resumed_file;
	/* some frame is of the standard library's code that talks with other processes */
	bool between;
	uint8_t take; /* enum ana_take: what its innermost calls of the standard library are */
	const char *waits_in; /* ... in words, "queue.get"; NULL: they tell nothing */
	enum ana_no_work no_work; /* by its frames alone */
	uint8_t feeder; /* enum facts_feeder: the most telling one that has a frame on it */
	/* the innermost frame of the user's, else the innermost; borrowed from the string table */
	struct ana_text function, file;
	uint32_t line;
	struct ana_text leaf_function, leaf_file; /* the innermost frame */
	/* the function of the user's outermost frame: what its thread runs */
	struct ana_text outer;
	/*
	 * of a main thread: not the program, which has ended, but what the interpreter calls then
	 * (threads that it waits for, what was registered for the end)
	 */
	bool over;
};

struct ana_pystacks {
	const struct wire_strtab *table; /* borrowed */
	struct ana_ids of;
	struct ana_pystack *stack;
	uint32_t count, room;
	struct ana_pystack none;
};

void ana_pystacks_init(struct ana_pystacks *s, const struct wire_strtab *table);
void ana_pystacks_fini(struct ana_pystacks *s);

/* The stack with this string id, valid until the next call; of id 0 or without memory: nothing. */
const struct ana_pystack *ana_pystacks_get(struct ana_pystacks *s, uint32_t id);

/* The same of a text. Pure; borrows. */
void ana_pystack_read(struct ana_pystack *out, const char *text, uint32_t len);

/* Any text of the stream by its string id; of id 0, or one that was never told: empty. Borrows. */
struct ana_text ana_pystacks_text(const struct ana_pystacks *s, uint32_t id);

#endif
