/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lengths_name.c - what a kernel's mangled name says of its elements.
 */
#include <string.h>

#include "lengths.h"

/* ---- the name as a row of identifiers, numbers and types ---- */

enum kind {
	NAME_END,
	NAME_IDENTIFIER,
	NAME_NUMBER,
	NAME_TYPE
};

struct token {
	enum kind kind;
	const char *text; /* of an identifier */
	size_t length;
	unsigned value; /* of a number; bytes of a type */
};

struct reader {
	const char *at, *end;
	bool mangled;
};

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static unsigned decimal(struct reader *r)
{
	unsigned value = 0;

	while (digit(*r->at) && value < 100000)
		value = value * 10 + (unsigned)(*r->at++ - '0');
	return value;
}

/* Bytes of a builtin type's letter; 0: none, or void. */
static unsigned builtin(char c)
{
	switch (c) {
	case 'a':
	case 'b':
	case 'c':
	case 'h':
		return 1;
	case 's':
	case 't':
		return 2;
	case 'f':
	case 'i':
	case 'j':
		return 4;
	case 'd':
	case 'l':
	case 'm':
	case 'x':
	case 'y':
		return 8;
	default:
		return 0;
	}
}

/* S_, S0_, T_, T1_: something that stood before, or a parameter. */
static void skip_reference(struct reader *r)
{
	while (digit(*r->at) || (*r->at >= 'A' && *r->at <= 'Z'))
		r->at++;
	if (*r->at == '_')
		r->at++;
}

/* Behind a lambda's E stands its number, as in E0_; an identifier may stand there too. */
static void skip_discriminator(struct reader *r)
{
	const char *p = r->at;

	while (digit(*p))
		p++;
	if (p > r->at && *p == '_' && strncmp(p, "_GLOBAL", 7))
		r->at = p + 1;
}

/* What carries no fact: one step on. */
static void skip(struct reader *r)
{
	char c = *r->at++;

	if (c == 'S' && lower(*r->at))
		r->at++; /* St, Sa: of std */
	else if (c == 'S' || c == 'T')
		skip_reference(r);
	else if (c == 'U' && *r->at == 'l')
		r->at++; /* a lambda; its parameters follow */
	else if (c == 'E')
		skip_discriminator(r);
}

static void identifier(struct reader *r, struct token *t)
{
	size_t length = decimal(r), left = (size_t)(r->end - r->at);

	t->kind = NAME_IDENTIFIER;
	t->text = r->at;
	t->length = length < left ? length : left;
	r->at += t->length;
}

/* Li8E, Lb0E, Lin1E; no other L. */
static bool literal(struct reader *r, struct token *t)
{
	const char *p = r->at;

	if (p[0] != 'L' || !builtin(p[1]) || !(digit(p[2]) || (p[2] == 'n' && digit(p[3]))))
		return false;
	r->at = p + (p[2] == 'n' ? 3 : 2);
	t->kind = NAME_NUMBER;
	t->value = decimal(r);
	return true;
}

static void next(struct reader *r, struct token *t)
{
	*t = (struct token){ .kind = NAME_END };
	if (!r->mangled) {
		*t = (struct token){ NAME_IDENTIFIER, r->at, (size_t)(r->end - r->at), 0 };
		r->at = r->end;
		r->mangled = true;
		return;
	}
	while (*r->at) {
		if (digit(*r->at)) {
			identifier(r, t);
			return;
		}
		if (literal(r, t))
			return;
		if (!strncmp(r->at, "clE", 3)) { /* operator() */
			r->at += 3;
			continue;
		}
		t->value = builtin(*r->at);
		if (t->value) {
			t->kind = NAME_TYPE;
			t->text = r->at++;
			return;
		}
		skip(r);
	}
}

static struct reader reader(const char *name)
{
	bool mangled = !strncmp(name, "_Z", 2);

	return (struct reader){ name + (mangled ? 2 : 0), name + strlen(name), mangled };
}

