/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words that join a thread which waits to whoever it waits for: struct wire_sample's links. One
 * word is a mark and an id; wire/evidence.h has the marks and what ids there are. Pure; any thread.
 */
#ifndef PROF_LINKTEXT_H
#define PROF_LINKTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROF_LINK_ID 104u /* bytes; a pair of IPv6 addresses is the longest */
#define PROF_LINKS_TEXT 512u
#define PROF_LINKS_WORDS 8u

enum prof_link_mark {
	PROF_LINK_AWAITS = '?',
	PROF_LINK_GIVES = '!',
	PROF_LINK_HOLDS = '~',
	PROF_LINK_SENDS = '>', /* it is blocked giving just now */
	PROF_LINK_NAMED = '=', /* no id behind it: the thread's name */
};

/*
 * Appends a word. What is no id, is there already whatever its mark, or finds no room is left out:
 * false.
 */
bool prof_link_add(char text[PROF_LINKS_TEXT], enum prof_link_mark mark, const char *id);

size_t prof_link_words(const char *text);

/* The next word at *p, which is set behind it. Its mark; 0: there is none. */
char prof_link_next(const char **p, char id[PROF_LINK_ID]);

/* The mark under which the text has this id; 0: it does not. */
char prof_link_mark_of(const char *text, const char *id);

void prof_link_object(char id[PROF_LINK_ID], uint64_t address);
void prof_link_queue(char id[PROF_LINK_ID], uint64_t address);

/* The address of an object's id; 0: it is none. */
uint64_t prof_link_address(const char *id);

void prof_link_pipe(char id[PROF_LINK_ID], uint64_t inode);

/* The same for both ends. */
void prof_link_pair(char id[PROF_LINK_ID], uint64_t one, uint64_t other);
void prof_link_tcp(char id[PROF_LINK_ID], const char *one, const char *other);

/* An address or a path; what a word cannot hold becomes '_'. */
void prof_link_listens(char id[PROF_LINK_ID], const char *address);

/* The same of an address at which a connection was accepted. */
void prof_link_accepted(char id[PROF_LINK_ID], const char *address);

/* The same of the far end of a connection that brings data. */
void prof_link_data(char id[PROF_LINK_ID], const char *address);

void prof_link_native(char id[PROF_LINK_ID], uint64_t address);

/*
 * A name as a word can hold it: spaces, '%' and what is no text as '%' and two digits of base 16.
 */
void prof_link_name(char id[PROF_LINK_ID], const char *name);

void prof_link_shared(char id[PROF_LINK_ID], uint32_t major, uint32_t minor, uint64_t inode,
		      uint64_t offset);

/* Memory that processes share by a file. */
void prof_link_memory(char id[PROF_LINK_ID], uint64_t device, uint64_t inode);

#endif
