/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel_words.h"

#include <stdbool.h>
#include <string.h>

void facts_kernel_words_begin(struct facts_kernel_words *w)
{
	facts_kernel_words_begin_own(w);
	w->of_len = 0;
	w->of[0] = 0;
}

void facts_kernel_words_begin_own(struct facts_kernel_words *w)
{
	w->own_len = 0;
	w->own[0] = 0;
}

static void add(char *to, size_t *len, size_t room, const char *at, size_t n)
{
	if (*len + n + 3 > room)
		return;
	if (!*len)
		to[(*len)++] = ' ';
	memcpy(to + *len, at, n);
	*len += n;
	to[(*len)++] = ' ';
	to[*len] = 0;
}

/* nvcc's and compilers' names for what has none, with a file's name in them. */
static bool is_anonymous(const char *at, size_t len)
{
	static const char *const begin[] = { "_GLOBAL__N", "_INTERNAL_", "_NV_ANON_NAMESPACE" };

	for (size_t i = 0; i < sizeof(begin) / sizeof(begin[0]); i++)
		if (len >= strlen(begin[i]) && !memcmp(at, begin[i], strlen(begin[i])))
			return true;
	return false;
}

void facts_kernel_words_own(struct facts_kernel_words *w, const char *at, size_t len)
{
	if (!is_anonymous(at, len))
		add(w->own, &w->own_len, sizeof(w->own), at, len);
}

void facts_kernel_words_of(struct facts_kernel_words *w, const char *at, size_t len)
{
	if (!is_anonymous(at, len))
		add(w->of, &w->of_len, sizeof(w->of), at, len);
}
