/* SPDX-License-Identifier: Apache-2.0 */
#include "ancestors.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define DEPTH_MAX 32 /* a chain that is longer is no notebook's */

static size_t read_of(pid_t pid, const char *name, char *out, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, out, size - 1);
	if (fd >= 0)
		close(fd);
	out[n > 0 ? n : 0] = 0;
	return n > 0 ? (size_t)n : 0;
}

/* A word of its command line: "ipykernel_launcher", ".../site-packages/ipykernel_launcher.py". */
static bool is_ipykernel(pid_t pid)
{
	char words[1024];
	size_t n = read_of(pid, "cmdline", words, sizeof(words)), at;

	for (at = 0; at < n; at += strlen(words + at) + 1)
		if (strstr(words + at, "ipykernel"))
			return true;
	return false;
}

/* 0: not known, or none. */
static pid_t parent_of(pid_t pid)
{
	char stat[512], *at;
	long parent;

	if (!read_of(pid, "stat", stat, sizeof(stat)))
		return 0;
	at = strrchr(stat, ')'); /* the name before it may hold anything */
	if (!at || strlen(at) < 4)
		return 0;
	parent = strtol(at + 4, NULL, 10);
	return parent > 1 ? (pid_t)parent : 0;
}

bool prof_below_ipykernel(void)
{
	pid_t pid = getpid();

	for (int i = 0; pid && i < DEPTH_MAX; i++, pid = parent_of(pid))
		if (is_ipykernel(pid))
			return true;
	return false;
}
