/* SPDX-License-Identifier: Apache-2.0 */
#include "lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "made.h"

char *made_numbers(char *p, uint64_t *v, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		char *stop;

		errno = 0;
		v[i] = *p && p[strspn(p, " ")] == '-' ? (uint64_t)strtoll(p, &stop, 10)
						      : strtoull(p, &stop, 10);
		made_need(stop > p && !errno, "a number is missing");
		p = stop;
	}
	return p;
}
