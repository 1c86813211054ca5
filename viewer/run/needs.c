/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All is read by pread with checked sizes; a file that shrinks meanwhile gives less.
 */
#include "needs.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCRIPTS_MAX 5 /* #! lines one behind the other; the kernel follows no more */
#define LINE_BYTES 256 /* of a #! line, as far as the kernel reads */
#define HEADERS_MAX 128
#define ENTRIES_MAX 4096

struct elf {
	int fd;
	size_t headers;
	Elf64_Phdr header[HEADERS_MAX];
};

/* ---- libraries ---- */

static bool read_at(int fd, void *out, size_t n, uint64_t at)
{
	return at < (uint64_t)INT64_MAX - n && pread(fd, out, n, (off_t)at) == (ssize_t)n;
}

/* Programs of another word size or byte order load no library of ours anyway. */
static bool read_headers(struct elf *e)
{
	static const unsigned char want[] = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB };
	Elf64_Ehdr h;

	if (!read_at(e->fd, &h, sizeof(h), 0) || memcmp(h.e_ident, want, sizeof(want)) != 0 ||
	    h.e_phentsize != sizeof(e->header[0]) || h.e_phnum > HEADERS_MAX)
		return false;
	e->headers = h.e_phnum;
	return read_at(e->fd, e->header, e->headers * sizeof(e->header[0]), h.e_phoff);
}

static const Elf64_Phdr *find_dynamic(const struct elf *e)
{
	for (size_t i = 0; i < e->headers; i++)
		if (e->header[i].p_type == PT_DYNAMIC)
			return &e->header[i];
	return NULL;
}

/* Where in the file lies what is loaded at @address? UINT64_MAX: nowhere. */
static uint64_t offset_of(const struct elf *e, uint64_t address)
{
	for (size_t i = 0; i < e->headers; i++) {
		const Elf64_Phdr *h = &e->header[i];

		if (h->p_type == PT_LOAD && address >= h->p_vaddr &&
		    address - h->p_vaddr < h->p_filesz && h->p_offset < INT64_MAX)
			return h->p_offset + (address - h->p_vaddr);
	}
	return UINT64_MAX;
}

/* Entry @i of the dynamic section; false: there is none any more. */
static bool entry(const struct elf *e, const Elf64_Phdr *dynamic, size_t i, Elf64_Dyn *out)
{
	if (i >= ENTRIES_MAX || i >= dynamic->p_filesz / sizeof(*out) ||
	    dynamic->p_offset >= INT64_MAX)
		return false;
	return read_at(e->fd, out, sizeof(*out), dynamic->p_offset + i * sizeof(*out)) &&
	       out->d_tag != DT_NULL;
}

static bool is_runtime(const char *library)
{
	static const char *const runtime[] = { "libasan.so",   "libclang_rt.asan",
					       "libhwasan.so", "libclang_rt.hwasan",
					       "libtsan.so",   "libclang_rt.tsan" };

	for (size_t i = 0; i < sizeof(runtime) / sizeof(runtime[0]); i++)
		if (!strncmp(library, runtime[i], strlen(runtime[i])))
			return true;
	return false;
}

/* The name at @at, without the folders in which some are named. */
static bool is_runtime_at(const struct elf *e, uint64_t at, char name[VIEW_NEEDS_NAME])
{
	char text[PATH_MAX];
	const char *slash;
	ssize_t n;

	if (at >= INT64_MAX || (n = pread(e->fd, text, sizeof(text) - 1, (off_t)at)) <= 0)
		return false;
	text[n] = '\0';
	slash = strrchr(text, '/');
	if (!is_runtime(slash ? slash + 1 : text))
		return false;
	snprintf(name, VIEW_NEEDS_NAME, "%.*s", VIEW_NEEDS_NAME - 1, slash ? slash + 1 : text);
	return true;
}

static bool is_needed(const struct elf *e, char name[VIEW_NEEDS_NAME])
{
	const Elf64_Phdr *dynamic = find_dynamic(e);
	uint64_t names = UINT64_MAX;
	Elf64_Dyn d;

	if (!dynamic)
		return false;
	for (size_t i = 0; entry(e, dynamic, i, &d); i++)
		if (d.d_tag == DT_STRTAB)
			names = offset_of(e, d.d_un.d_ptr);
	if (names == UINT64_MAX)
		return false;
	for (size_t i = 0; entry(e, dynamic, i, &d); i++)
		if (d.d_tag == DT_NEEDED && d.d_un.d_val < UINT32_MAX &&
		    is_runtime_at(e, names + d.d_un.d_val, name))
			return true;
	return false;
}

