/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Digits and a unit.
 */
#include "quantity.h"

#include <string.h>
#include "clock.h"

/* Digits only, no sign, no blank; what follows them is left at *rest. */
static bool digits(const char *text, uint64_t *value, const char **rest)
{
	*value = 0;
	*rest = text;
	for (; **rest >= '0' && **rest <= '9'; ++*rest)
		if (__builtin_mul_overflow(*value, 10, value) ||
		    __builtin_add_overflow(*value, (uint64_t)(**rest - '0'), value))
			return false;
	return *rest != text;
}

/* "", or one letter of @letters, whose value is then *factor. */
static bool unit(const char *rest, const char *letters, const uint64_t *factors, uint64_t *factor)
{
	const char *at;

	if (!*rest) {
		*factor = 1;
		return true;
	}
	at = rest[1] ? NULL : strchr(letters, *rest);
	if (at)
		*factor = factors[at - letters];
	return at != NULL;
}

bool coll_count_of(const char *text, uint64_t *value)
{
	const char *rest;

	return digits(text, value, &rest) && !*rest;
}

bool coll_size_of(const char *text, uint64_t *bytes)
{
	static const uint64_t factors[] = { 1u << 10, 1u << 20, 1u << 30, 1ull << 40 };
	uint64_t factor;
	const char *rest;

	return digits(text, bytes, &rest) && unit(rest, "KMGT", factors, &factor) &&
	       !__builtin_mul_overflow(*bytes, factor, bytes);
}

bool coll_span_of(const char *text, int64_t *ns)
{
	static const uint64_t factors[] = { 1, 60, 3600, 86400, 7 * 86400, 365 * 86400 };
	uint64_t value, factor;
	const char *rest;

	return digits(text, &value, &rest) && *rest && unit(rest, "smhdwy", factors, &factor) &&
	       !__builtin_mul_overflow(value, factor * COLL_SECOND_NS, &value) &&
	       value < INT64_MAX && (*ns = (int64_t)value, true);
}
