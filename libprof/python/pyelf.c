/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks symbols up in the GNU hash table of an object.
 */
#include "pyelf.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define CHAIN_MAX 4096u

/* glibc writes addresses into the section, others leave offsets. */
static uint64_t address_of(const struct prof_dynamic *d, uint64_t tag, uint64_t bias)
{
	uint64_t value = prof_dynamic_value(d, tag);

	return value && value < bias ? value + bias : value;
}

int prof_pyelf_open(struct prof_pymem *m, const struct prof_object *o, struct prof_pyelf *object)
{
	struct prof_dynamic d;
	int rc = prof_dynamic_read(m, o->dynamic, &d);

	if (rc)
		return rc;
	object->bias = o->bias;
	object->symbols = address_of(&d, DT_SYMTAB, o->bias);
	object->strings = address_of(&d, DT_STRTAB, o->bias);
	object->strings_bytes = prof_dynamic_value(&d, DT_STRSZ);
	object->hash = address_of(&d, DT_GNU_HASH, o->bias);
	return object->symbols && object->strings && object->hash ? 0 : -ENOENT;
}

static uint32_t hash_of(const char *name)
{
	uint32_t h = 5381;

	for (; *name; name++)
		h = h * 33 + (unsigned char)*name;
	return h;
}

static bool is_named(struct prof_pymem *m, const struct prof_pyelf *object, const Elf64_Sym *s,
		     const char *name)
{
	char text[64];

	return s->st_name < object->strings_bytes &&
	       prof_pymem_text(m, object->strings + s->st_name, text, sizeof(text)) >= 0 &&
	       !strcmp(text, name);
}

int prof_pyelf_symbol(struct prof_pymem *m, const struct prof_pyelf *object, const char *name,
		      struct prof_pyelf_symbol *out)
{
	uint32_t head[4], h = hash_of(name), i, link, step; /* buckets, first, bloom words, shift */
	uint64_t buckets;
	Elf64_Sym s;
	int rc = prof_pymem_read(m, object->hash, head, sizeof(head));

	if (rc || !head[0])
		return rc ? rc : -ENOENT;
	buckets = object->hash + sizeof(head) + head[2] * UINT64_C(8);
	rc = prof_pymem_read(m, buckets + h % head[0] * UINT64_C(4), &i, sizeof(i));
	if (rc || i < head[1])
		return rc ? rc : -ENOENT;
	for (step = 0; step < CHAIN_MAX; step++, i++) {
		rc = prof_pymem_read(m, buckets + (head[0] + UINT64_C(0) + i - head[1]) * 4, &link,
				     sizeof(link));
		if (rc)
			return rc;
		if ((link | 1) == (h | 1)) {
			rc = prof_pymem_read(m, object->symbols + i * sizeof(s), &s, sizeof(s));
			if (rc)
				return rc;
			if (s.st_shndx && is_named(m, object, &s, name)) {
				*out = (struct prof_pyelf_symbol){ object->bias + s.st_value,
								   s.st_size };
				return 0;
			}
		}
		if (link & 1)
			break;
	}
	return -ENOENT;
}

static bool may_be_python(struct prof_pymem *m, const struct prof_object *o)
{
	char path[1024];
	const char *base;

	if (o->headers)
		return true; /* the program */
	if (prof_pymem_text(m, o->name, path, sizeof(path)) < 0)
		return false;
	base = strrchr(path, '/');
	return !strncmp(base ? base + 1 : path, "libpython", 9);
}

struct search {
	const char *name;
	struct prof_pyelf *object;
};

static int defines(struct prof_pymem *m, const struct prof_object *o, void *arg)
{
	const struct search *s = arg;
	struct prof_pyelf_symbol symbol;

	return may_be_python(m, o) && !prof_pyelf_open(m, o, s->object) &&
	       !prof_pyelf_symbol(m, s->object, s->name, &symbol);
}

int prof_pyelf_find(struct prof_pymem *m, const char *name, struct prof_pyelf *object)
{
	struct search s = { name, object };
	int rc = prof_objects_each(m, defines, &s);

	return rc < 0 ? rc : rc ? 0 : -ENOENT;
}