static enum view_needs_kind kind_of(const struct elf *e)
{
	char loader[PATH_MAX];
	ssize_t n;

	for (size_t i = 0; i < e->headers; i++) {
		const Elf64_Phdr *h = &e->header[i];

		if (h->p_type != PT_INTERP)
			continue;
		if (h->p_offset >= INT64_MAX ||
		    (n = pread(e->fd, loader, sizeof(loader) - 1, (off_t)h->p_offset)) <= 0)
			return VIEW_NEEDS_UNKNOWN;
		loader[n] = '\0';
		return strstr(loader, "/ld-musl-") ? VIEW_NEEDS_MUSL : VIEW_NEEDS_GLIBC;
	}
	return VIEW_NEEDS_STATIC;
}

/* ---- commands ---- */

static int open_program(const char *file)
{
	int fd = open(file, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || (!fstat(fd, &st) && S_ISREG(st.st_mode)))
		return fd;
	close(fd);
	return -1;
}

static bool is_program(const char *file)
{
	struct stat st;

	return !stat(file, &st) && S_ISREG(st.st_mode) && !access(file, X_OK);
}

/* As execvp does: an empty word of PATH is the current folder. */
static bool find(const char *name, const char *path, char out[PATH_MAX])
{
	if (strchr(name, '/'))
		return snprintf(out, PATH_MAX, "%s", name) < PATH_MAX;
	for (const char *at = path ? path : "/bin:/usr/bin"; *name; at++) {
		size_t n = strcspn(at, ":");

		if (n < PATH_MAX &&
		    snprintf(out, PATH_MAX, "%.*s%s%s", (int)n, at, n ? "/" : "", name) <
			    PATH_MAX &&
		    is_program(out))
			return true;
		at += n;
		if (!*at)
			break;
	}
	return false;
}

/* The first word of @at, whose rest is returned; "" if there is none. */
static char *cut(char *at, char **rest)
{
	at += strspn(at, " \t");
	*rest = at + strcspn(at, " \t");
	if (**rest)
		*(*rest)++ = '\0';
	return at;
}

/* "python3", "-S python3 -u" and "-S A=1 python3" name python3. */
static char *program_of_env(char *words)
{
	char *word;

	do
		word = cut(words, &words);
	while (*word == '-' || strchr(word, '='));
	return word;
}

/*
 * The program that a #! line names, as the kernel and env find it. False: the file has no such
 * line.
 */
static bool interpreter(int fd, const char *path, char out[PATH_MAX])
{
	char line[LINE_BYTES], *words, *word, *slash;
	ssize_t n = pread(fd, line, sizeof(line) - 1, 0);

	if (n < 3 || memcmp(line, "#!", 2) != 0)
		return false;
	line[n] = '\0';
	line[strcspn(line, "\n")] = '\0';
	word = cut(line + 2, &words);
	slash = strrchr(word, '/');
	if (slash && !strcmp(slash, "/env"))
		return find(program_of_env(words), path, out);
	snprintf(out, PATH_MAX, "%s", word);
	return true;
}

enum view_needs_kind view_needs_kind(const char *file)
{
	struct elf e = { .fd = open_program(file) };
	enum view_needs_kind kind = VIEW_NEEDS_UNKNOWN;
	char magic[4];

	if (e.fd < 0)
		return kind;
	if (read_headers(&e))
		kind = kind_of(&e);
	else if (read_at(e.fd, magic, sizeof(magic), 0) && !memcmp(magic, ELFMAG, SELFMAG))
		kind = VIEW_NEEDS_OTHER;
	close(e.fd);
	return kind;
}

bool view_needs_program(const char *command, const char *path, char out[PATH_MAX])
{
	bool script = true;

	if (!find(command, path, out))
		return false;
	for (int i = 0; script && i <= SCRIPTS_MAX; i++) {
		int fd = open_program(out);

		if (fd < 0)
			return false;
		script = interpreter(fd, path, out);
		close(fd);
	}
	return !script;
}

bool view_needs_sanitizer(const char *command, const char *path, char name[VIEW_NEEDS_NAME])
{
	struct elf e = { .fd = -1 };
	char file[PATH_MAX];
	bool yes;

	name[0] = '\0';
	if (!view_needs_program(command, path, file) || (e.fd = open_program(file)) < 0)
		return false;
	yes = read_headers(&e) && is_needed(&e, name);
	close(e.fd);
	return yes;
}
