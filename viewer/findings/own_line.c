/* SPDX-License-Identifier: Apache-2.0 */
#include "own_line.h"

#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "analysis/picture/picture.h"
#include "core/local.h"
#include "loader.h"
#include "snippet.h"

#define FILE_MAX (1 << 20)
#define FILES_MAX 8u
#define CALL_LINES 24 /* of one call */
#define CALL_BYTES 4000u

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

/*
 * The call's opening parenthesis in the code of this line, and not where it is defined or imported;
 * NULL: none.
 */
static const char *call_at(const char *p, const char *name, size_t len)
{
	const char *line = p;

	while (isspace((unsigned char)*line))
		line++;
	if (!strncmp(line, "class ", 6) || !strncmp(line, "def ", 4) ||
	    !strncmp(line, "from ", 5) || !strncmp(line, "import ", 7))
		return NULL;
	while (*p && *p != '#' && *p != '\n') {
		if (*p == '"' || *p == '\'') {
			p = behind_string(p);
		} else if (is_word(*p)) {
			size_t n = strspn(
				p,
				"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
			if (n == len && !memcmp(p, name, len) && p[n] == '(')
				return p + n;
			p += n;
		} else {
			p++;
		}
	}
	return NULL;
}

/*
 * Where the argument that begins at @p ends: at a comma or parenthesis of its own depth; NULL: not
 * here.
 */
static const char *argument_end(const char *p)
{
	int depth = 0;

	while (*p) {
		if (*p == '#') {
			p += strcspn(p, "\n");
			continue;
		}
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

/* The first byte of an argument, behind white space and comments. */
static const char *argument_start(const char *p)
{
	while (isspace((unsigned char)*p) || *p == '#')
		p += *p == '#' ? strcspn(p, "\n") : 1;
	return p;
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

	while ((end = argument_end(p))) {
		const char *first = argument_start(p);

		if (!strncmp(first, a->text, a->key))
			return base_arena_printf(mem, "%.*s%.*s%s", (int)(first - line), line,
						 (int)a->len, a->text, end);
		if (*end == ')') /* an argument before it may end with its comma */
			return base_arena_printf(mem, "%.*s%s%.*s%s", (int)(end - line), line,
						 first < end ? ", " : "", (int)a->len, a->text,
						 end);
		p = end + 1;
	}
	return NULL;
}

/*
 * A constructor alone, "Pool(...)": functions of general names (set, map) are called for other
 * things, and what is made in a loop is no call to set an argument of.
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

const char *view_own_name(struct base_arena *mem, const struct view_own *own)
{
	const char *was = own->before, *is = own->after;
	size_t same = 0, n;

	while (was[same] && was[same] == is[same])
		same++;
	while (same && was[same - 1] != '=')
		same--;
	if (!same || !isdigit((unsigned char)is[same]) ||
	    (!isalpha((unsigned char)was[same]) && was[same] != '_'))
		return NULL;
	for (n = 0; is_word(was[same + n]) || was[same + n] == '.'; n++)
		;
	if (was[same + n] && !strchr(",)", was[same + n])) /* a call, or arithmetic */
		return NULL;
	was = base_arena_copy(mem, was + same, n);
	return !strcmp(was, "None") || !strcmp(was, "True") || !strcmp(was, "False") ? NULL : was;
}

/* ---- a file ---------------------------------------------------------------------------------- */

/* Its text, or NULL; @before: it was not written since. */
static const char *read_file(struct base_arena *mem, const char *path, int64_t before_unix_ns)
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
	const char *file[FILES_MAX], *text[FILES_MAX];
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

/* The loader's own first; then the main thread's: who waits for batches made their loader. */
static void find_files(struct search *f)
{
	const struct ana_picture *p = f->s->result->picture;
	const struct ana_loader_facts *l = view_loader_facts(f->s);

	add_file(f, l ? l->made_file : NULL);
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

/* A line without the white space around it. */
static char *trimmed(struct base_arena *mem, const char *line, size_t n)
{
	while (n && isspace((unsigned char)*line)) {
		line++;
		n--;
	}
	while (n && isspace((unsigned char)line[n - 1]))
		n--;
	return base_arena_copy(mem, line, n);
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

/* What of a call, whole lines of it, is another one then: a change adds none. */
static void tell(struct base_arena *mem, const char *path, uint32_t line, const char *call,
		 const char *changed, struct view_own *own)
{
	for (;;) {
		size_t n = strcspn(call, "\n"), m = strcspn(changed, "\n");

		if (n != m || memcmp(call, changed, n) != 0) {
			*own = (struct view_own){ path, line, trimmed(mem, call, n),
						  trimmed(mem, changed, m) };
			return;
		}
		if (!call[n] || !changed[m])
			return;
		call += n + 1;
		changed += m + 1;
		line++;
	}
}

/* So many lines from @p on, as far as they are there. */
static const char *some_lines(struct base_arena *mem, const char *p)
{
	size_t n = 0;

	for (int i = 0; i < CALL_LINES && p[n] && n < CALL_BYTES; i++)
		n += strcspn(p + n, "\n") + (p[n + strcspn(p + n, "\n")] == '\n');
	return base_arena_copy(mem, p, n < CALL_BYTES ? n : CALL_BYTES);
}

static bool shown(const struct view_own *own)
{
	return own->before && strlen(own->before) <= VIEW_OWN_LINE_MAX && plain(own->before) &&
	       plain(own->after);
}

struct found {
	struct view_own own; /* of the call that was met last, or of that which is meant */
	const struct view_hotspot *made; /* where the call stands, as the loader told; NULL */
	int calls;
	bool is_it; /* one of them stands there */
};

static bool stands_there(const struct view_hotspot *made, const char *file, uint32_t line)
{
	return made && made->line == line && !strcmp(made->file, file);
}

/*
 * Every line that has the call: which is meant is known of one alone, or where the loader told
 * the line.
 */
static void look(struct search *f, size_t k, const char *change, struct found *to)
{
	struct base_arena *mem = &f->s->mem;
	const char *p = f->text[k];
	uint32_t at = 1;

	for (; p && *p; at++) {
		size_t n = strcspn(p, "\n");

		if (has_call(p, change)) {
			const char *call = some_lines(mem, p);
			const char *changed = view_own_line_changed(mem, call, change);

			bool it = stands_there(to->made, f->file[k], at);

			to->calls++;
			if (changed && (it || !to->made))
				tell(mem, f->file[k], at, call, changed, &to->own);
			to->is_it |= it;
		}
		p += n + (p[n] == '\n');
	}
}

void view_own_lines_add(struct view_summary *s)
{
	struct search f = { .s = s };

	find_files(&f);
	for (size_t k = 0; view_local_files() && k < f.files; k++)
		f.text[k] = read_file(&s->mem, f.file[k], s->start_unix_ns);
	for (size_t i = 0; i < s->advices; i++) {
		struct view_hotspot made;
		struct found found = { 0 };
		struct view_own *keep;

		if (view_change_at(s, &s->advice[i], &made))
			found.made = &made;
		for (size_t k = 0; s->advice[i].change && k < f.files; k++)
			look(&f, k, s->advice[i].change, &found);
		if (!(found.made ? found.is_it : found.calls == 1) || !shown(&found.own))
			continue;
		keep = base_arena_alloc(&s->mem, sizeof(*keep));
		*keep = found.own;
		s->advice[i].own = keep;
	}
}
