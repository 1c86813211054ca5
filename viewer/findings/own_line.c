/* SPDX-License-Identifier: Apache-2.0 */
#include "own_line.h"

#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "analysis/picture/picture.h"

#define FILE_MAX (1 << 20)
#define FILES_MAX 8u

/* ---- a line ---------------------------------------------------------------------------------- */

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Behind the string literal at @p; its end where it has none. */
static const char *behind_string(const char *p)
{
	char quote = *p++;

	for (; *p && *p != quote; p++)
		if (*p == '\\' && p[1])
			p++;
	return *p ? p + 1 : p;
}

/* The call's opening parenthesis in code, and not where it is defined or imported; NULL: none. */
static const char *call_at(const char *p, const char *name, size_t len)
{
	const char *line = p;

	while (isspace((unsigned char)*line))
		line++;
	if (!strncmp(line, "class ", 6) || !strncmp(line, "def ", 4) || !strncmp(line, "from ", 5) ||
	    !strncmp(line, "import ", 7))
		return NULL;
	while (*p && *p != '#') {
		if (*p == '"' || *p == '\'') {
			p = behind_string(p);
		} else if (is_word(*p)) {
			size_t n = strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
			if (n == len && !memcmp(p, name, len) && p[n] == '(')
				return p + n;
			p += n;
		} else {
			p++;
		}
	}
	return NULL;
}

/* Where the argument that begins at @p ends: at a comma or parenthesis of its own depth; NULL: not here. */
static const char *argument_end(const char *p)
{
	int depth = 0;

	while (*p && *p != '#') {
		if (*p == '"' || *p == '\'') {
			p = behind_string(p);
			continue;
		}
		if (!depth && (*p == ',' || *p == ')'))
			return p;
		depth += *p == '(' || *p == '[' || *p == '{';
		depth -= *p == ')' || *p == ']' || *p == '}';
		p++;
	}
	return NULL;
}

struct argument { /* "num_workers=4" of a change */
	const char *text;
	size_t key, len; /* with the "="; of all */
};

/* The call with @a set, which the line has from @open on; NULL: it goes on in the next line. */
static const char *with_argument(struct base_arena *mem, const char *line, const char *open,
				 const struct argument *a)
{
	const char *p = open + 1, *end;
	bool any = false;

	while ((end = argument_end(p))) {
		const char *first = p + strspn(p, " \t");

		if (!strncmp(first, a->text, a->key))
			return base_arena_printf(mem, "%.*s%.*s%s", (int)(first - line), line,
						 (int)a->len, a->text, end);
		any |= first < end;
		if (*end == ')')
			return base_arena_printf(mem, "%.*s%s%.*s%s", (int)(end - line), line,
						 any ? ", " : "", (int)a->len, a->text, end);
		p = end + 1;
	}
	return NULL;
}

/*
 * A constructor alone, "Pool(...)": functions of general names (set, map) are called for other things, and
 * what is made in a loop is no call to set an argument of.
 */
static bool is_class(const char *change, const char *name, const char *paren)
{
	return paren && isupper((unsigned char)*name) && *change != '[' &&
	       change[strlen(change) - 1] == ')';
}

const char *view_own_line_changed(struct base_arena *mem, const char *line, const char *change)
{
	const char *paren = strchr(change, '('), *name = paren, *p, *open;
	size_t len;

	while (name && name > change && is_word(name[-1]))
		name--;
	if (!is_class(change, name, paren))
		return NULL;
	len = (size_t)(paren - name);
	p = paren + 1;
	if (!strncmp(p, "..., ", 5))
		p += 5;
	while (*p) {
		const char *end = argument_end(p);
		struct argument a = { p, strcspn(p, "=") + 1, end ? (size_t)(end - p) : 0 };

		if (!end || a.key >= a.len)
			return NULL;
		open = call_at(line, name, len);
		if (!open || call_at(open, name, len))
			return NULL;
		line = with_argument(mem, line, open, &a);
		if (!line || *end == ')')
			return line;
		p = end + 1 + strspn(end + 1, " ");
	}
	return NULL;
}

