/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of sockets: real ones by their inode, lines as kernels print them, and lines that are none.
 */
#include "sample/sockname.h"
#include "sample/sockbytes.h"
#include "sample/sockpeer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
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

/*
 * A network of its own, where that is allowed: how long a pass takes, and so how soon the next one
 * may come, follows from how many sockets the machine has, and tests beside this one open
 * thousands.
 */
static void be_alone(void)
{
	struct ifreq loopback = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd;

	if (unshare(CLONE_NEWNET) && unshare(CLONE_NEWUSER | CLONE_NEWNET)) {
		printf("no network of its own: %s\n", strerror(errno));
		return;
	}
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	REQUIRE(fd >= 0);
	REQUIRE(!ioctl(fd, SIOCSIFFLAGS, &loopback));
	close(fd);
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
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
	int64_t begin = now_ns();
	const char *again;

	REQUIRE(four >= 0);
	REQUIRE(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	EXPECT_STR(name_of(four), far[0]);
	again = name_of(pair[0]);
	if (now_ns() - begin < 1000000000)
		EXPECT_STR(again, "socket"); /* not twice in a second */
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
	struct prof_socket_line l;
	char name[128] = "";

	EXPECT_UINT(prof_socket_inode("socket:[4711]"), 4711);
	EXPECT_UINT(prof_socket_inode("pipe:[4711]"), 0);
	EXPECT(prof_socket_line_tcp(
		"  12: 0100007F:1F90 0100007F:01BB 01 00000000:00000000 00:00000000 "
		"00000000  1000        0 123456 1 000000002b2f4746 20 4 30 10 -1",
		false, &l));
	EXPECT_UINT(l.inode, 123456);
	EXPECT(!l.listens);
	prof_socket_address(l.near, name, sizeof(name));
	EXPECT_STR(name, "127.0.0.1:8080");
	prof_socket_address(l.far, name, sizeof(name));
	EXPECT_STR(name, "127.0.0.1:443");
	EXPECT(prof_socket_line_tcp(
		"   0: 00000000:07E8 00000000:0000 0A 00000000:00000000 00:00000000 "
		"00000000     0        0 1066 1 000000002b2f4746 100 0 0 10 0",
		false, &l));
	EXPECT(l.listens);
	EXPECT_STR(l.far, "");
	prof_socket_address(l.near, name, sizeof(name));
	EXPECT_STR(name, "0.0.0.0:2024");
	prof_socket_address("", name, sizeof(name));
	EXPECT_STR(name, "");
	EXPECT(!prof_socket_line_tcp(
		"   1: 0100007F:9325 0100007F:B844 06 00000000:00000000 03:000002A0 "
		"00000000     0        0 0 3 00000000c605ccdd",
		false, &l)); /* nobody has it any more */
	EXPECT(prof_socket_line_tcp(
		"   2: 0000000000000000FFFF00000100007F:1F90 "
		"0000000000000000FFFF00000100007F:01BB 01 00000000:00000000 00:00000000 "
		"00000000     0        0 77 1 000000002b2f4746 20 4 30 10 -1",
		true, &l));
	prof_socket_address(l.near, name, sizeof(name));
	EXPECT_STR(name, "127.0.0.1:8080"); /* its peer may be one of IPv4 */
	EXPECT(prof_socket_line_unix("00000000d8d8d073: 00000003 00000000 00000000 0001 03  1063",
				     &l));
	EXPECT_UINT(l.inode, 1063);
	EXPECT_STR(l.path, "");
	EXPECT(!l.listens);
	EXPECT(prof_socket_line_unix(
		"00000000d8d8d073: 00000002 00000000 00010000 0001 01 99 /run/a b", &l));
	EXPECT_STR(l.path, "/run/a b");
	EXPECT(l.listens);
	EXPECT(!prof_socket_line_unix("Num       RefCount Protocol Flags    Type St Inode Path",
				      &l));
}

static void test_damaged_lines(void)
{
	static const char whole[] =
		"  12: 0100007F:1F90 0100007F:01BB 01 00000000:00000000 00:00000000 00000000  "
		"1000        0 123456 1 000000002b2f4746 20 4 30 10 -1";
	struct prof_socket_line l = { 0 };
	char line[sizeof(whole)], name[16] = "";
	uint64_t seed = 1;
	int i, k;

	for (i = 0; i < 100000; i++) {
		memcpy(line, whole, sizeof(line));
		for (k = 0; k < 4; k++)
			line[t_random(&seed) % (sizeof(line) - 1)] = (char)t_random(&seed);
		prof_socket_line_tcp(line, i & 1, &l);
		prof_socket_address(l.far, name, sizeof(name));
		EXPECT(memchr(name, 0, sizeof(name)) != NULL);
		prof_socket_line_unix(line, &l);
		EXPECT(memchr(l.path, 0, sizeof(l.path)) != NULL);
	}
}

static uint64_t inode_of(int fd)
{
	struct stat st;

	REQUIRE(!fstat(fd, &st));
	return st.st_ino;
}

/* Both ends of a connection have one id, and each knows the other one. */
static void expect_pair(int one, int other, char first)
{
	char id[2][PROF_LINK_ID];
	uint64_t peer[2], ends[2];

	prof_socket_link(inode_of(one), id[0], &peer[0]);
	prof_socket_link(inode_of(other), id[1], &peer[1]);
	wait_a_pass();
	prof_socket_link(inode_of(one), id[0], &peer[0]);
	prof_socket_link(inode_of(other), id[1], &peer[1]);
	EXPECT(*id[0] == first);
	EXPECT_STR(id[0], id[1]);
	EXPECT_UINT(peer[0], inode_of(other));
	EXPECT_UINT(peer[1], inode_of(one));
	prof_socket_ends(id[0], ends);
	EXPECT_UINT(ends[0] + ends[1], inode_of(one) + inode_of(other));
	EXPECT(ends[0] == inode_of(one) || ends[1] == inode_of(one));
}

static void test_links(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	int server = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0);
	char id[PROF_LINK_ID], want[PROF_LINK_ID];
	socklen_t len = sizeof(a);
	uint64_t peer;
	int pair[2], far;

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	REQUIRE(!bind(server, (struct sockaddr *)&a, len) && !listen(server, 1) &&
		!getsockname(server, (struct sockaddr *)&a, &len) &&
		!connect(fd, (struct sockaddr *)&a, len));
	far = accept(server, NULL, NULL);
	REQUIRE(far >= 0 && !socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	expect_pair(fd, far, 't');
	prof_socket_link(inode_of(pair[0]), id, &peer);
	wait_a_pass();
	prof_socket_link(inode_of(pair[0]), id, &peer);
	if (*id)
		expect_pair(pair[0], pair[1], 'u');
	else
		printf("skipped: the kernel does not tell unix sockets' peers\n");
	prof_socket_link(inode_of(server), id, &peer);
	wait_a_pass();
	prof_socket_link(inode_of(server), id, &peer);
	snprintf(want, sizeof(want), "l127.0.0.1:%u", ntohs(a.sin_port));
	EXPECT_STR(id, want);
	EXPECT_UINT(peer, 0);
}

static void meet(int fd)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	prof_socket_met(inode_of(fd), path);
}

