/* SPDX-License-Identifier: Apache-2.0 */
#include "stored_text.h"

#include <string.h>

bool fleet_stored_pass(const char **p, const char *what)
{
	size_t n = strlen(what);

	if (strncmp(*p, what, n) != 0)
		return false;
	*p += n;
	return true;
}
