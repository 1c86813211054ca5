/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks functions up in .symtab and .dynsym of ELF files; .symtab of stripped ones may stand in
 * /usr/lib/debug, by build id. Nothing is sorted or copied: a report asks for some dozens of names.
 */
#include "symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/hash.h"
#include "core/local.h"

#define FILES_MAX 128u /* open at a time */
#define NAMES_MAX 65536u /* known, found or not */
#define BUCKETS 4096u
#define BUILD_ID_MAX 64u /* bytes */
#define SYMBOLS_MAX (16u << 20)
#define NAME_BYTES_MAX 4096u

struct module { /* a file, or what could not be opened: elf is NULL */
	char *path, *build_id;
	int fd, debug_fd;
	Elf *elf, *debug;
};

struct known {
	struct known *next;
	char *path, *build_id, *name; /* name may be NULL */
	uint64_t offset;
};

struct view_symbols {
	struct module module[FILES_MAX];
	size_t modules, names;
	struct known *bucket[BUCKETS];
};

/* ---- files ---- */

static Elf *open_elf(const char *path, int *fd)
{
	struct stat st;
	Elf *elf;

	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (*fd < 0)
		return NULL;
	elf = !fstat(*fd, &st) && S_ISREG(st.st_mode) ? elf_begin(*fd, ELF_C_READ, NULL) : NULL;
	if (elf && elf_kind(elf) == ELF_K_ELF)
		return elf;
	elf_end(elf);
	close(*fd);
	*fd = -1;
	return NULL;
}

static void close_elf(Elf *elf, int fd)
{
	elf_end(elf);
	if (fd >= 0)
		close(fd);
}

static void write_hex(const uint8_t *raw, size_t n, char *text)
{
	size_t i;

	for (i = 0; i < n; i++)
		sprintf(text + 2 * i, "%02x", raw[i]);
	text[2 * n] = 0;
}

/* The build id within one section of notes; false: it is not there. */
static bool find_note(Elf_Data *data, char *id)
{
	size_t at = 0, next, name, desc;
	GElf_Nhdr note;

	while ((next = gelf_getnote(data, at, &note, &name, &desc)) > 0) {
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    !memcmp((char *)data->d_buf + name, "GNU", 4) &&
		    note.n_descsz <= BUILD_ID_MAX) {
			write_hex((uint8_t *)data->d_buf + desc, note.n_descsz, id);
			return true;
		}
		at = next;
	}
	return false;
}

static void read_build_id(Elf *elf, char *id)
{
	Elf_Scn *section = NULL;
	GElf_Shdr head;

	id[0] = 0;
	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data;

		if (!gelf_getshdr(section, &head) || head.sh_type != SHT_NOTE)
			continue;
		data = elf_getdata(section, NULL);
		if (data && find_note(data, id))
			return;
	}
}

static bool has_build_id(Elf *elf, const char *want)
{
	char id[2 * BUILD_ID_MAX + 1];

	read_build_id(elf, id);
	return !strcmp(id, want);
}

/* Debian and others keep what was stripped under its build id. */
static void open_debug(struct module *m)
{
	char path[2 * BUILD_ID_MAX + 64];

	if (strlen(m->build_id) < 4)
		return;
	snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%s.debug", m->build_id,
		 m->build_id + 2);
	m->debug = open_elf(path, &m->debug_fd);
	if (m->debug && !has_build_id(m->debug, m->build_id)) {
		close_elf(m->debug, m->debug_fd);
		m->debug = NULL;
		m->debug_fd = -1;
	}
}

static void open_module(struct module *m)
{
	m->fd = m->debug_fd = -1;
	m->elf = open_elf(m->path, &m->fd);
	if (m->elf && !has_build_id(m->elf, m->build_id)) {
		close_elf(m->elf, m->fd);
		m->elf = NULL;
		m->fd = -1;
	}
	if (m->elf)
		open_debug(m);
}

static void close_module(struct module *m)
{
	close_elf(m->elf, m->fd);
	close_elf(m->debug, m->debug_fd);
	free(m->path);
	free(m->build_id);
}

/* When there are too many the first makes room: reports ask module by module. */
static struct module *find_module(struct view_symbols *s, const char *path, const char *build_id)
{
	struct module one = { .fd = -1, .debug_fd = -1 };
	size_t i;

	for (i = 0; i < s->modules; i++)
		if (!strcmp(s->module[i].path, path) && !strcmp(s->module[i].build_id, build_id))
			return &s->module[i];
	one.path = strdup(path);
	one.build_id = strdup(build_id);
	if (!one.path || !one.build_id) {
		close_module(&one);
		return NULL;
	}
	if (s->modules == FILES_MAX) {
		close_module(&s->module[0]);
		memmove(s->module, s->module + 1, (FILES_MAX - 1) * sizeof(*s->module));
		s->modules--;
	}
	open_module(&one);
	s->module[s->modules] = one;
	return &s->module[s->modules++];
}

/* ---- symbols ---- */

struct choice {
	const char *name;
	int rank;
};

/* Of several names at one place: what others call it, without underscores if it can be. */
static int rank_of(const GElf_Sym *symbol, const char *name)
{
	int bind = GELF_ST_BIND(symbol->st_info);
	int rank = bind == STB_GLOBAL ? 200 : bind == STB_WEAK ? 100 : 0;
	size_t underscores = strspn(name, "_");

	return rank + 50 - (int)(underscores < 50 ? underscores : 50);
}