/*
 * What is met with its descriptor is looked for where it stands: a unix socket waits for no table
 * of TCP.
 */
static void test_met(void)
{
	int fd[2], udp = socket(AF_INET, SOCK_DGRAM, 0), tcp;
	char far[80], name[80];

	tcp = connected(AF_INET, far, sizeof(far));
	REQUIRE(udp >= 0 && tcp >= 0);
	name_of(tcp); /* now, or it was just before: a second is to go by until the next one */
	REQUIRE(!socketpair(AF_UNIX, SOCK_STREAM, 0, fd));
	meet(fd[0]);
	prof_socket_name(inode_of(fd[0]), name, sizeof(name));
	nanosleep(&(struct timespec){ .tv_nsec = 150000000 }, NULL);
	EXPECT_STR(name_of(fd[0]), "socket:unix");
	tcp = connected(AF_INET, far, sizeof(far));
	meet(tcp);
	meet(udp);
	name_of(tcp);
	EXPECT_STR(name_of(udp), "socket");
	wait_a_pass();
	EXPECT_STR(name_of(tcp), far);
	EXPECT_STR(name_of(udp), "socket");
}

static bool refuse(uint32_t one, uint32_t other)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, one, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, other, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

static int pair_without(int one, int other)
{
	char id[2][PROF_LINK_ID];
	uint64_t peer[2];

	if (!refuse(SYS_socket, SYS_getxattr))
		return 0;
	meet(one);
	prof_socket_link(inode_of(one), id[0], &peer[0]);
	prof_socket_link(inode_of(other), id[1], &peer[1]);
	wait_a_pass();
	prof_socket_link(inode_of(one), id[0], &peer[0]);
	prof_socket_link(inode_of(other), id[1], &peer[1]);
	return *id[0] == 't' && !strcmp(id[0], id[1]) && peer[0] == inode_of(other) &&
			       peer[1] == inode_of(one)
		       ? 0
		       : 1;
}

