/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks names up in environ.
 */
#include "env.h"

#include <string.h>
#include <unistd.h>

const char *prof_env(const char *name)
{
	size_t length = strlen(name);
	char **at;

	for (at = environ; at && *at; at++)
		if (!strncmp(*at, name, length) && (*at)[length] == '=')
			return *at + length + 1;
	return NULL;
}

const char *prof_env_text(const char *name)
{
	const char *value = prof_env(name);

	return value && *value ? value : NULL;
}

bool prof_env_off(const char *value)
{
	return value && (!strcmp(value, "0") || !strcmp(value, "off") || !strcmp(value, "no"));
}
