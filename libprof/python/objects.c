/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the auxiliary vector to the program's headers, its dynamic section, and the loader's list
 * (r_debug), as a debugger does it.
 */
#include "objects.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <unistd.h>

#define HEADERS_MAX 64u
#define OBJECTS_MAX 4096u
#define AT_ONCE 8u /* entries of a dynamic section */
#define PATH_BYTES 256u /* of which an object is known again */

static int headers_of_child(pid_t pid, struct prof_object *program)
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
			program->headers = vector[i].a_un.a_val;
		else if (vector[i].a_type == AT_PHNUM)
			program->header_count = vector[i].a_un.a_val;
	}
	return 0;
}

static int find_headers(const struct prof_pymem *m, struct prof_object *program)
{
	int kept = errno, rc = 0;

	if (m->pid != getpid()) {
		rc = headers_of_child(m->pid, program);
		errno = kept;
	} else {
		program->headers = getauxval(AT_PHDR);
		program->header_count = getauxval(AT_PHNUM);
	}
	if (rc)
		return rc;
	return program->headers && program->header_count && program->header_count <= HEADERS_MAX
		       ? 0
		       : -ENOENT;
}

static int find_dynamic(struct prof_pymem *m, struct prof_object *program)
{
	Elf64_Phdr header[HEADERS_MAX];
	uint64_t value = 0;
	size_t i;
	int rc = prof_pymem_read(m, program->headers, header,
				 program->header_count * sizeof(*header));

	if (rc)
		return rc;
	for (i = 0; i < program->header_count; i++) {
		if (header[i].p_type == PT_PHDR)
			program->bias = program->headers - header[i].p_vaddr;
		else if (header[i].p_type == PT_DYNAMIC)
			value = header[i].p_vaddr;
	}
	program->dynamic = program->bias + value;
	return value ? 0 : -ENOENT;
}

/* The section ends with DT_NULL; what stands behind it may not be there. */
int prof_dynamic_read(struct prof_pymem *m, uint64_t at, struct prof_dynamic *d)
{
	Elf64_Dyn some[AT_ONCE];
	size_t i;

	for (d->entries = 0; d->entries + AT_ONCE <= PROF_DYNAMIC_MAX;) {
		int rc = prof_pymem_read(m, at + d->entries * sizeof(*some), some, sizeof(some));

		if (rc)
			return d->entries ? 0 : rc;
		for (i = 0; i < AT_ONCE; i++) {
			if (some[i].d_tag == DT_NULL)
				return 0;
			d->tag[d->entries] = (uint64_t)some[i].d_tag;
			d->value[d->entries++] = some[i].d_un.d_val;
		}
	}
	return 0;
}

uint64_t prof_dynamic_value(const struct prof_dynamic *d, uint64_t tag)
{
	size_t i;

	for (i = 0; i < d->entries; i++)
		if (d->tag[i] == tag)
			return d->value[i];
	return 0;
}

static int find_list(struct prof_pymem *m, const struct prof_object *program, uint64_t *map)
{
	struct prof_dynamic d;
	struct r_debug debug;
	uint64_t at;
	int rc = prof_dynamic_read(m, program->dynamic, &d);

	if (rc)
		return rc;
	at = prof_dynamic_value(&d, DT_DEBUG);
	if (!at)
		return -ENOENT;
	rc = prof_pymem_read(m, at, &debug, sizeof(debug));
	*map = (uintptr_t)debug.r_map;
	return rc;
}

static struct prof_object object_of(const struct link_map *map, uint64_t at)
{
	return (struct prof_object){ .bias = map->l_addr,
				     .dynamic = (uintptr_t)map->l_ld,
				     .name = (uintptr_t)map->l_name,
				     .next = at + offsetof(struct link_map, l_next) };
}

