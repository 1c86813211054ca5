/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Native stacks, before there are any: finds no libunwind.
 */
#include "native.h"

#include <errno.h>

bool prof_native_ready(void)
{
	return false;
}

const char *prof_native_note(void)
{
	return "native stacks are not built in yet";
}

ssize_t prof_native_walk(uint64_t sp, uint64_t pc, char *text, size_t room)
{
	(void)sp, (void)pc, (void)text, (void)room;
	return -ENOTSUP;
}
