/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an object store answers in XML: a page of a list, and an error's name. Read by expat; every
 * byte is hostile, so nothing is believed but what stands where S3's API has it, and entities that a
 * document defines are refused. Pure. Private to objects.
 */
#ifndef OBJECTS_ANSWER_H
#define OBJECTS_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "seen.h"

#define OBJECTS_TOKEN_MAX 4096u

struct objects_page {
	bool more;
	char token[OBJECTS_TOKEN_MAX]; /* where the next page begins, if more */
};

/*
 * Hands the objects of a page of ListObjectsV2 to @found in their order, and its common prefixes in
 * theirs. 0, what @found returned, or -EIO: no such page.
 */
int objects_page_read(struct objects_page *page, const char *text, size_t len,
		      int (*found)(void *arg, const struct objects_seen *s), void *arg);

/* The error's Code and Message as "CODE: MESSAGE", one printable line; "" where there is none. */
void objects_error_read(char *to, size_t room, const char *text, size_t len);

#endif