/*
 * Where the kernel may not be asked the tables tell it all. First: a child knows what was told
 * before.
 */
/* The number of a new socket, of which fd[1] is the other end. */
static uint64_t new_pair(int fd[2])
{
	struct stat st;

	REQUIRE(!socketpair(AF_UNIX, SOCK_STREAM, 0, fd));
	REQUIRE(!fstat(fd[0], &st));
	return st.st_ino;
}

static bool is_known(uint64_t inode)
{
	char id[PROF_LINK_ID];
	uint64_t peer;

	prof_socket_link(inode, id, &peer);
	return peer != 0;
}

/*
 * Two whose numbers lie 256 or 512 apart, as those of several programs do, are both known once they
 * were asked for.
 */
static void test_meet(void)
{
	uint64_t inode[3] = { 0 }, n;
	int fd[3][2], other[2], i, known = 0;

	inode[0] = new_pair(fd[0]);
	for (i = 1; i < 3;) {
		n = new_pair(other);
		if ((n - inode[0]) % 256) {
			close(other[0]);
			close(other[1]);
			continue;
		}
		memcpy(fd[i], other, sizeof(other));
		inode[i++] = n;
	}
	for (i = 0; i < 20; i++) {
		is_known(inode[i % 3]);
		nanosleep(&(struct timespec){ .tv_nsec = 110000000 }, NULL);
	}
	for (i = 0; i < 3; i++) {
		known += is_known(inode[i]);
		close(fd[i][0]);
		close(fd[i][1]);
	}
	EXPECT_INT(known, 3);
}

static void test_refused(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	int server = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0), far;
	socklen_t len = sizeof(a);
	int status;
	pid_t pid;

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	REQUIRE(!bind(server, (struct sockaddr *)&a, len) && !listen(server, 1) &&
		!getsockname(server, (struct sockaddr *)&a, &len) &&
		!connect(fd, (struct sockaddr *)&a, len));
	far = accept(server, NULL, NULL);
	REQUIRE(far >= 0);
	pid = fork();
	if (!pid)
		_exit(pair_without(fd, far));
	REQUIRE(waitpid(pid, &status, 0) == pid);
	EXPECT_INT(status, 0);
}

/* Who was asked for a connection, and who asked; over TCP and by a path. */
static void test_accepted(void)
{
	union address a = { .v4 = { .sin_family = AF_INET } }, b;
	char id[PROF_LINK_ID], want[PROF_LINK_ID];
	int four[3], local[3], i;
	socklen_t len = sizeof(a.v4);
	uint64_t peer;

	for (i = 0; i < 2; i++) {
		four[i] = socket(AF_INET, SOCK_STREAM, 0);
		local[i] = socket(AF_UNIX, SOCK_STREAM, 0);
	}
	REQUIRE(!bind(four[0], &a.any, len) && !listen(four[0], 1) &&
		!getsockname(four[0], &a.any, &len)); /* of all addresses */
	snprintf(want, sizeof(want), "a127.0.0.1:%u", ntohs(a.v4.sin_port));
	a.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	REQUIRE(!connect(four[1], &a.any, len));
	b.local = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(b.local.sun_path, sizeof(b.local.sun_path), "/tmp/gs-accepted-%d", getpid());
	REQUIRE(!bind(local[0], &b.any, sizeof(b.local)) && !listen(local[0], 1) &&
		!connect(local[1], &b.any, sizeof(b.local)));
	four[2] = accept(four[0], NULL, NULL);
	local[2] = accept(local[0], NULL, NULL);
	unlink(b.local.sun_path);
	for (i = 0; i < 3; i++) {
		prof_socket_link(inode_of(four[i]), id, &peer);
		prof_socket_link(inode_of(local[i]), id, &peer);
	}
	wait_a_pass();
	for (i = 0; i < 3; i++) {
		prof_socket_accepted(inode_of(four[i]), id);
		EXPECT_STR(id, i == 2 ? want : "");
		prof_socket_accepted(inode_of(local[i]), id);
		EXPECT_STR(i == 2 ? id + 1 : id, i == 2 ? b.local.sun_path : "");
	}
}

