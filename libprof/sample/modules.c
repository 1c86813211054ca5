/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the ELF headers of loaded objects from memory.
 */
#include "modules.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "python/objects.h"
#include "python/pyelf.h"

#define HEADERS_MAX 64u
#define NOTES_MAX 1024u

static void write_hex(const uint8_t *raw, size_t n, char *text)
{
	size_t i;

	for (i = 0; i < n; i++) {
		*text++ = "0123456789abcdef"[raw[i] >> 4];
		*text++ = "0123456789abcdef"[raw[i] & 15];
	}
	*text = 0;
}

/* Notes: sizes of name and data, type, then both, each filled up to four bytes. */
static void find_build_id(struct prof_pymem *m, uint64_t at, uint64_t bytes, struct prof_module *to)
{
	uint8_t raw[NOTES_MAX];
	Elf64_Nhdr note;
	uint64_t i = 0;

	if (bytes > sizeof(raw))
		bytes = sizeof(raw);
	if (prof_pymem_read(m, at, raw, bytes))
		return;
	while (i + sizeof(note) <= bytes) {
		uint64_t data;

		memcpy(&note, raw + i, sizeof(note));
		data = i + sizeof(note) + (note.n_namesz + UINT64_C(3)) / 4 * 4;
		if (data + note.n_descsz > bytes)
			return;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    !memcmp(raw + i + sizeof(note), "GNU", 4) && note.n_descsz <= PROF_BUILD_ID) {
			write_hex(raw + data, note.n_descsz, to->build_id);
			return;
		}
		i = data + (note.n_descsz + UINT64_C(3)) / 4 * 4;
	}
}

static int read_headers(struct prof_pymem *m, const struct prof_object *o, Elf64_Phdr *header,
			size_t *n)
{
	uint64_t at = o->headers;
	Elf64_Ehdr elf;
	int rc;

	*n = o->header_count;
	if (!at) {
		rc = prof_pymem_read(m, o->bias, &elf, sizeof(elf));
		if (rc)
			return rc;
		if (memcmp(elf.e_ident, ELFMAG, SELFMAG) || elf.e_phentsize != sizeof(*header))
			return -EINVAL;
		at = o->bias + elf.e_phoff;
		*n = elf.e_phnum;
	}
	if (*n > HEADERS_MAX)
		return -EINVAL;
	return prof_pymem_read(m, at, header, *n * sizeof(*header));
}

/*
 * Segments stand by address. Files for machines that may have pages of 64 KiB leave so much between
 * them, and what the kernel loads, the loader itself, keeps nobody out of there.
 */
static void take_segment(const Elf64_Phdr *h, struct prof_module *to)
{
	uint64_t at = to->bias + h->p_vaddr;

	if (to->high && at > to->high && at - to->high > to->hole_end - to->hole_begin) {
		to->hole_begin = to->high;
		to->hole_end = at;
	}
	if (!to->high || at < to->low)
		to->low = at;
	if (at + h->p_memsz > to->high)
		to->high = at + h->p_memsz;
}

static void take_header(struct prof_pymem *m, const Elf64_Phdr *h, struct prof_module *to)
{
	uint64_t at = to->bias + h->p_vaddr;

	if (h->p_type == PT_LOAD)
		take_segment(h, to);
	if (h->p_type == PT_LOAD && h->p_flags & PF_X) {
		if (!to->end || at < to->begin)
			to->begin = at;
		if (at + h->p_memsz > to->end)
			to->end = at + h->p_memsz;
	} else if (h->p_type == PT_GNU_EH_FRAME) {
		to->unwind = at;
		to->unwind_bytes = h->p_memsz;
	} else if (h->p_type == PT_NOTE && !to->build_id[0]) {
		find_build_id(m, at, h->p_memsz, to);
	}
}

static void find_fixed(const Elf64_Phdr *header, size_t n, struct prof_module *to)
{
	size_t i;

	for (i = 0; i < n; i++) {
		uint64_t at = to->bias + header[i].p_vaddr;

		if (header[i].p_type != PT_LOAD || header[i].p_flags & PF_W ||
		    to->unwind - at >= header[i].p_filesz)
			continue;
		to->fixed_begin = at;
		to->fixed_end = at + header[i].p_filesz;
	}
}

/* The program has no name in the list. */
static void find_path(struct prof_pymem *m, const struct prof_object *o, char *path, size_t room)
{
	char link[40];
	int kept = errno;
	ssize_t n;

	if (!o->headers) {
		if (prof_pymem_text(m, o->name, path, room) < 0)
			path[0] = 0;
	} else {
		snprintf(link, sizeof(link), "/proc/%d/exe", (int)m->pid);
		n = readlink(link, path, room - 1);
		path[n > 0 ? n : 0] = 0;
		errno = kept;
	}
	for (; *path; path++)
		if ((unsigned char)*path < ' ')
			*path = '?'; /* it would end a field of a stack */
}

