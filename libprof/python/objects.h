/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects a process has loaded, as its dynamic loader lists them, read from its memory: no lock
 * of the loader is taken, which a fork would leave locked, and it works for a child too.
 */
#ifndef PROF_OBJECTS_H
#define PROF_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>
#include "pymem.h"

struct prof_object {
	uint64_t bias; /* added to the addresses in the file */
	uint64_t dynamic; /* address of its dynamic section */
	uint64_t name; /* address of its path; "" for the program */
	uint64_t next; /* address of the list's pointer to the next object */
	uint64_t headers, header_count; /* program headers, where known: of the program */
	uint64_t name_bytes, mark; /* prof_object_mark; else 0 */
};

/*
 * Calls @one for each object, the program first, until it returns other than 0, and returns that.
 * The list may change meanwhile: then it may end early. -ENOENT: there is none (a static program);
 * -EPERM; or an error of reading.
 */
int prof_objects_each(struct prof_pymem *m,
		      int (*one)(struct prof_pymem *m, const struct prof_object *o, void *arg),
		      void *arg);

/*
 * Keeps of @o, its path and the head of its dynamic section, what tells it from another one that is
 * loaded where it was: the loader's memory of it, too, may lie where that of the one before did.
 */
void prof_object_mark(struct prof_pymem *m, struct prof_object *o);

/*
 * Has the list grown behind @last, which was marked, or is @last not the object any more that it
 * was? Costs one read.
 */
bool prof_objects_grown(struct prof_pymem *m, const struct prof_object *last);

/*
 * The same as the first for those behind @last. -ESTALE: it is another one, or not in the list any
 * more.
 */
int prof_objects_after(struct prof_pymem *m, const struct prof_object *last,
		       int (*one)(struct prof_pymem *m, const struct prof_object *o, void *arg),
		       void *arg);

/* Values in a dynamic section; entries are Elf64_Dyn. */
#define PROF_DYNAMIC_MAX 96u

struct prof_dynamic {
	uint64_t tag[PROF_DYNAMIC_MAX], value[PROF_DYNAMIC_MAX];
	size_t entries;
};

int prof_dynamic_read(struct prof_pymem *m, uint64_t at, struct prof_dynamic *d);

/* 0 where there is none. */
uint64_t prof_dynamic_value(const struct prof_dynamic *d, uint64_t tag);

#endif