/*
 * Connections that were closed stand in /proc/net/tcp for a minute, more of them than of a file is
 * read.
 */
static void close_many(void)
{
	union address a = { .v4 = { .sin_family = AF_INET } };
	int server = socket(AF_INET, SOCK_STREAM, 0), fd, far, i;
	socklen_t len = sizeof(a.v4);

	a.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	REQUIRE(!bind(server, &a.any, len) && !listen(server, 1) &&
		!getsockname(server, &a.any, &len));
	for (i = 0; i < 6000; i++) {
		fd = socket(AF_INET, SOCK_STREAM, 0);
		REQUIRE(!connect(fd, &a.any, len));
		far = accept(server, NULL, NULL);
		close(fd);
		close(far);
	}
	close(server);
}

static int names_beside_closed(void)
{
	char far[6][80];
	int fd[6], i, wrong = 0;

	close_many();
	for (i = 0; i < 6; i++)
		fd[i] = connected(AF_INET, far[i], sizeof(far[i]));
	for (i = 0; i < 6; i++)
		name_of(fd[i]);
	wait_a_pass();
	for (i = 0; i < 6; i++)
		wrong += strcmp(name_of(fd[i]), far[i]) != 0;
	return wrong;
}

/*
 * In a child: its closed connections are nobody else's. First: who was asked before has less time
 * left.
 */
static void test_closed(void)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		be_alone();
		_exit(names_beside_closed());
	}
	REQUIRE(waitpid(pid, &status, 0) == pid);
	EXPECT_INT(status, 0);
}

static char *printed(const struct sockaddr_in *a, char out[16])
{
	snprintf(out, 16, "%08X:%04X", a->sin_addr.s_addr, ntohs(a->sin_port));
	return out;
}

/* A connection that brings data, and one that brings words; looked at as who waits there is. */
static void test_data(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET }, b;
	int server = socket(AF_INET, SOCK_STREAM, 0), fd[2][2], i, k;
	char id[PROF_LINK_ID], want[PROF_LINK_ID], near[16], far[16];
	static char data[20000];
	socklen_t len = sizeof(a);
	uint64_t peer;

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	REQUIRE(!bind(server, (struct sockaddr *)&a, len) && !listen(server, 2) &&
		!getsockname(server, (struct sockaddr *)&a, &len));
	for (i = 0; i < 2; i++) {
		fd[i][0] = socket(AF_INET, SOCK_STREAM, 0);
		REQUIRE(!connect(fd[i][0], (struct sockaddr *)&a, len));
		fd[i][1] = accept(server, NULL, NULL);
		prof_socket_link(inode_of(fd[i][0]), id, &peer);
	}
	wait_a_pass();
	for (k = 0; k < 10; k++)
		for (i = 0; i < 2; i++) {
			prof_socket_link(inode_of(fd[i][0]), id, &peer);
			prof_socket_data(inode_of(fd[i][0]), id);
			REQUIRE(send(fd[i][1], data, i ? 1 : sizeof(data), 0) > 0);
			REQUIRE(recv(fd[i][0], data, i ? 1 : sizeof(data), MSG_WAITALL) > 0);
		}
	REQUIRE(!getsockname(fd[0][0], (struct sockaddr *)&b, &len));
	if (prof_tcp_received(printed(&b, near), printed(&a, far)) < 0) {
		printf("skipped: the kernel does not tell what came over TCP\n");
		return;
	}
	EXPECT_INT(prof_tcp_received(near, far), 10 * sizeof(data));
	EXPECT_INT(prof_tcp_received(near, "nothing"), -1);
	EXPECT_INT(prof_tcp_received(near, "0100007F:0000"), -1); /* there is none */
	EXPECT_UINT(prof_tcp_inode(near, far), inode_of(fd[0][0]));
	EXPECT_UINT(prof_tcp_inode(far, near), inode_of(fd[0][1]));
	EXPECT_UINT(prof_tcp_inode(near, "nothing"), 0);
	EXPECT_UINT(prof_tcp_inode(far, "0100007F:0001"), 0); /* somebody listens there */
	snprintf(want, sizeof(want), "d127.0.0.1:%u", ntohs(a.sin_port));
	prof_socket_data(inode_of(fd[0][0]), id);
	EXPECT_STR(id, want);
	prof_socket_data(inode_of(fd[1][0]), id);
	EXPECT_STR(id, "");
}