int prof_objects_each(struct prof_pymem *m,
		      int (*one)(struct prof_pymem *m, const struct prof_object *o, void *arg),
		      void *arg)
{
	struct prof_object program = { 0 };
	struct link_map map;
	uint64_t at;
	unsigned int n;
	int rc = find_headers(m, &program);

	if (!rc)
		rc = find_dynamic(m, &program);
	if (!rc)
		rc = find_list(m, &program, &at);
	for (n = 0; !rc && at && n < OBJECTS_MAX; n++, at = (uintptr_t)map.l_next) {
		struct prof_object o;

		rc = prof_pymem_read(m, at, &map, sizeof(map));
		if (rc)
			break;
		o = object_of(&map, at);
		if (!n) {
			o.headers = program.headers;
			o.header_count = program.header_count;
		}
		rc = one(m, &o, arg);
	}
	return rc;
}

/* What stands behind the section's end is the program's, and changes. */
static size_t count_entries(const Elf64_Dyn *entry)
{
	size_t n = 0;

	while (n < AT_ONCE && entry[n].d_tag != DT_NULL)
		n++;
	return n;
}

/* Never 0. FNV-1a, 64 bits. */
static uint64_t mark_of(const char *path, size_t bytes, const Elf64_Dyn *entry)
{
	const uint8_t *raw = (const uint8_t *)entry;
	uint64_t mark = UINT64_C(0xcbf29ce484222325);
	size_t i, n = count_entries(entry) * sizeof(*entry);

	for (i = 0; i < bytes; i++)
		mark = (mark ^ (uint8_t)path[i]) * UINT64_C(0x100000001b3);
	for (i = 0; i < n; i++)
		mark = (mark ^ raw[i]) * UINT64_C(0x100000001b3);
	return mark | 1;
}

void prof_object_mark(struct prof_pymem *m, struct prof_object *o)
{
	char path[PATH_BYTES];
	Elf64_Dyn entry[AT_ONCE];
	ssize_t n = prof_pymem_text(m, o->name, path, sizeof(path));

	o->name_bytes = o->mark = 0;
	if (n < 0 || prof_pymem_read(m, o->dynamic, entry, sizeof(entry)))
		return;
	o->name_bytes = (size_t)n + 1 < sizeof(path) ? (size_t)n + 1 : (size_t)n; /* it was cut */
	o->mark = mark_of(path, o->name_bytes, entry);
}

/* Reads where @last was; false: it is another one. */
static bool is_there(struct prof_pymem *m, const struct prof_object *last, uint64_t *next)
{
	struct link_map map;
	char path[PATH_BYTES];
	Elf64_Dyn entry[AT_ONCE];
	struct prof_pymem_part part[] = {
		{ last->next - offsetof(struct link_map, l_next), &map, sizeof(map) },
		{ last->dynamic, entry, sizeof(entry) },
		{ last->name, path, last->name_bytes },
	};

	if (!last->next || prof_pymem_read_parts(m, part, last->mark ? 3 : 1))
		return false;
	*next = (uintptr_t)map.l_next;
	return map.l_addr == last->bias && (uintptr_t)map.l_ld == last->dynamic &&
	       (uintptr_t)map.l_name == last->name &&
	       (!last->mark || last->mark == mark_of(path, last->name_bytes, entry));
}

bool prof_objects_grown(struct prof_pymem *m, const struct prof_object *last)
{
	uint64_t next;

	return !is_there(m, last, &next) || next;
}

int prof_objects_after(struct prof_pymem *m, const struct prof_object *last,
		       int (*one)(struct prof_pymem *m, const struct prof_object *o, void *arg),
		       void *arg)
{
	uint64_t before = last->next - offsetof(struct link_map, l_next), at;
	struct link_map map;
	unsigned int n;
	int rc = is_there(m, last, &at) ? 0 : -ESTALE;

	for (n = 0; !rc && at && n < OBJECTS_MAX; n++, at = (uintptr_t)map.l_next) {
		struct prof_object o;

		rc = prof_pymem_read(m, at, &map, sizeof(map));
		if (!rc && (uintptr_t)map.l_prev != before)
			rc = -ESTALE;
		if (rc)
			break;
		o = object_of(&map, at);
		rc = one(m, &o, arg);
		before = at;
	}
	return rc;
}
