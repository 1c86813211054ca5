/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of sockets: real ones by their inode, lines as kernels print them, and lines that are none.
 */
#include "sample/sockname.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un local;
};

static const char *name_of(int fd)
{
	static char name[256];
	char path[32], link[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, link, sizeof(link) - 1);
	REQUIRE(n > 0);
	link[n] = 0;
	prof_socket_name(prof_socket_inode(link), name, sizeof(name));
	return name;
}

/* A socket that is connected to one that listens; *far: its name. -1: not here. */
static int connected(int family, char *far, size_t room)
{
	union address a = { .any.sa_family = (sa_family_t)family };
	socklen_t len = family == AF_INET ? sizeof(a.v4) : sizeof(a.v6);
	int server = socket(family, SOCK_STREAM, 0), fd = socket(family, SOCK_STREAM, 0);

	if (family == AF_INET)
		a.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else
		a.v6.sin6_addr = in6addr_loopback;
	if (server < 0 || bind(server, &a.any, len) || listen(server, 1) ||
	    getsockname(server, &a.any, &len) || connect(fd, &a.any, len))
		return -1;
	if (family == AF_INET)
		snprintf(far, room, "socket:127.0.0.1:%u", ntohs(a.v4.sin_port));
	else
		snprintf(far, room, "socket:[::1]:%u", ntohs(a.v6.sin6_port));
	return fd;
}

static void wait_a_pass(void)
{
	nanosleep(&(struct timespec){ .tv_sec = 1, .tv_nsec = 50000000 }, NULL);
}

static void test_real(void)
{
	char far[2][80];
	int four = connected(AF_INET, far[0], sizeof(far[0]));
	int six = connected(AF_INET6, far[1], sizeof(far[1])), pair[2], listens;
	struct sockaddr_un here = { .sun_family = AF_UNIX };

	REQUIRE(four >= 0);
	REQUIRE(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	EXPECT_STR(name_of(four), far[0]);
	EXPECT_STR(name_of(pair[0]), "socket"); /* not twice in a second */
	wait_a_pass();
	EXPECT_STR(name_of(pair[0]), "socket:unix");
	EXPECT_STR(name_of(four), far[0]);
	listens = socket(AF_UNIX, SOCK_STREAM, 0);
	snprintf(here.sun_path, sizeof(here.sun_path), "/tmp/gs-sockname-%d", getpid());
	REQUIRE(!bind(listens, (struct sockaddr *)&here, sizeof(here)));
	name_of(listens);
	if (six >= 0)
		name_of(six);
	wait_a_pass();
	EXPECT_STR(name_of(listens) + 7, here.sun_path);
	if (six >= 0)
		EXPECT_STR(name_of(six), far[1]);
	else
		printf("skipped: no IPv6 here\n");
	unlink(here.sun_path);
	EXPECT_STR(name_of(listens) + 7, here.sun_path); /* kept */
}

static void test_lines(void)
{
	uint64_t inode = 0;
	char name[128] = "";

	EXPECT_UINT(prof_socket_inode("socket:[4711]"), 4711);
	EXPECT_UINT(prof_socket_inode("pipe:[4711]"), 0);
	EXPECT(prof_socket_line_tcp(
		"  12: 0100007F:1F90 0100007F:01BB 01 00000000:00000000 00:00000000 "
		"00000000  1000        0 123456 1 000000002b2f4746 20 4 30 10 -1",
		false, &inode, name, sizeof(name)));
	EXPECT_UINT(inode, 123456);
	EXPECT_STR(name, "socket:127.0.0.1:443");
	EXPECT(!prof_socket_line_tcp(
		"   0: 00000000:07E8 00000000:0000 0A 00000000:00000000 00:00000000 "
		"00000000     0        0 1066 1 000000002b2f4746 100 0 0 10 0",
		false, &inode, name, sizeof(name)));
	EXPECT(prof_socket_line_unix("00000000d8d8d073: 00000003 00000000 00000000 0001 03  1063",
				     &inode, name, sizeof(name)));
	EXPECT_UINT(inode, 1063);
	EXPECT_STR(name, "socket:unix");
	EXPECT(prof_socket_line_unix(
		"00000000d8d8d073: 00000002 00000000 00010000 0001 01 99 /run/a b", &inode, name,
		sizeof(name)));
	EXPECT_STR(name, "socket:/run/a b");
	EXPECT(!prof_socket_line_unix("Num       RefCount Protocol Flags    Type St Inode Path",
				      &inode, name, sizeof(name)));
}

static void test_damaged_lines(void)
{
	static const char whole[] =
		"  12: 0100007F:1F90 0100007F:01BB 01 00000000:00000000 00:00000000 00000000  "
		"1000        0 123456 1 000000002b2f4746 20 4 30 10 -1";
	uint64_t inode, seed = 1;
	char line[sizeof(whole)], name[16] = "";
	int i, k;

	for (i = 0; i < 100000; i++) {
		memcpy(line, whole, sizeof(line));
		for (k = 0; k < 4; k++)
			line[t_random(&seed) % (sizeof(line) - 1)] = (char)t_random(&seed);
		prof_socket_line_tcp(line, i & 1, &inode, name, sizeof(name));
		EXPECT(memchr(name, 0, sizeof(name)) != NULL);
		prof_socket_line_unix(line, &inode, name, sizeof(name));
	}
}

int main(void)
{
	return RUN(test_real, test_lines, test_damaged_lines);
}
