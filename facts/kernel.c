/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel.h"

#include <stddef.h>
#include <string.h>

#define MEET true
#define PASS false

static const struct {
	const char *part, *more;
	bool meets;
} collective[] = {
#define COLLECTIVE(part, more, meets) { part, more, meets },
#include "kernels.def"
};

static const struct {
	const char *part, *more, *name;
} input[] = {
#define INPUT_WORK(part, more, name) { part, more, name },
#include "kernels.def"
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static int row_of(const char *name)
{
	size_t i;

	for (i = 0; i < COUNT(collective); i++)
		if (strcasestr(name, collective[i].part) && strcasestr(name, collective[i].more))
			return (int)i;
	return -1;
}

bool facts_kernel_is_collective(const char *name)
{
	return row_of(name) >= 0;
}

bool facts_kernel_meets(const char *name)
{
	int row = row_of(name);

	return row >= 0 && collective[row].meets;
}

const char *facts_kernel_input(const char *name)
{
	size_t i;

	for (i = 0; i < COUNT(input); i++)
		if (strcasestr(name, input[i].part) && strcasestr(name, input[i].more))
			return input[i].name;
	return NULL;
}
