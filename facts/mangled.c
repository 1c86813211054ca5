/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Itanium C++ ABI, chapter 5.1.4, as far as identifiers and types go: what is open is a stack of
 * letters, each ended by an E. Substitutions stand for what was spelt out before, and are passed
 * over.
 */
#include "mangled.h"

#include <stdbool.h>
#include <string.h>

#define OPEN_MAX 128

enum { /* what has no letter of its own in the ABI */
	LAMBDA = 'U',
	LITERAL = 'M', /* the name of a literal's type, its value comes behind */
};

struct reader {
	struct facts_kernel_words *w;
	const char *p;
	char open[OPEN_MAX];
	size_t opened;
	size_t outside; /* of these, those that are no part of the function's own name */
	bool named; /* the function's own name is over */
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static char top(const struct reader *r)
{
	return r->opened ? r->open[r->opened - 1] : 0;
}

static void stop(struct reader *r)
{
	r->p += strlen(r->p);
}

static void skip(struct reader *r, size_t n)
{
	while (n-- && *r->p)
		r->p++;
}

/* Behind the next @c. */
static void skip_past(struct reader *r, char c)
{
	const char *end = strchr(r->p, c);

	if (end)
		r->p = end + 1;
	else
		stop(r);
}

static void push(struct reader *r, char c)
{
	if (r->opened == OPEN_MAX) {
		stop(r);
		return;
	}
	r->open[r->opened++] = c;
	r->outside += c != 'N';
}

static void emit(struct reader *r, const char *at, size_t len)
{
	if (top(r) == 'X')
		return; /* an expression */
	if (r->named || r->outside)
		facts_kernel_words_of(r->w, at, len);
	else
		facts_kernel_words_own(r->w, at, len);
}

static void emit_word(struct reader *r, const char *word)
{
	emit(r, word, strlen(word));
}

static void identifier(struct reader *r)
{
	size_t n = 0, left;

	while (is_digit(*r->p) && n < FACTS_NAME_OF * 8)
		n = n * 10 + (size_t)(*r->p++ - '0');
	left = strnlen(r->p, n);
	emit(r, r->p, left);
	r->p += left;
	if (!r->opened && *r->p != 'I')
		r->named = true;
}

static void builtin(struct reader *r, char c)
{
	static const char *const word['z' - 'a' + 1] = {
		['a' - 'a'] = "int8_t", ['h' - 'a'] = "uint8_t", ['f' - 'a'] = "float",
		['d' - 'a'] = "double", ['e' - 'a'] = "double",
	};

	if (word[c - 'a'])
		emit_word(r, word[c - 'a']);
}

static void lower(struct reader *r)
{
	if (top(r) == 'N' || (!r->opened && !r->named)) {
		skip(r, 2); /* an operator's name */
		return;
	}
	builtin(r, *r->p);
	skip(r, 1);
}

/* A type that is D and something: _Float16, half, decltype, a pack. */
static void extended(struct reader *r)
{
	char c = r->p[1];

	if (c == 'F') {
		skip(r, 2);
		while (is_digit(*r->p))
			skip(r, 1);
		emit_word(r, *r->p == 'b' ? "bfloat16" : "half");
		skip(r, 1);
		return;
	}
	if (c == 'h')
		emit_word(r, "half");
	skip(r, 2);
	if (c == 't' || c == 'T')
		push(r, 'X');
}

static void substitution(struct reader *r)
{
	char c = r->p[1];

	if (is_lower(c)) { /* St: std; the others are classes of it */
		skip(r, 2);
		return;
	}
	skip_past(r, '_');
}

static void literal(struct reader *r)
{
	char in = top(r);

	skip(r, 1);
	if (in == 'N' || in == 'Z' || !in)
		return; /* of internal linkage: a name comes */
	if (*r->p == '_') {
		skip(r, 2);
		push(r, 'L');
	} else if (*r->p == 'N') {
		skip(r, 1);
		push(r, LITERAL);
	} else {
		if (is_digit(*r->p))
			identifier(r);
		skip_past(r, 'E');
	}
}

static void unnamed(struct reader *r)
{
	if (r->p[1] == 'l') {
		skip(r, 2);
		push(r, LAMBDA);
	} else if (r->p[1] == 't') {
		skip_past(r, '_');
	} else {
		skip(r, 1);
	}
}

static void end(struct reader *r)
{
	char c = top(r);

	skip(r, 1);
	if (!r->opened) {
		stop(r);
		return;
	}
	r->opened--;
	r->outside -= c != 'N';
	if (c == LAMBDA)
		skip_past(r, '_');
	else if (c == LITERAL)
		skip_past(r, 'E');
	if (!r->opened)
		r->named = true;
}

static void step(struct reader *r)
{
	char c = *r->p;

	if (is_digit(c))
		identifier(r);
	else if (is_lower(c))
		lower(r);
	else if (c == 'E')
		end(r);
	else if (c == 'S')
		substitution(r);
	else if (c == 'T')
		skip_past(r, '_');
	else if (c == 'L')
		literal(r);
	else if (c == 'U')
		unnamed(r);
	else if (c == 'D')
		extended(r);
	else if (c == 'A') /* an array, of so many */
		skip_past(r, '_');
	else if (c == 'C' && top(r) == 'N')
		skip(r, 2); /* a constructor */
	else {
		skip(r, 1);
		if (strchr("NIJXFZ", c))
			push(r, c);
	}
}

void facts_mangled_read(struct facts_kernel_words *w, const char *name)
{
	struct reader r = { .w = w, .p = name + 2 };

	while (*r.p)
		step(&r);
}
