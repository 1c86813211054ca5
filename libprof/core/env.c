/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks names up in environ, and puts another array in its place. Nothing of either is ever freed;
 * all that is allocated is named by a static, for checkers of leaks.
 */
#include "env.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHANGES_MAX 8

static struct {
	const char *name; /* NULL: in the line alone */
	char *line; /* NULL: taken away */
} change[CHANGES_MAX];
static size_t changes;
static bool published;
static char **made;

/* Does the line NAME=VALUE set this name? */
static bool sets(const char *line, const char *name, size_t length)
{
	return !strncmp(line, name, length) && line[length] == '=';
}

static const char *kept(const char *name, size_t length)
{
	for (size_t i = 0; i < changes && !published; i++)
		if (change[i].line && sets(change[i].line, name, length))
			return change[i].line + length + 1;
	return NULL;
}

const char *prof_env(const char *name)
{
	size_t length = strlen(name);
	const char *ours;
	char **at;

	for (at = environ; at && *at; at++)
		if (sets(*at, name, length))
			break;
	if (at && *at && (*at)[length + 1])
		return *at + length + 1;
	ours = kept(name, length);
	return ours || !at || !*at ? ours : *at + length + 1;
}

const char *prof_env_text(const char *name)
{
	const char *value = prof_env(name);

	return value && *value ? value : NULL;
}

bool prof_env_off(const char *value)
{
	return value && (!strcmp(value, "0") || !strcmp(value, "off") || !strcmp(value, "no"));
}

static void add(const char *name, char *line)
{
	if (changes < CHANGES_MAX) {
		change[changes].name = name;
		change[changes++].line = line;
	}
}

void prof_env_set(const char *name, const char *value)
{
	size_t room = strlen(name) + 1 + (value ? strlen(value) : 0) + 1;
	char *line = value && changes < CHANGES_MAX ? malloc(room) : NULL;

	if (line)
		snprintf(line, room, "%s=%s", name, value);
	if (line || !value)
		add(name, line);
}

void prof_env_put(char *line)
{
	add(NULL, line);
}

static bool is_changed(size_t i, const char *line)
{
	const char *name = change[i].name ? change[i].name : change[i].line;

	return sets(line, name, strcspn(name, "="));
}

/* The change that is made of @line; `changes`: none. */
static size_t change_of(const char *line)
{
	size_t i;

	for (i = 0; i < changes && !is_changed(i, line); i++)
		;
	return i;
}

/*
 * The program's lines with what takes the place of some: of lines of one name the first gives way,
 * the others go. @done: changes that have their place. @own: how many of the result end with the
 * program's last line.
 */
static size_t replace(char **to, char **from, size_t n, bool *done, size_t *own)
{
	size_t used = 0, i, which;

	*own = 0;
	for (i = 0; i < n; i++) {
		which = change_of(from[i]);
		if (which == changes) {
			to[used++] = from[i];
			*own = used;
			continue;
		}
		if (!done[which] && change[which].line)
			to[used++] = change[which].line;
		done[which] = true;
	}
	return used;
}

/* What took no line's place comes behind them. */
static size_t append_new(char **to, size_t used, const bool *done)
{
	size_t i;

	for (i = 0; i < changes; i++)
		if (!done[i] && change[i].line && change_of(change[i].line) == i)
			to[used++] = change[i].line;
	return used;
}

/*
 * The program's last line stays the last. Some programs write their title over the lines that the
 * kernel gave them, and take that one for the end of their room.
 */
static void put_last(char **to, size_t used, size_t own)
{
	char *last;

	if (!own)
		return;
	last = to[own - 1];
	memmove(to + own - 1, to + own, (used - own) * sizeof(*to));
	to[used - 1] = last;
}

void prof_env_publish(void)
{
	char **old = __environ, **new;
	bool done[CHANGES_MAX] = { false };
	size_t n = 0, used, own;

	while (old && old[n])
		n++;
	new = changes && !published ? malloc((n + changes + 1) * sizeof(*new)) : NULL;
	if (!new)
		return;
	used = replace(new, old, n, done, &own);
	used = append_new(new, used, done);
	put_last(new, used, own);
	new[used] = NULL;
	made = new;
	published = true;
	__atomic_store_n(&__environ, made, __ATOMIC_RELEASE);
}
