/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A few places by inode; one pass over the tables fills all that are wanted. The forms of the lines
 * are those of net/ipv4/tcp_ipv4.c, net/ipv6/tcp_ipv6.c and net/unix/af_unix.c of Linux.
 */
#include "sockname.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/clockpoll.h"
#include "core/procfile.h"

#define PLACES 64u /* a power of two */
#define NAME_BYTES 128u
#define PASS_NS 1000000000ll
#define KEEP_NS (60 * PASS_NS)
#define FILE_BYTES (256u << 10) /* about 1,700 sockets */
#define FILE_NS 5000000ll

struct place {
	uint64_t inode; /* 0: free */
	int64_t known_ns; /* looked up then; 0: wanted */
	char name[NAME_BYTES]; /* "": not found */
};

static struct place place[PLACES];
static int64_t pass_ns; /* not before then */

/* ---- lines ------------------------------------------------------------------------------------ */

uint64_t prof_socket_inode(const char *link)
{
	return strncmp(link, "socket:[", 8) ? 0 : strtoull(link + 8, NULL, 10);
}

/* The address is printed as words of this machine: put back into memory they are in network order. */
static bool read_address(const char *text, bool six, char *out, socklen_t room)
{
	size_t words = six ? 4 : 1, i;
	uint32_t raw[4];
	char part[9];

	for (i = 0; i < words; i++) {
		memcpy(part, text + 8 * i, 8);
		part[8] = 0;
		raw[i] = (uint32_t)strtoul(part, NULL, 16);
	}
	return inet_ntop(six ? AF_INET6 : AF_INET, raw, out, room);
}

bool prof_socket_line_tcp(const char *line, bool six, uint64_t *inode, char *name, size_t room)
{
	char far[36], text[INET6_ADDRSTRLEN];
	unsigned long long number;
	unsigned int port;

	if (sscanf(line, " %*u: %*[0-9A-F]:%*x %35[0-9A-F]:%x %*x %*x:%*x %*x:%*x %*x %*u %*u %llu",
		   far, &port, &number) != 3 ||
	    strlen(far) != (six ? 32 : 8) || !number || !port ||
	    !read_address(far, six, text, sizeof(text)))
		return false;
	*inode = number;
	snprintf(name, room, six ? "socket:[%s]:%u" : "socket:%s:%u", text, port);
	return true;
}

/* A name that does not begin with / is abstract, or there is none. */
bool prof_socket_line_unix(const char *line, uint64_t *inode, char *name, size_t room)
{
	unsigned long long number;
	int at = 0;

	if (sscanf(line, "%*[0-9a-f]: %*x %*x %*x %*x %*x %llu%n", &number, &at) != 1 || !at ||
	    !number)
		return false;
	*inode = number;
	line += at;
	line += *line == ' ';
	snprintf(name, room, "socket:%.100s", *line == '/' ? line : "unix");
	return true;
}

/* ---- passes ----------------------------------------------------------------------------------- */

enum table {
	TCP,
	TCP6,
	UNIX,
	TABLES
};

static void take_line(const char *line, enum table table)
{
	char name[NAME_BYTES];
	struct place *p;
	uint64_t inode;

	if (table == UNIX ? !prof_socket_line_unix(line, &inode, name, sizeof(name))
			  : !prof_socket_line_tcp(line, table == TCP6, &inode, name, sizeof(name)))
		return;
	p = &place[inode % PLACES];
	if (p->inode == inode)
		memcpy(p->name, name, sizeof(name));
}

/* Takes the whole lines and leaves the rest at the beginning; how long that is. */
static size_t take_lines(char *text, size_t len, enum table table)
{
	char *line = text, *end;

	while ((end = memchr(line, '\n', len - (size_t)(line - text)))) {
		*end = 0;
		take_line(line, table);
		line = end + 1;
	}
	len -= (size_t)(line - text);
	memmove(text, line, len);
	return len;
}

static void read_table(enum table table)
{
	static const char *const path[] = { "/proc/self/net/tcp", "/proc/self/net/tcp6",
					    "/proc/self/net/unix" };
	long fd = syscall(SYS_openat, AT_FDCWD, path[table], O_RDONLY | O_CLOEXEC), n;
	int64_t until = prof_mono_ns() + FILE_NS;
	size_t kept = 0, all = 0;
	char text[8192];

	if (fd < 0)
		return;
	do {
		n = syscall(SYS_read, (int)fd, text + kept, sizeof(text) - kept);
		if (n <= 0)
			break;
		all += (size_t)n;
		kept = take_lines(text, kept + (size_t)n, table);
	} while (kept < sizeof(text) && all < FILE_BYTES && prof_mono_ns() < until);
	syscall(SYS_close, (int)fd);
}

static void pass(int64_t now_ns)
{
	size_t i;
	int t;

	pass_ns = now_ns + PASS_NS;
	for (t = 0; t < TABLES; t++)
		read_table((enum table)t);
	for (i = 0; i < PLACES; i++)
		if (place[i].inode)
			place[i].known_ns = now_ns;
}

void prof_socket_name(uint64_t inode, char *name, size_t room)
{
	struct place *p = &place[inode % PLACES];
	int64_t now = prof_mono_ns();

	if (inode && (p->inode != inode || (p->known_ns && now - p->known_ns > KEEP_NS)))
		*p = (struct place){ .inode = inode };
	if (inode && !p->known_ns && now >= pass_ns)
		pass(now);
	snprintf(name, room, "%s", inode && p->name[0] ? p->name : "socket");
}
