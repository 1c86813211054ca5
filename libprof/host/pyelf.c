/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the auxiliary vector to the program's headers, its dynamic section, the loader's list of
 * objects (r_debug) and in each to the GNU hash table of its symbols. The list may change under us:
 * all is bounded, and what cannot be read is skipped.
 */
#include "pyelf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define HEADERS_MAX 64u
#define DYNAMIC_MAX 96u
#define OBJECTS_MAX 4096u
#define CHAIN_MAX 4096u

/* ---- the program's headers ---- */

static int vector_of_child(pid_t pid, uint64_t *headers, uint64_t *count)
{
	Elf64_auxv_t vector[64];
	char path[40];
	ssize_t n;
	size_t i;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -EPERM;
	n = read(fd, vector, sizeof(vector));
	close(fd);
	for (i = 0; n > 0 && i < (size_t)n / sizeof(*vector); i++) {
		if (vector[i].a_type == AT_PHDR)
			*headers = vector[i].a_un.a_val;
		else if (vector[i].a_type == AT_PHNUM)
			*count = vector[i].a_un.a_val;
	}
	return *headers && *count ? 0 : -ENOENT;
}

static int find_headers(const struct prof_pymem *m, uint64_t *headers, uint64_t *count)
{
	*headers = *count = 0;
	if (m->pid != getpid())
		return vector_of_child(m->pid, headers, count);
	*headers = getauxval(AT_PHDR);
	*count = getauxval(AT_PHNUM);
	return *headers && *count ? 0 : -ENOENT;
}

/* Address of the program's dynamic section. */
static int find_dynamic(struct prof_pymem *m, uint64_t *dynamic)
{
	Elf64_Phdr header[HEADERS_MAX];
	uint64_t at, count, bias = 0, value = 0;
	size_t i;
	int rc = find_headers(m, &at, &count);

	if (rc)
		return rc;
	if (count > HEADERS_MAX)
		return -ENOENT;
	rc = prof_pymem_read(m, at, header, count * sizeof(*header));
	if (rc)
		return rc;
	for (i = 0; i < count; i++) {
		if (header[i].p_type == PT_PHDR)
			bias = at - header[i].p_vaddr;
		else if (header[i].p_type == PT_DYNAMIC)
			value = header[i].p_vaddr;
	}
	*dynamic = bias + value;
	return value ? 0 : -ENOENT; /* linked statically */
}

/* ---- one object ---- */

struct dynamic {
	Elf64_Dyn entry[DYNAMIC_MAX];
	size_t entries;
};

/* The section ends with DT_NULL; what stands behind it may not be there. */
static int read_dynamic(struct prof_pymem *m, uint64_t at, struct dynamic *d)
{
	for (d->entries = 0; d->entries < DYNAMIC_MAX; d->entries += 8) {
		size_t i;
		int rc = prof_pymem_read(m, at + d->entries * sizeof(*d->entry),
					 d->entry + d->entries, 8 * sizeof(*d->entry));

		if (rc)
			return d->entries ? 0 : rc;
		for (i = d->entries; i < d->entries + 8; i++)
			if (d->entry[i].d_tag == DT_NULL) {
				d->entries = i;
				return 0;
			}
	}
	return 0;
}

static uint64_t value_of(const struct dynamic *d, int64_t tag)
{
	size_t i;

	for (i = 0; i < d->entries; i++)
		if (d->entry[i].d_tag == tag)
			return d->entry[i].d_un.d_val;
	return 0;
}

/* glibc writes addresses into the section, others leave offsets. */
static uint64_t address_of(const struct dynamic *d, int64_t tag, uint64_t bias)
{
	uint64_t value = value_of(d, tag);

	return value && value < bias ? value + bias : value;
}

static int open_object(struct prof_pymem *m, uint64_t bias, uint64_t dynamic,
		       struct prof_pyelf *object)
{
	struct dynamic d;
	int rc = read_dynamic(m, dynamic, &d);

	if (rc)
		return rc;
	object->bias = bias;
	object->symbols = address_of(&d, DT_SYMTAB, bias);
	object->strings = address_of(&d, DT_STRTAB, bias);
	object->strings_bytes = value_of(&d, DT_STRSZ);
	object->hash = address_of(&d, DT_GNU_HASH, bias);
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

/* ---- the list of objects ---- */

static bool may_be_python(struct prof_pymem *m, uint64_t name)
{
	char path[1024];
	const char *base;

	if (prof_pymem_text(m, name, path, sizeof(path)) < 0)
		return false;
	base = strrchr(path, '/');
	return !strncmp(base ? base + 1 : path, "libpython", 9);
}

static int first_object(struct prof_pymem *m, uint64_t *map)
{
	struct r_debug debug;
	struct dynamic d;
	uint64_t dynamic, at;
	int rc = find_dynamic(m, &dynamic);

	if (!rc)
		rc = read_dynamic(m, dynamic, &d);
	if (rc)
		return rc;
	at = value_of(&d, DT_DEBUG);
	if (!at)
		return -ENOENT;
	rc = prof_pymem_read(m, at, &debug, sizeof(debug));
	*map = (uintptr_t)debug.r_map;
	return rc;
}

int prof_pyelf_find(struct prof_pymem *m, const char *name, struct prof_pyelf *object)
{
	struct prof_pyelf_symbol symbol;
	struct link_map map;
	uint64_t at;
	unsigned int n;
	int rc = first_object(m, &at);

	if (rc)
		return rc;
	for (n = 0; at && n < OBJECTS_MAX; n++, at = (uintptr_t)map.l_next) {
		rc = prof_pymem_read(m, at, &map, sizeof(map));
		if (rc)
			return rc;
		if (n && !may_be_python(m, (uintptr_t)map.l_name))
			continue;
		if (!open_object(m, map.l_addr, (uintptr_t)map.l_ld, object) &&
		    !prof_pyelf_symbol(m, object, name, &symbol))
			return 0;
	}
	return -ENOENT;
}
