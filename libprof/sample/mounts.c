/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /proc/PID/mountinfo.
 */
#include "mounts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/procfile.h"

#define TEXT_FIRST ((size_t)16 << 10)
#define TEXT_LAST ((size_t)4 << 20)

/* Space, tab, newline and backslash are written as \ooo. */
static void unescape(char *s)
{
	char *to = s;

	while (*s) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
		    s[3] >= '0' && s[3] <= '7') {
			*to++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 4;
		} else {
			*to++ = *s++;
		}
	}
	*to = 0;
}

/* Cuts the next word off; NULL at the end of the line. */
static char *word(char **p)
{
	char *s = *p, *end;

	if (!s || !*s)
		return NULL;
	end = strchr(s, ' ');
	*p = end ? end + 1 : NULL;
	if (end)
		*end = 0;
	return s;
}

/*
 * 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
 * Between the options and "-" there may be any number of fields.
 */
static bool parse_line(char *line, struct prof_mount *m)
{
	char *id = word(&line), *root, *point, *w;
	const char *number = id;
	uint64_t value;

	if (!id || !prof_proc_number(&number, &value) || !word(&line) || !word(&line))
		return false;
	root = word(&line);
	point = word(&line);
	if (!root || !point || !word(&line))
		return false;
	while ((w = word(&line)) && strcmp(w, "-"))
		;
	m->id = (int)value;
	m->root = root;
	m->point = point;
	m->type = word(&line);
	if (!m->type || !word(&line))
		return false;
	w = word(&line);
	m->options = w ? w : "";
	unescape(root);
	unescape(point);
	return true;
}

size_t prof_mounts_parse(char *text, struct prof_mount *list, size_t room)
{
	char *line = text, *end;
	size_t n = 0;

	for (; line && *line && n < room; line = end) {
		end = strchr(line, '\n');
		if (end)
			*end++ = 0;
		n += parse_line(line, &list[n]);
	}
	return n;
}

static size_t count_lines(const char *text)
{
	size_t n = 1;

	while ((text = strchr(text, '\n'))) {
		text++;
		n++;
	}
	return n < PROF_MOUNTS_MAX ? n : PROF_MOUNTS_MAX;
}

/* The whole file, in memory of its own. */
static int read_all(const char *path, char **out)
{
	size_t room = TEXT_FIRST;
	char *text = NULL, *more;
	ssize_t len;

	do {
		more = realloc(text, room);
		if (!more) {
			free(text);
			return -ENOMEM;
		}
		text = more;
		len = prof_proc_read(path, text, room);
		room *= 4;
	} while (len > 0 && (size_t)len + 1 == room / 4 && room <= TEXT_LAST);
	if (len < 0) {
		free(text);
		return (int)len;
	}
	*out = text;
	return 0;
}

int prof_mounts_read(struct prof_mounts *m, const char *path)
{
	struct prof_mount *list;
	char *text = NULL;
	size_t room;
	int err = read_all(path, &text);

	if (err)
		return err;
	room = count_lines(text);
	list = calloc(room, sizeof(*list));
	if (!list) {
		free(text);
		return -ENOMEM;
	}
	prof_mounts_free(m);
	m->list = list;
	m->text = text;
	m->count = prof_mounts_parse(text, list, room);
	return 0;
}

void prof_mounts_free(struct prof_mounts *m)
{
	free(m->list);
	free(m->text);
	memset(m, 0, sizeof(*m));
}

const struct prof_mount *prof_mounts_id(struct prof_mounts *m, int id)
{
	size_t i;

	for (i = 0; i < m->count; i++)
		if (m->list[i].id == id)
			return &m->list[i];
	m->stale = true;
	return NULL;
}

static bool lies_on(const char *path, const char *point)
{
	size_t n = strlen(point);

	if (n == 1) /* "/" */
		return true;
	return !strncmp(path, point, n) && (!path[n] || path[n] == '/');
}

/* Of mounts at one place the last one covers the others. */
const struct prof_mount *prof_mounts_path(const struct prof_mounts *m, const char *path)
{
	const struct prof_mount *best = NULL;
	size_t i;

	for (i = 0; i < m->count && *path == '/'; i++)
		if (lies_on(path, m->list[i].point) &&
		    (!best || strlen(m->list[i].point) >= strlen(best->point)))
			best = &m->list[i];
	return best;
}

int prof_fdinfo_mount(const char *text)
{
	const char *p = strstr(text, "mnt_id:");
	uint64_t id;

	if (!p || (p != text && p[-1] != '\n'))
		return -1;
	p += strlen("mnt_id:");
	return prof_proc_number(&p, &id) && id <= INT32_MAX ? (int)id : -1;
}
