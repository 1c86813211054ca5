/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which file an address of code belongs to: the objects loaded, with their build ids and tables for
 * unwinding. A copy, to be read anew when it is old or an address is in none of them.
 */
#ifndef PROF_MODULES_H
#define PROF_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "python/objects.h"
#include "python/pymem.h"

#define PROF_MODULES 1024u
#define PROF_MODULE_PATH 240u
#define PROF_BUILD_ID 20u /* bytes */

struct prof_module {
	uint64_t begin, end; /* its code */
	uint64_t low, high; /* all of it, variables too, ... */
	/* ... but what lies between: where pages may be large, others' memory may (0: nothing) */
	uint64_t hole_begin, hole_end;
	uint64_t bias;
	uint64_t unwind, unwind_bytes; /* .eh_frame_hdr, 0: none */
	uint64_t fixed_begin, fixed_end; /* the read-only memory in which that lies */
	bool python; /* the interpreter itself */
	/* of C or C++, or a way from Python into C: all programs' code passes through */
	bool runtime;
	bool loader; /* the dynamic one */
	bool driver; /* the GPU's */
	char build_id[2 * PROF_BUILD_ID + 1]; /* hexadecimal, "" if it has none */
	char path[PROF_MODULE_PATH];
};

struct prof_modules {
	size_t n;
	struct prof_object last; /* of the loader's list: behind it the next one will be hung in */
	uint64_t dropped; /* no room, or no sense in their headers */
	uint16_t order[PROF_MODULES]; /* by address */
	struct prof_module module[PROF_MODULES];
};

/* 0 or an error of prof_objects_each; what could be read is there. */
int prof_modules_read(struct prof_modules *all, struct prof_pymem *m);

/*
 * Only those that were loaded since. -ESTALE: others have gone meanwhile, and all are to be read
 * anew.
 */
int prof_modules_more(struct prof_modules *all, struct prof_pymem *m);

/* Have objects been loaded since? Costs one read. */
bool prof_modules_grown(const struct prof_modules *all, struct prof_pymem *m);

/* NULL: none. */
const struct prof_module *prof_module_at(const struct prof_modules *all, uint64_t address);

/* Is it an address of code or of a variable of a module? Memory of others in between is not. */
bool prof_module_has(const struct prof_modules *all, uint64_t address);

#endif
