/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /proc/PID/fd, /proc/PID/fdinfo.
 */
#include "fdname.h"

#include <stdio.h>
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

static const char *fs_of(pid_t pid, int fd, struct prof_mounts *m)
{
	const struct prof_mount *mount;
	char path[64], text[512];

	fd_path(path, sizeof(path), pid, "fdinfo", fd);
	if (prof_proc_read(path, text, sizeof(text)) < 0)
		return "";
	mount = prof_mounts_id(m, prof_fdinfo_mount(text));
	return mount ? mount->type : "";
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
	if (found.kind == PROF_FD_PIPE)
		snprintf(name, room, "pipe");
	else if (found.kind == PROF_FD_SOCKET)
		prof_socket_name(prof_socket_inode(name), name, room);
	else if (found.kind == PROF_FD_FILE)
		found.fs = fs_of(pid, fd, m);
	return found;
}