static uint64_t last_listed;

static void take_listed(const struct prof_tcp_socket *s)
{
	EXPECT(memchr(s->near, 0, sizeof(s->near)) && memchr(s->far, 0, sizeof(s->far)));
	last_listed = s->inode;
}

/* What the kernel says of all sockets: one, the end, that it cannot tell, and nonsense. */
static void test_listed(void)
{
	_Alignas(8) uint8_t answer[88 + 20] = { [0] = 88,  [4] = 20,  [16] = AF_INET,
						1,	   [20] = 1,  [24] = 127,
						[84] = 77, [88] = 20, [92] = NLMSG_DONE };
	uint64_t seed = 1;
	size_t i, k;

	EXPECT_INT(prof_tcp_list_of(answer, 88, false, take_listed), PROF_TCP_MORE);
	EXPECT_UINT(last_listed, 77);
	EXPECT_INT(prof_tcp_list_of(answer, sizeof(answer), false, take_listed), PROF_TCP_ALL);
	answer[104] = 0xfe; /* -ENOENT, but for its other bytes */
	answer[105] = answer[106] = answer[107] = 0xff;
	EXPECT_INT(prof_tcp_list_of(answer + 88, 20, false, take_listed), PROF_TCP_REFUSED);
	answer[4] = NLMSG_ERROR;
	EXPECT_INT(prof_tcp_list_of(answer, 88, false, take_listed), PROF_TCP_REFUSED);
	for (i = 0; i < 100000; i++) {
		for (k = 0; k < sizeof(answer); k++)
			answer[k] = (uint8_t)(t_random(&seed) % 3 ? t_random(&seed) % 100 : 0);
		answer[0] = (uint8_t)(t_random(&seed) % 110);
		answer[1] = answer[2] = answer[3] = 0;
		answer[4] = 20;
		answer[5] = 0;
		prof_tcp_list_of(answer, t_random(&seed) % (sizeof(answer) + 1), i & 1,
				 take_listed);
	}
}

/* Answers that are cut, or say that they are longer than they are. */
static void test_damaged_answers(void)
{
	static const uint8_t whole[] = { 48, 0, 0, 0, 20, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,
					 1,  1, 1, 0, 9,  0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,
					 8,  0, 2, 0, 42, 0, 0, 0, 5, 0, 6, 0, 0, 0, 0, 0 };
	uint8_t answer[sizeof(whole)];
	uint64_t seed = 1;
	size_t i, k;

	EXPECT_UINT(prof_unix_peer_of(whole, sizeof(whole)), 42);
	for (i = 0; i < sizeof(whole); i++)
		EXPECT_UINT(prof_unix_peer_of(whole, i), 0);
	for (i = 0; i < 100000; i++) {
		memcpy(answer, whole, sizeof(whole));
		for (k = 0; k < 3; k++)
			answer[t_random(&seed) % sizeof(whole)] = (uint8_t)t_random(&seed);
		prof_unix_peer_of(answer, t_random(&seed) % (sizeof(whole) + 1));
	}
	for (i = 0; i < 100000; i++) {
		uint8_t tcp[384];

		memcpy(tcp, whole, 16);
		for (k = 16; k < sizeof(tcp); k++)
			tcp[k] = (uint8_t)(t_random(&seed) % 5);
		tcp[0] = (uint8_t)t_random(&seed);
		prof_tcp_received_of(tcp, t_random(&seed) % (sizeof(tcp) + 1));
		prof_tcp_inode_of(tcp, t_random(&seed) % (sizeof(tcp) + 1));
	}
}

int main(void)
{
	be_alone();
	return RUN(test_closed, test_refused, test_real, test_lines, test_damaged_lines, test_links,
		   test_met, test_meet, test_accepted, test_data, test_listed,
		   test_damaged_answers);
}
