/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Saves that are written beside their place and renamed to it: a restart opens them only then, and
 * until then what lies at that place.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/hash.h"
#include "base/minmax.h"
#include "checkpoints.h"

#define RANDOM_CHARS 8 /* of a name by Python's tempfile, behind "tmp" */

/* ---- names ---- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

int live_places_compare(const char *a, const char *b)
{
	while (*a && *b) {
		if (!is_digit(*a) || !is_digit(*b)) {
			if (*a != *b)
				break;
			a++;
			b++;
			continue;
		}
		while (is_digit(*a))
			a++;
		while (is_digit(*b))
			b++;
	}
	return *(const unsigned char *)a - *(const unsigned char *)b;
}

uint64_t live_place_hash(const char *path)
{
	uint64_t h = BASE_HASH;

	while (*path) {
		h = base_hash(h, is_digit(*path) ? "0" : path, 1);
		if (!is_digit(*path++))
			continue;
		while (is_digit(*path))
			path++;
	}
	return h;
}

struct name { /* the last part of a path */
	const char *text;
	size_t len;
};

static struct name name_of(const char *path)
{
	size_t end = strlen(path), at;

	while (end && path[end - 1] == '/')
		end--;
	for (at = end; at && path[at - 1] != '/';)
		at--;
	return (struct name){ path + at, end - at };
}

static bool is_word(const char *text, size_t len, const char *word)
{
	return len == strlen(word) && !strncasecmp(text, word, len);
}

/* tmp, tmp12, between dots, dashes and underscores. */
static bool has_tmp(struct name n)
{
	for (size_t at = 0, end; at < n.len; at = end + 1) {
		size_t len;

		for (end = at; end < n.len && !strchr(".-_", n.text[end]);)
			end++;
		for (len = end - at; len && is_digit(n.text[at + len - 1]);)
			len--;
		if (is_word(n.text + at, len, "tmp"))
			return true;
	}
	return false;
}

static bool has_suffix(struct name n)
{
	static const char *const suffix[] = { "temp",	    "part",    "partial", "incomplete",
					      "inprogress", "writing", "new" };
	size_t at = n.len;

	while (at && n.text[at - 1] != '.')
		at--;
	for (size_t i = 0; at && i < sizeof(suffix) / sizeof(*suffix); i++)
		if (is_word(n.text + at, n.len - at, suffix[i]))
			return true;
	return false;
}

static bool is_tempfile(struct name n)
{
	size_t random = 0;

	if (n.len < 3 + RANDOM_CHARS || strncmp(n.text, "tmp", 3) != 0)
		return false;
	for (const char *c = n.text + 3; random < RANDOM_CHARS; c++, random++)
		if (!islower((unsigned char)*c) && !is_digit(*c) && *c != '_')
			return false;
	return n.len == 3 + RANDOM_CHARS || n.text[3 + RANDOM_CHARS] == '.';
}

bool live_place_temporary(const char *path)
{
	struct name n = name_of(path);

	if (!n.len)
		return false;
	return n.text[0] == '.' || n.text[n.len - 1] == '~' || has_tmp(n) || has_suffix(n) ||
	       is_tempfile(n);
}

/* ---- folders ---- */

/* tmp, tmp2: where people have room, and no name for what is renamed. */
static bool is_scratch(struct name n)
{
	while (n.len && is_digit(n.text[n.len - 1]))
		n.len--;
	return is_word(n.text, n.len, "tmp");
}

/* By Python's tempfile, or mktemp. */
static bool is_made_up(struct name n)
{
	return is_tempfile(n) || (n.len > 4 && !strncmp(n.text, "tmp.", 4));
}

/* @outer: the folder around it; @inmost: the save lies in it itself. */
static bool is_staging(struct name n, struct name outer, bool inmost)
{
	if (!n.len || is_scratch(n) || (is_made_up(n) && is_scratch(outer)))
		return false;
	return n.text[n.len - 1] == '~' || has_tmp(n) || has_suffix(n) || is_tempfile(n) ||
	       (inmost && is_word(n.text, n.len, "staging"));
}

size_t live_place_folder(const char *path)
{
	struct name last = name_of(path), outer = { path, 0 };

	if (strstr(path, "://"))
		return 0;
	for (const char *at = path, *end; at < last.text; at = end) {
		struct name n = { at, strcspn(at, "/") };

		for (end = at + n.len; *end == '/';)
			end++;
		if (is_staging(n, outer, end == last.text))
			return (size_t)(at - path) + n.len;
		outer = n;
	}
	return 0;
}

/* ---- what was renamed ---- */

/* Of a file that a thread wrote, synced and renamed the rename is part of what was seen. */
static bool is_in_place(const struct live_save *s)
{
	return !s->path[0] || (s->saver && !strcmp(s->saver, LIVE_MOVED_SAVER));
}

static int by_place(const void *a, const void *b)
{
	const struct live_save *x = *(struct live_save *const *)a,
			       *y = *(struct live_save *const *)b;
	int differs = strcmp(x->path, y->path);

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return differs ? differs : x < y ? -1 : x > y;
}

/* Nothing lay there any more when the next one began, and nobody saw that it was deleted. */
static void infer(struct live_save **s, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct live_save *was = s[i - 1];

		if (was->process == s[i]->process && !strcmp(was->path, s[i]->path) &&
		    s[i]->vacant && was->file.inode && !was->moved_ns && !was->gone_ns &&
		    was->whole_ns <= s[i]->start_ns) {
			was->moved_ns = base_max(s[i]->start_ns, 1);
			was->left_ns = was->left_ns ? was->left_ns : was->moved_ns;
		}
	}
}

static int by_likeness(const void *a, const void *b)
{
	const struct live_save *x = *(struct live_save *const *)a,
			       *y = *(struct live_save *const *)b;
	int differs = live_places_compare(x->path, y->path);

	return differs ? differs : x < y ? -1 : x > y;
}

/* Of saves at places that are alike. */
static void wait_for_moves(struct live_save **s, size_t n)
{
	bool from = false;

	for (size_t i = 0; i < n; i++) {
		s[i]->waits |= from || live_place_temporary(s[i]->path);
		s[i]->staged =
			s[i]->moved_ns && (i + 1 == n || s[i]->moved_ns <= s[i + 1]->start_ns);
		from |= s[i]->staged;
	}
}

int live_moves_find(struct live_save *save, size_t saves)
{
	struct live_save **list = calloc(saves + 1, sizeof(*list));
	size_t n = 0, end;

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < saves; i++) {
		save[i].within = live_place_folder(save[i].path) != 0;
		if (!is_in_place(&save[i]))
			list[n++] = &save[i];
	}
	qsort(list, n, sizeof(struct live_save *), by_place);
	infer(list, n);
	qsort(list, n, sizeof(struct live_save *), by_likeness);
	for (size_t at = 0; at < n; at = end) {
		for (end = at + 1; end < n && !live_places_compare(list[end]->path, list[at]->path);
		     end++)
			;
		wait_for_moves(list + at, end - at);
	}
	free(list);
	return 0;
}

bool live_save_unmoved(const struct live_save *s)
{
	bool waits = (s->waits && !s->moved_ns) || (s->within && !s->left_ns);

	return s->unmoved || (waits && s->whole_ns != LIVE_NEVER);
}

int64_t live_save_there(const struct live_save *s)
{
	int64_t t = s->whole_ns;

	if (s->waits && t != LIVE_NEVER)
		t = base_max(t, s->moved_ns);
	if (s->within && t != LIVE_NEVER)
		t = base_max(t, s->left_ns);
	return t;
}