/* Does the file's name begin so, and does its version or suffix follow? */
static bool is_called(const char *path, const char *name)
{
	const char *base = strrchr(path, '/');
	size_t n = strlen(name);

	base = base ? base + 1 : path;
	return !strncmp(base, name, n) && base[n] && strchr(".-", base[n]);
}

static bool is_runtime(const char *path)
{
	static const char *const names[] = { "libc",	  "libpthread",	  "ld-linux", "ld-musl",
					     "libstdc++", "libc++",	  "libgcc_s", "libffi",
					     "_ctypes",	  "_cffi_backend" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (is_called(path, names[i]))
			return true;
	return false;
}

/* The program and libpython only: modules that use Python do not define it. */
static bool is_python(struct prof_pymem *m, const struct prof_object *o, const char *path)
{
	const char *base = strrchr(path, '/');
	struct prof_pyelf_symbol symbol;
	struct prof_pyelf elf;

	if (!o->headers && strncmp(base ? base + 1 : path, "libpython", 9))
		return false;
	return !prof_pyelf_open(m, o, &elf) && !prof_pyelf_symbol(m, &elf, "_PyRuntime", &symbol);
}

static int take_object(struct prof_pymem *m, const struct prof_object *o, void *arg)
{
	struct prof_modules *all = arg;
	struct prof_module *to = &all->module[all->n];
	Elf64_Phdr header[HEADERS_MAX];
	size_t n, i;

	all->last = *o;
	if (all->n == PROF_MODULES || read_headers(m, o, header, &n)) {
		all->dropped++;
		return 0;
	}
	*to = (struct prof_module){ .bias = o->bias };
	for (i = 0; i < n; i++)
		take_header(m, &header[i], to);
	find_fixed(header, n, to);
	find_path(m, o, to->path, sizeof(to->path));
	to->python = is_python(m, o, to->path);
	to->runtime = is_runtime(to->path);
	to->loader = is_called(to->path, "ld-linux") || is_called(to->path, "ld-musl");
	to->driver = is_called(to->path, "libcuda");
	if (to->end > to->begin)
		all->n++;
	else
		all->dropped++;
	return 0;
}

/* By hand: qsort may allocate. */
static void sort(struct prof_modules *all)
{
	size_t i, k;

	for (i = 0; i < all->n; i++) {
		for (k = i; k && all->module[all->order[k - 1]].begin > all->module[i].begin; k--)
			all->order[k] = all->order[k - 1];
		all->order[k] = (uint16_t)i;
	}
}

int prof_modules_read(struct prof_modules *all, struct prof_pymem *m)
{
	int rc;

	all->n = 0;
	all->dropped = 0;
	rc = prof_objects_each(m, take_object, all);
	prof_object_mark(m, &all->last);
	sort(all);
	return rc;
}

/* Two where there is room for one: the first of them is no longer loaded. */
static bool is_displaced(const struct prof_modules *all, size_t before)
{
	size_t i, k;

	for (i = 0; i < before; i++)
		for (k = before; k < all->n; k++)
			if (all->module[k].low < all->module[i].high &&
			    all->module[i].low < all->module[k].high)
				return true;
	return false;
}

int prof_modules_more(struct prof_modules *all, struct prof_pymem *m)
{
	size_t before = all->n;
	struct prof_object last = all->last; /* which changes on the way */
	int rc = prof_objects_after(m, &last, take_object, all);

	if (is_displaced(all, before))
		rc = -ESTALE;
	if (!rc)
		prof_object_mark(m, &all->last);
	sort(all);
	return rc;
}

bool prof_modules_grown(const struct prof_modules *all, struct prof_pymem *m)
{
	return prof_objects_grown(m, &all->last);
}

/* How many begin their code at or before it. */
static size_t count_before(const struct prof_modules *all, uint64_t address)
{
	size_t low = 0, high = all->n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (all->module[all->order[middle]].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct prof_module *prof_module_at(const struct prof_modules *all, uint64_t address)
{
	size_t n = count_before(all, address);
	const struct prof_module *m = n ? &all->module[all->order[n - 1]] : NULL;

	return m && address < m->end ? m : NULL;
}

static bool is_in(const struct prof_module *m, uint64_t address)
{
	return address >= m->low && address < m->high &&
	       (address < m->hole_begin || address >= m->hole_end);
}

/*
 * Modules do not overlap: what does not belong to the one before belongs to the next one, or to
 * none.
 */
bool prof_module_has(const struct prof_modules *all, uint64_t address)
{
	size_t n = count_before(all, address);

	return (n && is_in(&all->module[all->order[n - 1]], address)) ||
	       (n < all->n && is_in(&all->module[all->order[n]], address));
}
