/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules out of text.
 */
#include "keep_rules.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include "core/quantity.h"

static bool span_of(const char *text, int64_t *ns)
{
	if (!strcmp(text, "forever")) {
		*ns = COLL_KEEP_FOREVER;
		return true;
	}
	return coll_span_of(text, ns);
}

int coll_keep_rules_for_all(struct coll_keep_rules *r, const char *text)
{
	return span_of(text, &r->keep_ns) ? 0 : -EINVAL;
}

static bool copy_part(char *out, size_t room, const char *from, const char *to)
{
	size_t len = (size_t)(to - from);

	if (len >= room)
		return false;
	memcpy(out, from, len);
	out[len] = '\0';
	return true;
}

static struct coll_keep_rule *same_label(struct coll_keep_rules *r,
					 const struct coll_keep_rule *other)
{
	for (unsigned int i = 0; i < r->count; i++)
		if (!strcmp(r->rule[i].key, other->key) && !strcmp(r->rule[i].value, other->value))
			return &r->rule[i];
	return NULL;
}

/* A value may have colons, a span has none. */
int coll_keep_rules_add(struct coll_keep_rules *r, const char *text)
{
	const char *equals = strchr(text, '='), *colon = strrchr(text, ':');
	struct coll_keep_rule rule, *old;

	if (!equals || equals == text || !colon || colon < equals ||
	    !copy_part(rule.key, sizeof(rule.key), text, equals) ||
	    !copy_part(rule.value, sizeof(rule.value), equals + 1, colon) ||
	    !span_of(colon + 1, &rule.keep_ns))
		return -EINVAL;
	old = same_label(r, &rule);
	if (!old && r->count == COLL_KEEP_RULES_MAX)
		return -EINVAL;
	*(old ? old : &r->rule[r->count++]) = rule;
	return 0;
}
