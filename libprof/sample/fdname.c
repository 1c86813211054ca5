/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /proc/PID/fd, /proc/PID/fdinfo.
 */
#include "fdname.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/procfile.h"
#include "sockname.h"

enum prof_fd_kind prof_fd_kind_of(const char *link)
{
	if (!strncmp(link, "pipe:", 5))
		return PROF_FD_PIPE;
	if (!strncmp(link, "socket:", 7))
		return PROF_FD_SOCKET;
	if (!strncmp(link, "/dev/nvidia", 11) || !strcmp(link, "/dev/dxg")) /* WSL has the latter */
		return PROF_FD_NVIDIA;
	if (!strncmp(link, "/dev/", 5) && strncmp(link, "/dev/shm/", 9))
		return PROF_FD_DEVICE;
	return *link == '/' ? PROF_FD_FILE : PROF_FD_OTHER;
}

static void fd_path(char *out, size_t room, pid_t pid, const char *folder, int fd)
{
	if (pid)
		snprintf(out, room, "/proc/%d/%s/%d", (int)pid, folder, fd);
	else
		snprintf(out, room, "/proc/self/%s/%d", folder, fd);
}

/* The number behind a name in the text of an fdinfo file; -1: none. */
static int64_t number_of(const char *text, const char *name, int base)
{
	const char *at = strstr(text, name);

	return at ? (int64_t)strtoull(at + strlen(name), NULL, base) : -1;
}

static void look_at_file(pid_t pid, int fd, struct prof_mounts *m, struct prof_fd *found)
{
	const struct prof_mount *mount;
	char path[64], text[512];
	int64_t inode;

	fd_path(path, sizeof(path), pid, "fdinfo", fd);
	if (prof_proc_read(path, text, sizeof(text)) < 0)
		return;
	mount = prof_mounts_id(m, prof_fdinfo_mount(text));
	found->fs = mount ? mount->type : "";
	inode = number_of(text, "\nino:", 10); /* since Linux 5.14 */
	found->inode = inode > 0 ? (uint64_t)inode : 0;
}

unsigned int prof_fd_ends(pid_t pid, int fd)
{
	char path[64], text[512];
	int64_t flags;

	fd_path(path, sizeof(path), pid, "fdinfo", fd);
	if (prof_proc_read(path, text, sizeof(text)) < 0)
		return 0;
	flags = number_of(text, "\nflags:", 8);
	if (flags < 0)
		return 0;
	return (flags & O_ACCMODE) == O_RDONLY	 ? PROF_FD_READS
	       : (flags & O_ACCMODE) == O_WRONLY ? PROF_FD_WRITES
						 : PROF_FD_READS | PROF_FD_WRITES;
}

/* The number in "pipe:[123]". */
static uint64_t pipe_inode(const char *link)
{
	return strncmp(link, "pipe:[", 6) ? 0 : strtoull(link + 6, NULL, 10);
}

struct prof_fd prof_fd_look(pid_t pid, int fd, struct prof_mounts *m, char *name, size_t room)
{
	struct prof_fd found = { .kind = PROF_FD_UNKNOWN, .fs = "" };
	char path[64];

	*name = 0;
	fd_path(path, sizeof(path), pid, "fd", fd);
	if (fd < 0 || prof_proc_link(path, name, room) < 0)
		return found;
	found.kind = prof_fd_kind_of(name);
	if (found.kind == PROF_FD_PIPE) {
		found.inode = pipe_inode(name);
		snprintf(name, room, "pipe");
	} else if (found.kind == PROF_FD_SOCKET) {
		found.inode = prof_socket_inode(name);
		prof_socket_met(found.inode, path);
		prof_socket_name(found.inode, name, room);
	} else if (found.kind == PROF_FD_FILE) {
		look_at_file(pid, fd, m, &found);
	}
	return found;
}

void prof_fd_link(const struct prof_fd *f, bool fifo, char id[PROF_LINK_ID])
{
	uint64_t peer;

	*id = 0;
	if (f->inode && (f->kind == PROF_FD_PIPE || (f->kind == PROF_FD_FILE && fifo)))
		prof_link_pipe(id, f->inode);
	else if (f->kind == PROF_FD_SOCKET)
		prof_socket_link(f->inode, id, &peer);
}
