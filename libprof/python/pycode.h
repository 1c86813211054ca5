/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What code objects are called and where they stand: a bounded cache. Memory of a code object is
 * reused after its end, so each entry is checked against the object as it is now.
 */
#ifndef PROF_PYCODE_H
#define PROF_PYCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "pylayout.h"
#include "pymem.h"

#define PROF_PYCODE_SETS 256u
#define PROF_PYCODE_WAYS 4u
#define PROF_PYCODE_TEXT 480u
#define PROF_PYCODE_LINES 4u
#define PROF_PYCODE_BYTES 256u /* of a code object, at most */
#define PROF_PYCODE_TABLE 65536u /* of a line table, at most */

enum prof_pycode_mark { /* what matters to who cuts a stack */
	PROF_PYCODE_PLAIN = 0,
	PROF_PYCODE_BOOTSTRAP = 1, /* BaseProcess._bootstrap of multiprocessing */
	PROF_PYCODE_LAUNCH = 2, /* Popen._launch of its fork method */
};

enum prof_pycode_home { /* whose code it is */
	PROF_PYCODE_USERS = 0,
	PROF_PYCODE_PACKAGES = 1, /* of site-packages or dist-packages */
	PROF_PYCODE_LIBRARYS = 2, /* the standard library's */
};

struct prof_pycode {
	uint64_t address; /* 0: free */
	uint64_t file, name, table; /* of the object */
	uint32_t firstline;
	int64_t code_bytes; /* of its instructions */
	uint64_t used;
	struct {
		int64_t lasti;
		uint32_t line;
	} known[PROF_PYCODE_LINES];
	uint8_t knowns, next;
	uint8_t mark; /* enum prof_pycode_mark */
	uint8_t home; /* enum prof_pycode_home */
	bool generator; /* or a coroutine */
	uint16_t gives; /* reachpriv.h; 0: not yet looked up */
	uint16_t bytes;
	char text[PROF_PYCODE_TEXT]; /* function, tab, file */
};

struct prof_pycodes {
	uint64_t clock;
	struct prof_pycode entry[PROF_PYCODE_SETS][PROF_PYCODE_WAYS];
	uint8_t table[PROF_PYCODE_TABLE];
};

/*
 * The entry of the code object at @address, whose first layout.code.bytes are @raw. NULL: it is
 * none, or cannot be read. Valid until the next call.
 */
struct prof_pycode *prof_pycode_get(struct prof_pycodes *c, struct prof_pymem *m,
				    const struct prof_pylayout *l, uint64_t address,
				    const uint8_t *raw);

/*
 * The line of the instruction at @lasti (bytes); false: there is no such instruction in the code.
 */
bool prof_pycode_line(struct prof_pycodes *c, struct prof_pymem *m, const struct prof_pylayout *l,
		      struct prof_pycode *code, int64_t lasti, uint32_t *line);

#endif
