/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request by inode. The structures are those of linux/unix_diag.h, which an old system's
 * headers may lack.
 */
#include "sockpeer.h"

#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DIAG_PROTOCOL 4 /* NETLINK_SOCK_DIAG */
#define SHOW_PEER 4u
#define ATTRIBUTE_PEER 2u
#define ANSWER_BYTES 1024u

struct request {
	struct nlmsghdr head;
	uint8_t family, protocol;
	uint16_t pad;
	uint32_t states, inode, show, cookie[2];
};

struct answer {
	uint8_t family, type, state, pad;
	uint32_t inode, cookie[2];
};

struct attribute {
	uint16_t len, type;
};

const void *prof_diag_attribute(const void *answer, size_t len, size_t message, uint16_t type,
				size_t *bytes)
{
	const char *from = answer;
	struct nlmsghdr head;
	struct attribute a;
	size_t at = sizeof(head) + message;

	if (len < at)
		return NULL;
	memcpy(&head, from, sizeof(head));
	if (head.nlmsg_type != PROF_DIAG_BY_FAMILY || head.nlmsg_len > len)
		return NULL;
	for (; at + sizeof(a) <= head.nlmsg_len; at += (a.len + 3u) & ~3u) {
		memcpy(&a, from + at, sizeof(a));
		if (a.len < sizeof(a) || at + a.len > head.nlmsg_len)
			return NULL;
		if (a.type != type)
			continue;
		*bytes = a.len - sizeof(a);
		return from + at + sizeof(a);
	}
	return NULL;
}

uint64_t prof_unix_peer_of(const void *answer, size_t len)
{
	size_t bytes;
	const void *at =
		prof_diag_attribute(answer, len, sizeof(struct answer), ATTRIBUTE_PEER, &bytes);
	uint32_t peer;

	if (!at || bytes != sizeof(peer))
		return 0;
	memcpy(&peer, at, sizeof(peer));
	return peer;
}

int prof_diag_open(void)
{
	return (int)syscall(SYS_socket, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, DIAG_PROTOCOL);
}

long prof_diag_ask(const void *request, size_t len, void *answer, size_t room)
{
	int fd = prof_diag_open();
	long n = -1;

	if (fd < 0)
		return -1;
	if (syscall(SYS_sendto, fd, request, len, MSG_DONTWAIT, NULL, 0) == (long)len)
		n = syscall(SYS_recvfrom, fd, answer, room, MSG_DONTWAIT, NULL, NULL);
	syscall(SYS_close, fd);
	return n;
}

uint64_t prof_unix_peer(uint64_t inode)
{
	struct request r = {
		.head = { .nlmsg_len = sizeof(r),
			  .nlmsg_type = PROF_DIAG_BY_FAMILY,
			  .nlmsg_flags = NLM_F_REQUEST },
		.family = AF_UNIX,
		.states = UINT32_MAX,
		.inode = (uint32_t)inode,
		.show = SHOW_PEER,
		.cookie = { UINT32_MAX, UINT32_MAX },
	};
	_Alignas(8) char text[ANSWER_BYTES];
	long n;

	if (!inode || inode > UINT32_MAX)
		return 0;
	n = prof_diag_ask(&r, sizeof(r), text, sizeof(text));
	return n > 0 ? prof_unix_peer_of(text, (size_t)n) : 0;
}
