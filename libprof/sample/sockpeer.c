/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request by inode. The structures are those of linux/unix_diag.h, which an old system's headers
 * may lack.
 */
#include "sockpeer.h"

#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DIAG_PROTOCOL 4 /* NETLINK_SOCK_DIAG */
#define DIAG_BY_FAMILY 20
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

uint64_t prof_unix_peer_of(const void *answer, size_t len)
{
	const char *from = answer;
	struct nlmsghdr head;
	struct attribute a;
	size_t at = sizeof(head) + sizeof(struct answer);
	uint32_t peer;

	if (len < at)
		return 0;
	memcpy(&head, from, sizeof(head));
	if (head.nlmsg_type != DIAG_BY_FAMILY || head.nlmsg_len > len)
		return 0;
	while (at + sizeof(a) + sizeof(peer) <= head.nlmsg_len) {
		memcpy(&a, from + at, sizeof(a));
		if (a.len < sizeof(a))
			return 0;
		if (a.type == ATTRIBUTE_PEER && a.len == sizeof(a) + sizeof(peer)) {
			memcpy(&peer, from + at + sizeof(a), sizeof(peer));
			return peer;
		}
		at += (a.len + 3u) & ~3u;
	}
	return 0;
}

long prof_diag_ask(const void *request, size_t len, void *answer, size_t room)
{
	long fd = syscall(SYS_socket, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, DIAG_PROTOCOL), n = -1;

	if (fd < 0)
		return -1;
	if (syscall(SYS_sendto, (int)fd, request, len, MSG_DONTWAIT, NULL, 0) == (long)len)
		n = syscall(SYS_recvfrom, (int)fd, answer, room, MSG_DONTWAIT, NULL, NULL);
	syscall(SYS_close, (int)fd);
	return n;
}

uint64_t prof_unix_peer(uint64_t inode)
{
	struct request r = {
		.head = { .nlmsg_len = sizeof(r),
			  .nlmsg_type = DIAG_BY_FAMILY,
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
