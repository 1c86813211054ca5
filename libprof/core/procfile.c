/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openat, read, getdents64, readlinkat, close.
 */
#include "procfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DIR_BYTES 4096

struct dirent64_head { /* of getdents64(2) */
	uint64_t inode;
	int64_t offset;
	uint16_t bytes;
	uint8_t type;
	char name[];
};

static int open_file(const char *path, int flags)
{
	long fd = syscall(SYS_openat, AT_FDCWD, path, flags | O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	return fd < 0 ? -errno : (int)fd;
}

ssize_t prof_proc_read(const char *path, char *out, size_t room)
{
	int fd = open_file(path, O_NOCTTY);
	size_t len = 0;
	long n;

	if (fd < 0)
		return fd;
	do {
		n = syscall(SYS_read, fd, out + len, room - 1 - len);
		if (n < 0)
			n = -errno;
		else
			len += (size_t)n;
	} while (n > 0 && len < room - 1 && len >= 1024); /* short files come in one piece */
	syscall(SYS_close, fd);
	out[len] = 0;
	return n < 0 && !len ? n : (ssize_t)len;
}

ssize_t prof_proc_link(const char *path, char *out, size_t room)
{
	long n = syscall(SYS_readlinkat, AT_FDCWD, path, out, room - 1);

	if (n < 0)
		return -errno;
	out[n] = 0;
	return n;
}

/* The number that a whole name is; false if it is none. */
static bool number_of(const char *name, uint32_t *value)
{
	uint64_t v = 0;

	if (!*name)
		return false;
	for (; *name; name++) {
		if (*name < '0' || *name > '9' || v > UINT32_MAX / 10)
			return false;
		v = v * 10 + (uint64_t)(*name - '0');
	}
	*value = (uint32_t)v;
	return v <= UINT32_MAX;
}

static size_t take_names(const char *buf, size_t len, uint32_t *skip, uint32_t *out, size_t room)
{
	size_t at, n = 0;
	uint32_t value;

	for (at = 0; at < len && n < room;) {
		const struct dirent64_head *d = (const void *)(buf + at);

		at += d->bytes;
		if (!number_of(d->name, &value))
			continue;
		if (*skip)
			(*skip)--;
		else
			out[n++] = value;
	}
	return n;
}

ssize_t prof_proc_numbers(const char *path, uint32_t skip, uint32_t *out, size_t room)
{
	_Alignas(8) char buf[DIR_BYTES];
	int fd = open_file(path, O_DIRECTORY);
	size_t n = 0;
	long len;

	if (fd < 0)
		return fd;
	while (n < room) {
		len = syscall(SYS_getdents64, fd, buf, sizeof(buf));
		if (len <= 0)
			break;
		n += take_names(buf, (size_t)len, &skip, out + n, room - n);
	}
	syscall(SYS_close, fd);
	return (ssize_t)n;
}

static int digit(char c, unsigned int base)
{
	int v = c >= '0' && c <= '9'		     ? c - '0'
		: (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
						     : 16;

	return v < (int)base ? v : -1;
}

bool prof_proc_number(const char **p, uint64_t *value)
{
	unsigned int base = 10;
	const char *s = *p;
	bool minus;
	uint64_t v;

	while (*s == ' ' || *s == '\t')
		s++;
	minus = *s == '-';
	s += minus;
	if (s[0] == '0' && s[1] == 'x') {
		base = 16;
		s += 2;
	}
	if (digit(*s, base) < 0)
		return false;
	for (v = 0; digit(*s, base) >= 0; s++)
		v = v * base + (uint64_t)digit(*s, base);
	*value = minus ? 0 - v : v;
	*p = s;
	return true;
}
