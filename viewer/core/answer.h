/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What somebody who was asked sends, as it comes: kept in memory up to a limit in size, or from a
 * size on in a temporary file (base_temp_file). Of one thread at a time.
 */
#ifndef VIEW_ANSWER_H
#define VIEW_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

struct view_answer { /* zero-initialise but for most and in_memory */
	char *text; /* with a NUL behind it, to be written to as one likes; NULL: nothing came */
	size_t len; /* 0 again before another answer, of which none is filed */
	size_t room; /* that text has */
	size_t most; /* bytes that are taken */
	size_t in_memory; /* beyond so many it goes to a file; 0: it does not */
	bool filed; /* it did; text is there after view_answer_end */
	int fd;
};

/* 0; -EFBIG: more than is taken; -ENOMEM; what a file can say: -ENOSPC, -EACCES, ... */
int view_answer_add(struct view_answer *a, const char *bytes, size_t len);

/* All of it has come. 0 or negative errno. */
int view_answer_end(struct view_answer *a);

void view_answer_free(struct view_answer *a); /* what it holds; it is empty then */

#endif