/* ---- what the row says ---- */

static bool is(const struct token *t, const char *word)
{
	return t->length == strlen(word) && !memcmp(t->text, word, t->length);
}

static bool ends(const struct token *t, const char *word)
{
	size_t n = strlen(word);

	return t->length >= n && !memcmp(t->text + t->length - n, word, n);
}

static bool begins(const struct token *t, const char *word)
{
	size_t n = strlen(word);

	return t->length >= n && !memcmp(t->text, word, n);
}

/* Bytes of a type that has a name, or 0. */
static unsigned named_type(const struct token *t)
{
	static const char *const halves[] = { "BFloat16", "Half",   "bfloat16_t",
					      "half_t",	  "__half", "__nv_bfloat16" };
	size_t i;

	for (i = 0; i < sizeof halves / sizeof *halves; i++)
		if (is(t, halves[i]))
			return 2;
	return begins(t, "Float8_") ? 1 : 0;
}

static bool two_operands(const struct token *t)
{
	return begins(t, "BinaryFunctor") || begins(t, "CUDAFunctor_add") ||
	       begins(t, "CompareFunctor");
}

/* What the next number, or the next type, belongs to. */
enum owner {
	OF_NOBODY,
	OF_ARRAY,
	OF_ITEMS,
	OF_LISTS,
	OF_OPAQUE
};

struct state {
	struct sim_reading *out;
	enum owner owner;
	unsigned numbers, size;
	bool boolean, complex, closed; /* closed: no type behind here is the elements' */
};

static void take_size(struct state *s, unsigned size)
{
	if (!s->size && !s->closed)
		s->size = s->complex ? 2 * size : size;
}

static void take_number(struct state *s, unsigned value)
{
	enum owner owner = s->owner;

	s->owner = OF_NOBODY;
	if (owner == OF_OPAQUE)
		take_size(s, value);
	else if (owner == OF_LISTS)
		s->out->lists = value;
	else if (owner == OF_ITEMS)
		s->out->items = value;
	else if (owner == OF_ARRAY) {
		s->out->arrays = value;
		s->owner = OF_ITEMS;
	} else if (s->numbers < SIM_NUMBERS)
		s->out->number[s->numbers++] = value;
}

static void take_identifier(struct state *s, const struct token *t)
{
	s->owner = OF_NOBODY;
	s->complex = s->complex || is(t, "complex");
	s->out->two = s->out->two || two_operands(t);
	if (is(t, "array")) {
		s->owner = OF_ARRAY;
		s->closed = true;
	} else if (ends(t, "TensorListMetadata"))
		s->owner = OF_LISTS;
	else if (is(t, "OpaqueType"))
		s->owner = OF_OPAQUE;
	else if (named_type(t))
		take_size(s, named_type(t));
}

static void take(struct state *s, const struct token *t)
{
	if (t->kind == NAME_NUMBER)
		take_number(s, t->value);
	else if (t->kind == NAME_IDENTIFIER)
		take_identifier(s, t);
	else if (*t->text == 'b' && t->text[-1] != 'I')
		s->boolean = s->boolean || !s->closed; /* a lambda's condition, or all it has */
	else
		take_size(s, t->value);
}

const void *sim_name_read(const char *name, sim_name_match *match, struct sim_reading *out)
{
	struct state s = { .out = out };
	struct reader r = reader(name);
	const void *found = NULL;
	struct token t;

	*out = (struct sim_reading){ .size = 4 };
	while (!found) {
		next(&r, &t);
		if (t.kind == NAME_END)
			return NULL;
		if (t.kind == NAME_IDENTIFIER)
			found = match(t.text, t.length);
	}
	for (next(&r, &t); t.kind != NAME_END; next(&r, &t))
		take(&s, &t);
	if (s.size)
		out->size = s.size;
	else if (s.boolean)
		out->size = 1;
	return found;
}
