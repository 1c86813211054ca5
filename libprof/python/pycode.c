/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A set-associative cache of code objects, and of the last lines asked of each.
 */
#include "pycode.h"

#include <string.h>

#include "pyline.h"
#include "pytext.h"

#define NAME_ROOM 160u
#define CODE_MAX (1u << 28) /* bytes of instructions, or units of them */

static uint32_t name_field(const struct prof_pylayout *l)
{
	return l->code.qualname == PROF_PYLAYOUT_NONE ? l->code.name : l->code.qualname;
}

static struct prof_pycode describe(const struct prof_pylayout *l, uint64_t address,
				   const uint8_t *raw)
{
	struct prof_pycode now = { .address = address,
				   .file = prof_pymem_word(raw, l->code.file),
				   .name = prof_pymem_word(raw, name_field(l)),
				   .table = prof_pymem_word(raw, l->code.table) };

	memcpy(&now.firstline, raw + l->code.firstline, 4);
	return now;
}

static bool is_of(const struct prof_pycode *e, const struct prof_pylayout *l, uint64_t address,
		  const uint8_t *raw)
{
	return e->address == address && e->file == prof_pymem_word(raw, l->code.file) &&
	       e->name == prof_pymem_word(raw, name_field(l)) &&
	       e->table == prof_pymem_word(raw, l->code.table) &&
	       !memcmp(&e->firstline, raw + l->code.firstline, sizeof(e->firstline));
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), k = strlen(end);

	return n >= k && !strcmp(text + n - k, end);
}

static uint8_t mark_of(const char *name, const char *file)
{
	if (ends_with(name, "_bootstrap") && ends_with(file, "/process.py"))
		return PROF_PYCODE_BOOTSTRAP;
	if (ends_with(name, "_launch") && ends_with(file, "/popen_fork.py"))
		return PROF_PYCODE_LAUNCH;
	return PROF_PYCODE_PLAIN;
}

/* Its folder is lib/python3.11, wherever that is; what is frozen has no file. */
static uint8_t home_of(const char *file)
{
	const char *lib = strstr(file, "/python3.");

	if (strstr(file, "/site-packages/") || strstr(file, "/dist-packages/"))
		return PROF_PYCODE_PACKAGES;
	if (!strncmp(file, "<frozen ", 8))
		return PROF_PYCODE_LIBRARYS;
	for (; lib; lib = strstr(lib + 1, "/python3."))
		if (lib[9 + strspn(lib + 9, "0123456789")] == '/' && lib - file >= 4 &&
		    (!strncmp(lib - 4, "/lib", 4) ||
		     (lib - file >= 6 && !strncmp(lib - 6, "/lib64", 6))))
			return PROF_PYCODE_LIBRARYS;
	return PROF_PYCODE_USERS;
}

/* From 3.11 on the instructions stand in the object itself, counted in units of two bytes. */
static bool read_code_bytes(struct prof_pymem *m, const struct prof_pylayout *l, const uint8_t *raw,
			    int64_t *bytes)
{
	uint64_t n = prof_pymem_word(raw, PROF_PYVAR_SIZE);

	if (l->frames == PROF_PYFRAME_OBJECT &&
	    prof_pymem_read(m, prof_pymem_word(raw, l->code.bytecode) + PROF_PYVAR_SIZE, &n,
			    sizeof(n)))
		return false;
	if (!n || n > CODE_MAX)
		return false;
	*bytes = (int64_t)n * (l->frames == PROF_PYFRAME_OBJECT ? 1 : 2);
	return true;
}

static bool is_generator(const struct prof_pylayout *l, const uint8_t *raw)
{
	uint32_t flags;

	if (l->code.flags == PROF_PYLAYOUT_NONE)
		return false;
	memcpy(&flags, raw + l->code.flags, sizeof(flags));
	return flags & PROF_PYCODE_GENERATORS;
}

static bool fill(struct prof_pycode *e, struct prof_pymem *m, const struct prof_pylayout *l,
		 const uint8_t *raw)
{
	char name[NAME_ROOM];
	ssize_t n, k;

	if (!read_code_bytes(m, l, raw, &e->code_bytes))
		return false;
	n = prof_pytext(m, l, e->name, false, name, sizeof(name));
	if (n < 0)
		return false;
	memcpy(e->text, name, (size_t)n);
	e->text[n] = '\t';
	k = prof_pytext(m, l, e->file, true, e->text + n + 1, sizeof(e->text) - (size_t)n - 1);
	if (k < 0)
		return false;
	e->mark = mark_of(name, e->text + n + 1);
	e->generator = is_generator(l, raw);
	e->home = home_of(e->text + n + 1);
	e->bytes = (uint16_t)(n + 1 + k);
	return true;
}

struct prof_pycode *prof_pycode_get(struct prof_pycodes *c, struct prof_pymem *m,
				    const struct prof_pylayout *l, uint64_t address,
				    const uint8_t *raw)
{
	struct prof_pycode *set = c->entry[(address >> 4 ^ address >> 12) % PROF_PYCODE_SETS];
	struct prof_pycode *oldest = set;
	size_t i;

	for (i = 0; i < PROF_PYCODE_WAYS; i++) {
		if (is_of(&set[i], l, address, raw)) {
			set[i].used = ++c->clock;
			return &set[i];
		}
		if (set[i].address == address) {
			oldest = &set[i]; /* the object is another now */
			oldest->used = 0;
		} else if (set[i].used < oldest->used) {
			oldest = &set[i];
		}
	}
	*oldest = describe(l, address, raw);
	if (!fill(oldest, m, l, raw)) {
		oldest->address = 0;
		oldest->used = 0;
		return NULL;
	}
	oldest->used = ++c->clock;
	return oldest;
}

static uint32_t read_line(struct prof_pycodes *c, struct prof_pymem *m,
			  const struct prof_pylayout *l, const struct prof_pycode *code,
			  int64_t lasti)
{
	int64_t bytes;

	if (prof_pymem_read(m, code->table + PROF_PYVAR_SIZE, &bytes, sizeof(bytes)) || bytes < 0)
		return 0;
	if (bytes > PROF_PYCODE_TABLE)
		bytes = PROF_PYCODE_TABLE;
	if (prof_pymem_read(m, code->table + PROF_PYBYTES_DATA, c->table, (size_t)bytes))
		return 0;
	return prof_pyline(l->lines, c->table, (size_t)bytes, code->firstline, lasti);
}

bool prof_pycode_line(struct prof_pycodes *c, struct prof_pymem *m, const struct prof_pylayout *l,
		      struct prof_pycode *code, int64_t lasti, uint32_t *line)
{
	size_t i;

	*line = code->firstline;
	if (lasti == -1 || lasti == -2)
		return true; /* none has run yet */
	if (lasti < 0 || lasti >= code->code_bytes || lasti % 2)
		return false;
	for (i = 0; i < code->knowns; i++)
		if (code->known[i].lasti == lasti) {
			*line = code->known[i].line;
			return true;
		}
	*line = read_line(c, m, l, code, lasti);
	code->known[code->next].lasti = lasti;
	code->known[code->next].line = *line;
	code->next = (uint8_t)((code->next + 1) % PROF_PYCODE_LINES);
	if (code->knowns < PROF_PYCODE_LINES)
		code->knowns++;
	return true;
}
