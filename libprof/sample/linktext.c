/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words and ids.
 */
#include "linktext.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t prof_link_words(const char *text)
{
	size_t n = *text != 0;

	for (; *text; text++)
		n += *text == ' ';
	return n;
}

bool prof_link_add(char text[PROF_LINKS_TEXT], enum prof_link_mark mark, const char *id)
{
	size_t len = strlen(text), more = strlen(id) + 1 + (len != 0);

	if (!*id || strlen(id) >= PROF_LINK_ID || len + more >= PROF_LINKS_TEXT ||
	    prof_link_words(text) >= PROF_LINKS_WORDS || prof_link_mark_of(text, id))
		return false;
	snprintf(text + len, PROF_LINKS_TEXT - len, "%s%c%s", len ? " " : "", mark, id);
	return true;
}

/* A word that is too long to be one of ours is passed over. */
char prof_link_next(const char **p, char id[PROF_LINK_ID])
{
	size_t len;
	char mark;

	for (;;) {
		while (**p == ' ')
			++*p;
		mark = **p;
		if (!mark)
			return 0;
		len = strcspn(++*p, " ");
		if (len && len < PROF_LINK_ID) {
			memcpy(id, *p, len);
			id[len] = 0;
			*p += len;
			return mark;
		}
		*p += len;
	}
}

char prof_link_mark_of(const char *text, const char *id)
{
	char there[PROF_LINK_ID], mark;

	while ((mark = prof_link_next(&text, there)))
		if (!strcmp(there, id))
			return mark;
	return 0;
}

void prof_link_object(char id[PROF_LINK_ID], uint64_t address)
{
	snprintf(id, PROF_LINK_ID, "o%" PRIx64, address);
}

void prof_link_queue(char id[PROF_LINK_ID], uint64_t address)
{
	snprintf(id, PROF_LINK_ID, "q%" PRIx64, address);
}

uint64_t prof_link_address(const char *id)
{
	return *id == 'o' || *id == 'q' ? strtoull(id + 1, NULL, 16) : 0;
}

void prof_link_native(char id[PROF_LINK_ID], uint64_t address)
{
	snprintf(id, PROF_LINK_ID, "n%" PRIx64, address);
}

void prof_link_name(char id[PROF_LINK_ID], const char *name)
{
	size_t n = 0;

	for (; *name && n + 4 < PROF_LINK_ID; name++) {
		unsigned char c = (unsigned char)*name;

		if (c > ' ' && c != '%' && c != 127)
			id[n++] = (char)c;
		else
			n += (size_t)snprintf(id + n, 4, "%%%02x", c);
	}
	id[n] = 0;
}

void prof_link_pipe(char id[PROF_LINK_ID], uint64_t inode)
{
	snprintf(id, PROF_LINK_ID, "p%" PRIu64, inode);
}

void prof_link_pair(char id[PROF_LINK_ID], uint64_t one, uint64_t other)
{
	snprintf(id, PROF_LINK_ID, "u%" PRIu64 "-%" PRIu64, one < other ? one : other,
		 one < other ? other : one);
}

void prof_link_tcp(char id[PROF_LINK_ID], const char *one, const char *other)
{
	bool first = strcmp(one, other) < 0;

	snprintf(id, PROF_LINK_ID, "t%.50s-%.50s", first ? one : other, first ? other : one);
}

static void name_address(char id[PROF_LINK_ID], char kind, const char *address)
{
	size_t i;

	snprintf(id, PROF_LINK_ID, "%c%s", kind, address);
	for (i = 0; id[i]; i++)
		if ((unsigned char)id[i] <= ' ' || id[i] == 127)
			id[i] = '_';
}

void prof_link_listens(char id[PROF_LINK_ID], const char *address)
{
	name_address(id, 'l', address);
}

void prof_link_accepted(char id[PROF_LINK_ID], const char *address)
{
	name_address(id, 'a', address);
}

void prof_link_data(char id[PROF_LINK_ID], const char *address)
{
	name_address(id, 'd', address);
}

void prof_link_shared(char id[PROF_LINK_ID], uint32_t major, uint32_t minor, uint64_t inode,
		      uint64_t offset)
{
	snprintf(id, PROF_LINK_ID, "f%x.%x:%" PRIu64 ":%" PRIx64, major, minor, inode, offset);
}

void prof_link_memory(char id[PROF_LINK_ID], uint64_t device, uint64_t inode)
{
	snprintf(id, PROF_LINK_ID, "m%" PRIx64 ":%" PRIu64, device, inode);
}
