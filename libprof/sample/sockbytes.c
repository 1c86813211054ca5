/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request by both addresses. The structures are those of linux/inet_diag.h and linux/tcp.h, which an old
 * system's headers may lack.
 */
#include "sockbytes.h"

#include <arpa/inet.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "sockpeer.h"

#define TCP_PROTOCOL 6
#define ATTRIBUTE_INFO 2u
#define MESSAGE_BYTES 72u /* struct inet_diag_msg */
#define STATE_AT 1u /* in it */
#define INODE_AT 68u
#define LISTENS 10u
#define RECEIVED_AT 128u /* tcpi_bytes_received */
#define ANSWER_BYTES 2048u

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
