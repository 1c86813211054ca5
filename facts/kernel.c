/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *part, *more;
	enum facts_meeting meeting;
} collective[] = {
#define COLLECTIVE(part, more, meeting) { part, more, FACTS_MEET_##meeting },
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

enum facts_meeting facts_kernel_meeting(const char *name)
{
	int row = row_of(name);

	return row >= 0 ? collective[row].meeting : FACTS_MEET_NOT;
}

const char *facts_kernel_input(const char *name)
{
	size_t i;

	for (i = 0; i < COUNT(input); i++)
		if (strcasestr(name, input[i].part) && strcasestr(name, input[i].more))
			return input[i].name;
	return NULL;
}
