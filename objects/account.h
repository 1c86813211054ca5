/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who asks an object store, and where it is: from the environment and the files of Amazon's own
 * tools (objects.h names them). Both are the user's; a file that is damaged gives nothing. Read once,
 * any thread. Private to objects.
 */
#ifndef OBJECTS_ACCOUNT_H
#define OBJECTS_ACCOUNT_H

#include "base/arena.h"

struct objects_account { /* of the caller's arena */
	const char *key_id, *secret; /* never NULL */
	const char *session; /* NULL: none */
	const char *region; /* never NULL: "us-east-1" where nobody says */
	const char *endpoint; /* "https://HOST[:PORT]"; NULL: Amazon's */
	const char *ca_file; /* NULL: the machine's */
};

/* 0; -ENOKEY: nobody says who we are; -EILSEQ: with control characters. @mem keeps it. */
int objects_account_find(struct objects_account *a, struct base_arena *mem);

/*
 * The value of @name in the section "[section]" of an INI file's text; NULL: it has none. The last
 * one counts. Pure.
 */
char *objects_ini_value(struct base_arena *mem, const char *text, const char *section,
			const char *name);

#endif
