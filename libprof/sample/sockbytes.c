/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request by both addresses, or one for all. The structures are those of linux/inet_diag.h and
 * linux/tcp.h, which an old system's headers may lack.
 */
#include "sockbytes.h"

#include <arpa/inet.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/clockpoll.h"
#include "sockpeer.h"

#define TCP_PROTOCOL 6
#define ATTRIBUTE_INFO 2u
#define MESSAGE_BYTES 72u /* struct inet_diag_msg */
#define STATE_AT 1u /* in it */
#define ENDS_AT 4u
#define INODE_AT 68u
#define LISTENS 10u
#define OVER (1u << 6 | 1u << 12) /* TCP_TIME_WAIT, TCP_NEW_SYN_RECV: nobody has them */
#define RECEIVED_AT 128u /* tcpi_bytes_received */
#define ANSWER_BYTES 2048u
#define LIST_BYTES 8192u

struct ends {
	uint16_t near_port, far_port; /* network order */
	uint32_t near[4], far[4], device, cookie[2];
};

struct request {
	struct nlmsghdr head;
	uint8_t family, protocol, extensions, pad;
	uint32_t states;
	struct ends ends;
};

int64_t prof_tcp_received_of(const void *answer, size_t len)
{
	size_t size;
	const char *info = prof_diag_attribute(answer, len, MESSAGE_BYTES, ATTRIBUTE_INFO, &size);
	uint64_t bytes;

	if (!info || size < RECEIVED_AT + sizeof(bytes))
		return -1;
	memcpy(&bytes, info + RECEIVED_AT, sizeof(bytes));
	return bytes <= INT64_MAX ? (int64_t)bytes : -1;
}

/* Printed as words of this machine: put back into memory they are in network order. */
static bool read_end(const char *text, uint32_t address[4], uint16_t *port, bool *six)
{
	size_t digits = strcspn(text, ":"), i;
	char word[9];

	if ((digits != 8 && digits != 32) || !text[digits])
		return false;
	*six = digits == 32;
	for (i = 0; i < digits / 8; i++) {
		memcpy(word, text + 8 * i, 8);
		word[8] = 0;
		address[i] = (uint32_t)strtoul(word, NULL, 16);
	}
	*port = htons((uint16_t)strtoul(text + digits + 1, NULL, 16));
	return true;
}

/* How long the answer is; -1: there is none. */
static long ask(const char *near, const char *far, uint8_t extensions, char answer[ANSWER_BYTES])
{
	struct request r = {
		.head = { .nlmsg_len = sizeof(r),
			  .nlmsg_type = PROF_DIAG_BY_FAMILY,
			  .nlmsg_flags = NLM_F_REQUEST },
		.protocol = TCP_PROTOCOL,
		.extensions = extensions,
		.states = UINT32_MAX,
		.ends = { .cookie = { UINT32_MAX, UINT32_MAX } },
	};
	bool six[2];

	if (!read_end(near, r.ends.near, &r.ends.near_port, &six[0]) ||
	    !read_end(far, r.ends.far, &r.ends.far_port, &six[1]) || six[0] != six[1])
		return -1;
	r.family = six[0] ? AF_INET6 : AF_INET;
	return prof_diag_ask(&r, sizeof(r), answer, ANSWER_BYTES);
}

int64_t prof_tcp_received(const char *near, const char *far)
{
	_Alignas(8) char text[ANSWER_BYTES];
	long n = ask(near, far, 1u << (ATTRIBUTE_INFO - 1), text);

	return n > 0 ? prof_tcp_received_of(text, (size_t)n) : -1;
}

/* Where nobody has the connection the kernel tells of one that listens there. */
uint64_t prof_tcp_inode_of(const void *answer, size_t len)
{
	const uint8_t *message = (const uint8_t *)answer + sizeof(struct nlmsghdr);
	struct nlmsghdr head;
	uint32_t inode;

	if (len < sizeof(head) + MESSAGE_BYTES)
		return 0;
	memcpy(&head, answer, sizeof(head));
	memcpy(&inode, message + INODE_AT, sizeof(inode));
	return head.nlmsg_type == PROF_DIAG_BY_FAMILY && message[STATE_AT] != LISTENS ? inode : 0;
}

