/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a Python stack tells: which kind of code ran, and which line of the user's that is. Looked
 * at once per stack of a stream. One thread at a time.
 */
#ifndef ANALYSIS_PYSTACK_H
#define ANALYSIS_PYSTACK_H

#include <stdbool.h>
#include <stdint.h>
#include "analysis/map.h"
#include "wire/strtab.h"

/* Who is at work. The innermost frame that decides does. */
enum ana_code {
	ANA_CODE_PLAIN = 0, /* nothing decides: the user's own functions, the standard library */
	ANA_CODE_DATA, /* reads, decodes or transforms data */
	ANA_CODE_MODEL, /* a framework: launches, modules, optimizers */
	ANA_CODE_CHECKPOINT, /* writes a checkpoint */
	ANA_CODE_LOAD, /* imports or compiles code */
	ANA_CODE_EPOCH, /* makes a loader's iterator, or takes it down */
	ANA_CODE_NEXT, /* in the loader's next() */
	ANA_CODE_HANDOFF, /* packs, unpacks or pins batches */
};

struct ana_text {
	const char *at;
	uint32_t len;
};

struct ana_pystack {
	uint8_t code; /* enum ana_code */
	bool user_leaf; /* the innermost frame is the user's own */
	bool waits; /* in the loader's next() */
	uint8_t feeder; /* enum facts_feeder: the most telling one that has a frame on it */
	/* the innermost frame of the user's, else the innermost; borrowed from the string table */
	struct ana_text function, file;
	uint32_t line;
	struct ana_text leaf_function, leaf_file; /* the innermost frame */
};

struct ana_pystacks {
	const struct wire_strtab *table; /* borrowed */
	struct ana_map of; /* by string id */
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

struct ana_frame {
	struct ana_text function, file;
	uint32_t line; /* 0: not known */
};

/* At most @max frames of a text, innermost first, without libprof's own. Pure; borrows. */
size_t ana_pystack_frames(struct ana_frame *frame, size_t max, const char *text, uint32_t len);

/* modules.c: what a frame's file and function say. */
enum ana_place {
	ANA_PLACE_USER,
	ANA_PLACE_LIBRARY, /* the standard library, a package, the interpreter itself */
	ANA_PLACE_OURS, /* libprof's own */
};
enum ana_place ana_module_place(struct ana_text file);
uint8_t ana_module_feeder(struct ana_text file); /* enum facts_feeder */
enum ana_say {
	ANA_SAY_DECIDES, /* of several, the innermost */
	ANA_SAY_WEAKLY, /* only if no frame further out decides */
	ANA_SAY_WHOLE, /* whatever runs inside, it is part of this */
};
/* ANA_CODE_PLAIN: the frame decides nothing. */
enum ana_code ana_module_code(struct ana_text file, struct ana_text function, enum ana_say *say);

#endif
