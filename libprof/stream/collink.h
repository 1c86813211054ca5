/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connection to the collector: a Unix stream socket, non-blocking, kept on a high descriptor.
 * A program may close every descriptor and reuse the numbers, so before each use the socket is
 * compared with what was opened; if it is another file it is left alone and counts as gone. That is
 * for where the writer, whose all of this is, has no table of descriptors of its own (writer.h).
 */
#ifndef PROF_COLLINK_H
#define PROF_COLLINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "wire/frame.h"

struct prof_link {
	char path[108];
	int fd; /* -1: down */
	dev_t device;
	ino_t inode;
	uint64_t acked; /* highest sequence number acknowledged */
	uint8_t in[WIRE_FRAME_HEADER_BYTES];
	size_t have;
};

void prof_link_init(struct prof_link *l, const char *path);
bool prof_link_up(const struct prof_link *l);
uint64_t prof_link_acked(const struct prof_link *l);

/* Connects. 0 or -errno. */
int prof_link_open(struct prof_link *l);

/* Closes it if it is still ours. */
void prof_link_close(struct prof_link *l);

/*
 * Sends some bytes: how many, -EAGAIN when the collector takes none before the deadline (monotonic
 * ns; 0 does not wait), or -errno when the connection is gone.
 */
ssize_t prof_link_send(struct prof_link *l, const uint8_t *bytes, size_t len, int64_t deadline_ns);

/* Sends all of them or fails. */
int prof_link_send_whole(struct prof_link *l, const uint8_t *bytes, size_t len,
			 int64_t deadline_ns);

/* Reads acknowledgements that have come. 0 or -errno when the connection is gone. */
int prof_link_listen(struct prof_link *l);

/* Waits until something has come. 0, -EAGAIN at the deadline (monotonic ns), -EBADF: gone. */
int prof_link_wait(struct prof_link *l, int64_t deadline_ns);

#endif
