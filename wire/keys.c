/* SPDX-License-Identifier: Apache-2.0 */
#include "keys.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define NUMBER_DIGITS 20u
#define NAME_MAX_BYTES 200u

static bool is_number(const char *text)
{
	return strspn(text, "0123456789") == NUMBER_DIGITS;
}

/* Files in a folder of their own: neither hidden nor elsewhere. */
static bool is_name(const char *name, size_t len)
{
	return len && len < NAME_MAX_BYTES && *name != '.' && !memchr(name, '/', len);
}

bool wire_key_is_segment(const char *key)
{
	const char *slash = strchr(key, '/');

	return slash && is_name(key, (size_t)(slash - key)) && is_number(slash + 1) &&
	       slash[1 + NUMBER_DIGITS] == '-' && is_number(slash + 2 + NUMBER_DIGITS) &&
	       !slash[2 + 2 * NUMBER_DIGITS];
}

bool wire_key_of_segment(char to[WIRE_KEY_BYTES], const char *file, int len, uint64_t first,
			 uint64_t last)
{
	if (len <= 0 || !is_name(file, (size_t)len))
		return false;
	snprintf(to, WIRE_KEY_BYTES, "%.*s/%020" PRIu64 "-%020" PRIu64, len, file, first, last);
	return true;
}

static bool begins_ends(const char *name, const char *begin, const char *end)
{
	size_t n = strlen(name), b = strlen(begin), e = strlen(end);

	return n > b + e && !strncmp(name, begin, b) && !strcmp(name + n - e, end);
}

bool wire_key_is_small(const char *key)
{
	return is_name(key, strlen(key)) &&
	       (!strcmp(key, "run.json") || !strcmp(key, WIRE_KEY_RUN_BEGUN) ||
		begins_ends(key, "exit-", ".json") || begins_ends(key, "clock-", ".json") ||
		begins_ends(key, "units-", ".txt"));
}
