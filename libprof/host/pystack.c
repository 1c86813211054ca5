/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Python stacks, before there are any: finds no Python.
 */
#include "pystack.h"

#include <errno.h>

int prof_py_open(struct prof_py **py, pid_t pid)
{
	(void)pid;
	*py = NULL;
	return -ENOENT;
}

void prof_py_close(struct prof_py *py)
{
	(void)py;
}

const char *prof_py_note(void)
{
	return "";
}

uint32_t prof_py_version(const struct prof_py *py)
{
	(void)py;
	return 0;
}

int prof_py_threads(struct prof_py *py, struct prof_py_thread *t, size_t room)
{
	(void)py, (void)t, (void)room;
	return 0;
}

ssize_t prof_py_walk(struct prof_py *py, const struct prof_py_thread *t, char *text, size_t room)
{
	(void)py, (void)t, (void)text, (void)room;
	return -ENOENT;
}

pid_t prof_py_gil_holder(struct prof_py *py)
{
	(void)py;
	return 0;
}

bool prof_py_in_runtime(struct prof_py *py, uint64_t address)
{
	(void)py, (void)address;
	return false;
}

bool prof_py_collecting(struct prof_py *py)
{
	(void)py;
	return false;
}