/* ---- a file ---------------------------------------------------------------------------------- */

/* Its bytes, or NULL; @before: it was not written since. */
static char *read_file(struct base_arena *mem, const char *path, int64_t before_unix_ns)
{
	size_t n = strlen(path), got = 0;
	struct stat st;
	char *text = NULL;
	ssize_t more;
	int fd;

	if (path[0] != '/' || n < 4 || strcmp(path + n - 3, ".py") != 0)
		return NULL;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 && st.st_size <= FILE_MAX &&
	    st.st_mtim.tv_sec < before_unix_ns / 1000000000) {
		text = base_arena_alloc(mem, (size_t)st.st_size + 1);
		while (got < (size_t)st.st_size &&
		       (more = read(fd, text + got, (size_t)st.st_size - got)) > 0)
			got += (size_t)more;
		text[got] = '\0';
	}
	close(fd);
	return text && !memchr(text, '\0', got) ? text : NULL;
}

struct search {
	struct view_summary *s;
	const char *file[FILES_MAX];
	size_t files;
};

static void add_file(struct search *f, const char *path)
{
	if (!path || f->files == FILES_MAX)
		return;
	for (size_t i = 0; i < f->files; i++)
		if (!strcmp(f->file[i], path))
			return;
	f->file[f->files++] = path;
}

/* Those of the main thread first: who waits for batches made their loader. */
static void find_files(struct search *f)
{
	const struct ana_picture *p = f->s->result->picture;

	for (int k = 0; p && p->absent == ANA_PICTURE_DRAWN && k < ANA_PICTURES; k++)
		for (size_t i = 0; i < p->at[k].rows; i++)
			add_file(f, p->at[k].row[i].file);
	for (size_t i = 0; i < f->s->findings; i++) {
		const struct view_hotspot *where = &f->s->finding[i].where;

		add_file(f, where->file);
		for (size_t k = 0; k < where->chains; k++)
			add_file(f, where->chain[k].file);
	}
	for (size_t i = 0; i < f->s->commands; i++)
		add_file(f, f->s->command[i]);
}

static char *trimmed(char *line)
{
	size_t n;

	while (isspace((unsigned char)*line))
		line++;
	n = strlen(line);
	while (n && isspace((unsigned char)line[n - 1]))
		line[--n] = '\0';
	return line;
}

/* What is shown is plain: no control character, and nothing that could be taken for another. */
static bool plain(const char *line)
{
	for (; *line; line++)
		if ((*line < ' ' && *line != '\t') || *line > '~')
			return false;
	return true;
}

static bool has_call(const char *line, const char *change)
{
	size_t len = strcspn(change, "("), from = len;

	while (from && is_word(change[from - 1]))
		from--;
	return change[len] && is_class(change, change + from, change + len) &&
	       call_at(line, change + from, len - from);
}

/* Every line that has the call: of one alone it is known which is meant. */
static int look(struct search *f, const char *path, const char *change, struct view_own *own)
{
	char *text = read_file(&f->s->mem, path, f->s->start_unix_ns), *line;
	uint32_t at = 0;
	int found = 0;

	while ((line = strsep(&text, "\n"))) {
		at++;
		if (!has_call(line, change))
			continue;
		found++;
		line = trimmed(line);
		if (strlen(line) <= VIEW_OWN_LINE_MAX && plain(line))
			*own = (struct view_own){ path, at, line,
						  view_own_line_changed(&f->s->mem, line, change) };
	}
	return found;
}

void view_own_lines_add(struct view_summary *s)
{
	struct search f = { .s = s };

	find_files(&f);
	for (size_t i = 0; i < s->advices; i++) {
		struct view_own own = { 0 }, *keep;
		int found = 0;

		for (size_t k = 0; s->advice[i].change && k < f.files; k++)
			found += look(&f, f.file[k], s->advice[i].change, &own);
		if (found != 1 || !own.after || !strcmp(own.before, own.after))
			continue;
		keep = base_arena_alloc(&s->mem, sizeof(*keep));
		*keep = own;
		s->advice[i].own = keep;
	}
}
