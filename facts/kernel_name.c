/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel_name.h"

#include <stdbool.h>
#include <string.h>
#include "mangled.h"

struct scan {
	struct facts_kernel_words *w;
	const char *p;
	unsigned int depth; /* of brackets */
	bool named; /* the parameters have come */
	bool parted; /* a blank lies behind the last identifier: another one begins anew */
};

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static void skip_operator(struct scan *s)
{
	if (!strncmp(s->p, "()", 2)) {
		s->p += 2;
		return;
	}
	for (int i = 0; i < 3 && *s->p && strchr("<>=+-*/%&|^!~,", *s->p); i++)
		s->p++;
}

static void identifier(struct scan *s)
{
	const char *at = s->p;
	size_t len;

	while (is_word(*s->p))
		s->p++;
	len = (size_t)(s->p - at);
	if (s->depth || s->named) {
		facts_kernel_words_of(s->w, at, len);
	} else {
		if (s->parted)
			facts_kernel_words_begin_own(s->w); /* it was a type */
		facts_kernel_words_own(s->w, at, len);
	}
	s->parted = false;
	if (len == 8 && !memcmp(at, "operator", 8))
		skip_operator(s);
}

static bool skip_unnamed(struct scan *s)
{
	static const char *const none[] = { "(anonymous namespace)", "<unnamed>", "{anonymous}" };

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		if (strncmp(s->p, none[i], strlen(none[i])))
			continue;
		s->p += strlen(none[i]);
		return true;
	}
	return false;
}

static void mark(struct scan *s)
{
	char c = *s->p++;

	if (c == '(' && !s->depth && s->w->own_len)
		s->named = true;
	if (strchr("<([{", c))
		s->depth++;
	else if (strchr(">)]}", c) && s->depth)
		s->depth--;
	else if (c == ' ' && !s->depth)
		s->parted = true;
	else if (c == ':')
		s->parted = false;
}

void facts_kernel_name_read(struct facts_kernel_words *w, const char *name)
{
	struct scan s = { .w = w, .p = name };

	facts_kernel_words_begin(w);
	if (!strncmp(name, "_Z", 2)) {
		facts_mangled_read(w, name);
		return;
	}
	while (*s.p) {
		if (is_word(*s.p))
			identifier(&s);
		else if (!skip_unnamed(&s))
			mark(&s);
	}
}
