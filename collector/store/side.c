/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of names.
 */
#include "side.h"

#include <string.h>

static bool middle_ok(const char *at, size_t len)
{
	static const char good[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-+=@";

	return len && strspn(at, good) >= len;
}

bool coll_side_name_ok(const char *name)
{
	static const char *const whole[] = { "run.json", "alerts.jsonl" };
	static const char *const prefix[] = { "exit-", "alloc-", "clock-" };
	static const char suffix[] = ".json";
	size_t len = strlen(name), end = sizeof(suffix) - 1, i;

	for (i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		if (!strcmp(name, whole[i]))
			return true;
	if (len <= end || len > 250 || strcmp(name + len - end, suffix))
		return false;
	for (i = 0; i < sizeof(prefix) / sizeof(prefix[0]); i++) {
		size_t n = strlen(prefix[i]);

		if (!strncmp(name, prefix[i], n) && len > n + end)
			return middle_ok(name + n, len - n - end);
	}
	return false;
}
