/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The identifiers of a kernel's name, as kernel_name.h and mangled.h find them. Pure.
 */
#ifndef FACTS_KERNEL_WORDS_H
#define FACTS_KERNEL_WORDS_H

#include <stddef.h>

#define FACTS_NAME_OWN 512
#define FACTS_NAME_OF 1024

/*
 * Identifiers as they stand there, a blank before and behind each; what does not fit is left out.
 * Anonymous namespaces are none.
 */
struct facts_kernel_words {
	char own[FACTS_NAME_OWN]; /* of the function: " at native reduce_kernel " */
	char of[FACTS_NAME_OF]; /* of what it is a template of, and its parameters */
	size_t own_len, of_len;
};

void facts_kernel_words_begin(struct facts_kernel_words *w);
/* What was taken for the function's name was none. */
void facts_kernel_words_begin_own(struct facts_kernel_words *w);

/* One more identifier of @len bytes. */
void facts_kernel_words_own(struct facts_kernel_words *w, const char *at, size_t len);
void facts_kernel_words_of(struct facts_kernel_words *w, const char *at, size_t len);

#endif
