/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel_kind.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include "kernel.h"
#include "kernel_name.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

struct rule {
	const char *part, *more;
	enum facts_kind kind;
};

static const struct rule named[] = {
#define NAMED(part, more, kind) { part, more, FACTS_KIND_##kind },
#include "kinds.def"
};

static const struct rule applied[] = {
#define APPLIED(part, more, kind) { part, more, FACTS_KIND_##kind },
#include "kinds.def"
};

static const struct rule within[] = {
#define WITHIN(part, more, kind) { part, more, FACTS_KIND_##kind },
#include "kinds.def"
};

const struct facts_kind_row facts_kinds[FACTS_KINDS] = {
#define KIND(symbol, name, words) { name, words },
#include "kinds.def"
};

const struct facts_kind_row facts_precisions[FACTS_PRECISIONS] = {
#define PRECISION(symbol, name, words) { name, words },
#include "kinds.def"
};

/* A text in small letters, as rules look at it. */
struct text {
	char words[2 * FACTS_NAME_OF]; /* "_cuda_functor_add_" */
	char joined[FACTS_NAME_OF]; /* "cudafunctoradd" */
};

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_gap(char c)
{
	return c == ' ' || c == '_';
}

/* A word begins at @p, which is no gap: aB, 1B, and the last capital of ABc. */
static bool begins_word(const char *first, const char *p)
{
	if (p == first || is_gap(p[-1]))
		return true;
	return is_upper(*p) && (!is_upper(p[-1]) || is_lower(p[1]));
}

static void read_text(struct text *t, const char *from)
{
	size_t words = 0, joined = 0;

	for (const char *p = from; *p; p++) {
		if (is_gap(*p))
			continue;
		if (begins_word(from, p))
			t->words[words++] = '_';
		t->words[words++] = t->joined[joined++] = (char)(is_upper(*p) ? *p | 0x20 : *p);
	}
	t->words[words++] = '_';
	t->words[words] = t->joined[joined] = 0;
}

static bool has(const struct text *t, const char *part)
{
	return strstr(strchr(part, '_') ? t->words : t->joined, part);
}

/* The first rule whose part stands in @in, and what more it has in @of. */
static enum facts_kind first_that_fits(const struct rule *rule, size_t n, const struct text *in,
				       const struct text *of)
{
	for (size_t i = 0; i < n; i++)
		if (has(in, rule[i].part) && has(of, rule[i].more))
			return rule[i].kind;
	return FACTS_KIND_UNKNOWN;
}

static enum facts_kind kind_of(const struct facts_kernel_words *w, const char *name)
{
	enum facts_kind kind;
	struct text own, of;

	if (facts_kernel_input(name))
		return FACTS_KIND_DECODE;
	read_text(&own, w->own);
	read_text(&of, w->of);
	kind = first_that_fits(applied, COUNT(applied), &own, &of);
	if (kind == FACTS_KIND_UNKNOWN)
		kind = first_that_fits(named, COUNT(named), &own, &own);
	return kind != FACTS_KIND_UNKNOWN ? kind : first_that_fits(within, COUNT(within), &of, &of);
}

static const char *const backward[] = { "backward", "_bwd", "bwd_", "wgrad" };
static const char *const generating[] = { "kvcache",	  "reshapeandcache", "pagedattention",
					  "_paged_attn_", "batchdecode",     "_mla_decode_" };

static bool has_any(const struct facts_kernel_words *w, const char *const *part, size_t n)
{
	struct text own, of;

	read_text(&own, w->own);
	read_text(&of, w->of);
	for (size_t i = 0; i < n; i++)
		if (has(&own, part[i]) || has(&of, part[i]))
			return true;
	return false;
}

struct facts_kernel_kind facts_kernel_kind(const char *name)
{
	struct facts_kernel_words w;
	enum facts_kind kind;

	facts_kernel_name_read(&w, name);
	kind = kind_of(&w, name);
	return (struct facts_kernel_kind){ .kind = kind,
					   .precision = facts_kernel_precision(&w, kind),
					   .backward = has_any(&w, backward, COUNT(backward)),
					   .generates =
						   has_any(&w, generating, COUNT(generating)) };
}