uint64_t prof_tcp_inode(const char *near, const char *far)
{
	_Alignas(8) char text[ANSWER_BYTES];
	long n = ask(near, far, 0, text);

	return n > 0 ? prof_tcp_inode_of(text, (size_t)n) : 0;
}

/*
 * ---- all of them ------------------------------------------------------------------------------
 */

static void print_end(const uint32_t address[4], uint16_t port, bool six, char *out, size_t room)
{
	if (six)
		snprintf(out, room, "%08X%08X%08X%08X:%04X", address[0], address[1], address[2],
			 address[3], ntohs(port));
	else
		snprintf(out, room, "%08X:%04X", address[0], ntohs(port));
}

static void tell(const uint8_t *message, bool six, void (*take)(const struct prof_tcp_socket *s))
{
	struct prof_tcp_socket s = { .listens = message[STATE_AT] == LISTENS };
	struct ends ends;
	uint32_t inode;

	memcpy(&ends, message + ENDS_AT, sizeof(ends));
	memcpy(&inode, message + INODE_AT, sizeof(inode));
	if (!inode)
		return;
	s.inode = inode;
	print_end(ends.near, ends.near_port, six, s.near, sizeof(s.near));
	if (ends.far_port)
		print_end(ends.far, ends.far_port, six, s.far, sizeof(s.far));
	take(&s);
}

/* Since Linux 4.16 the end says whether the kernel could tell at all. */
static enum prof_tcp_listed end_of(const uint8_t *message, size_t bytes)
{
	int32_t error = 0;

	if (bytes >= sizeof(error))
		memcpy(&error, message, sizeof(error));
	return error < 0 ? PROF_TCP_REFUSED : PROF_TCP_ALL;
}

enum prof_tcp_listed prof_tcp_list_of(const void *answer, size_t len, bool six,
				      void (*take)(const struct prof_tcp_socket *s))
{
	const uint8_t *from = answer;
	struct nlmsghdr head;

	for (; len >= sizeof(head); len -= NLMSG_ALIGN(head.nlmsg_len)) {
		memcpy(&head, from, sizeof(head));
		if (head.nlmsg_len < sizeof(head) || head.nlmsg_len > len)
			return PROF_TCP_REFUSED;
		if (head.nlmsg_type == NLMSG_DONE)
			return end_of(from + sizeof(head), head.nlmsg_len - sizeof(head));
		if (head.nlmsg_type != PROF_DIAG_BY_FAMILY ||
		    head.nlmsg_len < sizeof(head) + MESSAGE_BYTES)
			return PROF_TCP_REFUSED;
		tell(from + sizeof(head), six, take);
		if (NLMSG_ALIGN(head.nlmsg_len) >= len)
			break;
		from += NLMSG_ALIGN(head.nlmsg_len);
	}
	return PROF_TCP_MORE;
}

static bool send_list(int fd, bool six)
{
	struct request r = {
		.head = { .nlmsg_len = sizeof(r),
			  .nlmsg_type = PROF_DIAG_BY_FAMILY,
			  .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		.family = six ? AF_INET6 : AF_INET,
		.protocol = TCP_PROTOCOL,
		.states = ~OVER,
	};

	return syscall(SYS_sendto, fd, &r, sizeof(r), MSG_DONTWAIT, NULL, 0) == sizeof(r);
}

/* The kernel goes on with the list in each read, in the time of who reads. */
enum prof_tcp_listed prof_tcp_list(bool six, int64_t cpu_ns,
				   void (*take)(const struct prof_tcp_socket *s))
{
	int64_t until = prof_cpu_ns() + cpu_ns;
	int fd = prof_diag_open();
	enum prof_tcp_listed listed = PROF_TCP_MORE;
	_Alignas(8) char text[LIST_BYTES];
	long n;

	if (fd < 0)
		return PROF_TCP_REFUSED;
	if (!send_list(fd, six))
		listed = PROF_TCP_REFUSED;
	while (listed == PROF_TCP_MORE && prof_cpu_ns() < until) {
		n = syscall(SYS_recvfrom, fd, text, sizeof(text), MSG_DONTWAIT, NULL, NULL);
		listed = n > 0 ? prof_tcp_list_of(text, (size_t)n, six, take) : PROF_TCP_REFUSED;
	}
	syscall(SYS_close, fd);
	return listed;
}
