/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols of the objects a process has loaded, read from its memory: no file is opened.
 */
#ifndef PROF_PYELF_H
#define PROF_PYELF_H

#include <stdint.h>
#include "objects.h"
#include "pymem.h"

struct prof_pyelf { /* one object's dynamic symbols */
	uint64_t bias; /* what is added to its symbols' values */
	uint64_t symbols, strings, strings_bytes, hash;
};

struct prof_pyelf_symbol {
	uint64_t address, bytes;
};

/* 0; -ENOENT: it has no hash table of symbols; or an error of reading. */
int prof_pyelf_open(struct prof_pymem *m, const struct prof_object *o, struct prof_pyelf *object);

/* 0, -ENOENT, or an error of reading. */
int prof_pyelf_symbol(struct prof_pymem *m, const struct prof_pyelf *object, const char *name,
		      struct prof_pyelf_symbol *out);

/*
 * The object of process @m that defines @name: the program itself, or a library whose file name
 * begins with "libpython". 0, -ENOENT, -EPERM, or an error of reading.
 */
int prof_pyelf_find(struct prof_pymem *m, const char *name, struct prof_pyelf *object);

#endif
