/* SPDX-License-Identifier: Apache-2.0 */
#include "memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/procfile.h"

#define AGAIN_NS 1000000000ll
#define FDS 64u /* read at a time */
#define FDS_MAX 1024u
#define OWN_NAME "/memfd:gpustarve" /* shared.c */

static struct {
	struct prof_memory found[PROF_MEMORY_MAX];
	size_t count;
	int64_t read_ns; /* 0: never */
} own;

/* Of these alone the kernel asks no other machine and no program. */
static bool is_in_memory(const char *link)
{
	return !strncmp(link, "/dev/shm/", 9) ||
	       (!strncmp(link, "/memfd:", 7) && strncmp(link, OWN_NAME, sizeof(OWN_NAME) - 1) != 0);
}

bool prof_memory_look(pid_t pid, int fd, const char *link, struct prof_memory *out)
{
	char path[40];
	struct stat st;

	if (!is_in_memory(link))
		return false;
	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
	else
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	/* not stat(): programs have their own before the library's (fakeroot), which may wait */
	if (syscall(SYS_newfstatat, AT_FDCWD, path, &st, 0) || !S_ISREG(st.st_mode) ||
	    st.st_size < PROF_MEMORY_LEAST_BYTES)
		return false;
	*out = (struct prof_memory){ .device = st.st_dev, .inode = st.st_ino, .fd = fd };
	return true;
}

/* The same may be open more than once. */
static void add(const struct prof_memory *m)
{
	size_t i;

	for (i = 0; i < own.count; i++)
		if (own.found[i].inode == m->inode && own.found[i].device == m->device)
			return;
	if (own.count < PROF_MEMORY_MAX)
		own.found[own.count++] = *m;
}

static void read_own(void)
{
	uint32_t fd[FDS], skip = 0;
	char path[40], link[64];
	struct prof_memory m;
	ssize_t n, i;

	own.count = 0;
	do {
		n = prof_proc_numbers("/proc/self/fd", skip, fd, FDS);
		for (i = 0; i < n && own.count < PROF_MEMORY_MAX; i++) {
			snprintf(path, sizeof(path), "/proc/self/fd/%u", fd[i]);
			if (prof_proc_link(path, link, sizeof(link)) > 0 &&
			    prof_memory_look(0, (int)fd[i], link, &m))
				add(&m);
		}
		skip += FDS;
	} while (n == FDS && skip < FDS_MAX && own.count < PROF_MEMORY_MAX);
}

size_t prof_memory_own(const struct prof_memory **out, int64_t now_ns)
{
	if (!own.read_ns || now_ns - own.read_ns >= AGAIN_NS) {
		own.read_ns = now_ns;
		read_own();
	}
	*out = own.found;
	return own.count;
}

void prof_memory_link(char id[PROF_LINK_ID], const struct prof_memory *m)
{
	prof_link_memory(id, m->device, m->inode);
}
