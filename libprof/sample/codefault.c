/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An entry of 64 bits for each page: the highest bit says that it is there, whoever asks
 * (Documentation/admin-guide/mm/pagemap.rst; what is hidden from others are physical addresses).
 * Opened each time: after a fork it would still be the parent's.
 */
#include "codefault.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "native.h"

#define PRESENT 63

static bool is_absent(uint64_t address)
{
	off_t at = (off_t)(address / (uint64_t)sysconf(_SC_PAGESIZE) * sizeof(uint64_t));
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t entry;
	bool read;

	if (fd < 0)
		return false;
	read = pread(fd, &entry, sizeof(entry), at) == (ssize_t)sizeof(entry);
	close(fd);
	return read && !(entry >> PRESENT & 1);
}

size_t prof_codefault_file(uint64_t pc, char *file, size_t room)
{
	const struct prof_module *m;
	int n;

	if (!prof_native_memory())
		return 0;
	m = prof_native_module(pc);
	if (!m || !m->path[0] || !(m->loader || is_absent(pc)))
		return 0;
	n = snprintf(file, room, "%s", m->path);
	return n > 0 && (size_t)n < room ? (size_t)n : 0;
}