static bool is_text(const char *name)
{
	size_t i;

	for (i = 0; i < NAME_BYTES_MAX; i++) {
		if (!name[i])
			return i > 0;
		if ((unsigned char)name[i] <= ' ' || (unsigned char)name[i] == 0x7f)
			return false;
	}
	return false;
}

static void look_in_table(Elf *elf, const GElf_Shdr *head, Elf_Data *data, uint64_t offset,
			  struct choice *best)
{
	size_t n = head->sh_entsize ? head->sh_size / head->sh_entsize : 0, i;
	GElf_Sym symbol;

	for (i = 0; i < n && i < SYMBOLS_MAX && gelf_getsym(data, (int)i, &symbol); i++) {
		int type = GELF_ST_TYPE(symbol.st_info);
		const char *name;

		if ((type != STT_FUNC && type != STT_GNU_IFUNC) || !symbol.st_shndx ||
		    offset - symbol.st_value >= symbol.st_size)
			continue;
		name = elf_strptr(elf, head->sh_link, symbol.st_name);
		if (!name || !is_text(name) || (best->name && rank_of(&symbol, name) <= best->rank))
			continue;
		*best = (struct choice){ name, rank_of(&symbol, name) };
	}
}

static void look(Elf *elf, uint64_t offset, struct choice *best)
{
	Elf_Scn *section = NULL;
	GElf_Shdr head;

	while (elf && (section = elf_nextscn(elf, section))) {
		Elf_Data *data;

		if (!gelf_getshdr(section, &head) ||
		    (head.sh_type != SHT_SYMTAB && head.sh_type != SHT_DYNSYM))
			continue;
		data = elf_getdata(section, NULL);
		if (data)
			look_in_table(elf, &head, data, offset, best);
	}
}

/* ---- the cache ---- */

static size_t hash_of(const char *path, uint64_t offset)
{
	uint64_t h = base_hash_text(offset * UINT64_C(0x9e3779b97f4a7c15), path);

	return (h ^ h >> 32) % BUCKETS;
}

static const char *find_name(struct view_symbols *s, const char *path, uint64_t offset,
			     const char *build_id)
{
	struct module *m = find_module(s, path, build_id);
	struct choice best = { NULL, 0 };

	if (m) {
		look(m->elf, offset, &best);
		look(m->debug, offset, &best);
	}
	return best.name;
}

static void free_known(struct known *k)
{
	if (!k)
		return;
	free(k->path);
	free(k->build_id);
	free(k->name);
	free(k);
}

static struct known *make_known(struct view_symbols *s, const char *path, uint64_t offset,
				const char *build_id)
{
	struct known *k = calloc(1, sizeof(*k));
	const char *name;

	if (!k)
		return NULL;
	k->offset = offset;
	k->path = strdup(path);
	k->build_id = strdup(build_id);
	if (!k->path || !k->build_id) {
		free_known(k);
		return NULL;
	}
	name = find_name(s, path, offset, build_id);
	k->name = name ? strdup(name) : NULL;
	return k;
}

static bool is_build_id(const char *text)
{
	size_t n = strspn(text, "0123456789abcdef");

	return !text[n] && n <= 2 * BUILD_ID_MAX;
}

const char *view_symbol(struct view_symbols *s, const char *path, uint64_t offset,
			const char *build_id)
{
	struct known **bucket, *k;

	if (path[0] != '/' || strlen(path) >= PATH_MAX || !is_build_id(build_id))
		return NULL;
	bucket = &s->bucket[hash_of(path, offset)];
	for (k = *bucket; k; k = k->next)
		if (k->offset == offset && !strcmp(k->path, path) && !strcmp(k->build_id, build_id))
			return k->name;
	if (s->names == NAMES_MAX)
		return NULL;
	k = make_known(s, path, offset, build_id);
	if (!k)
		return NULL;
	k->next = *bucket;
	*bucket = k;
	s->names++;
	return k->name;
}

const char *view_symbol_of_frame(struct view_symbols *s, const char *frame, size_t len)
{
	char text[PATH_MAX + 2 * BUILD_ID_MAX + 32];
	char *offset, *build_id, *end;
	unsigned long long value;

	if (len >= sizeof(text) || memchr(frame, 0, len))
		return NULL;
	memcpy(text, frame, len);
	text[len] = 0;
	offset = strchr(text, '\t');
	build_id = offset ? strchr(offset + 1, '\t') : NULL;
	if (!build_id)
		return NULL;
	*offset++ = 0;
	*build_id++ = 0;
	if (!*offset || offset[strspn(offset, "0123456789abcdef")])
		return NULL;
	errno = 0;
	value = strtoull(offset, &end, 16);
	return errno ? NULL : view_symbol(s, text, value, build_id);
}

struct view_symbols *view_symbols_new(void)
{
	if (!view_local_files() || elf_version(EV_CURRENT) == EV_NONE)
		return NULL;
	return calloc(1, sizeof(struct view_symbols));
}

void view_symbols_free(struct view_symbols *s)
{
	size_t i;

	if (!s)
		return;
	for (i = 0; i < s->modules; i++)
		close_module(&s->module[i]);
	for (i = 0; i < BUCKETS; i++)
		while (s->bucket[i]) {
			struct known *k = s->bucket[i];

			s->bucket[i] = k->next;
			free_known(k);
		}
	free(s);
}
