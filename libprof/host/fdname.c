/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /proc/PID/fd, /proc/PID/fdinfo, getpeername.
 */
#include "fdname.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "ownfds.h"
#include "procfile.h"

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un local;
};

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

static void name_address(const union address *a, socklen_t len, char *name, size_t room)
{
	char text[INET6_ADDRSTRLEN] = "";

	switch (a->any.sa_family) {
	case AF_INET:
		inet_ntop(AF_INET, &a->v4.sin_addr, text, sizeof(text));
		snprintf(name, room, "socket:%s:%u", text, ntohs(a->v4.sin_port));
		break;
	case AF_INET6:
		inet_ntop(AF_INET6, &a->v6.sin6_addr, text, sizeof(text));
		snprintf(name, room, "socket:[%s]:%u", text, ntohs(a->v6.sin6_port));
		break;
	case AF_UNIX:
		if (len > offsetof(struct sockaddr_un, sun_path) && a->local.sun_path[0])
			snprintf(name, room, "socket:%.*s", (int)sizeof(a->local.sun_path),
				 a->local.sun_path);
		else
			snprintf(name, room, "socket:unix");
		break;
	default:
		snprintf(name, room, "socket");
	}
}

/* A descriptor of another process cannot be asked; one of another table must be borrowed. */
static void name_socket(pid_t pid, int fd, char *name, size_t room)
{
	union address a = { .any.sa_family = AF_UNSPEC };
	int mine = pid ? -1 : prof_ownfds() ? prof_ownfds_borrow(fd) : fd;
	socklen_t len = sizeof(a);

	if (mine < 0 || syscall(SYS_getpeername, mine, &a, &len))
		snprintf(name, room, "socket");
	else
		name_address(&a, len, name, room);
	if (mine >= 0 && mine != fd)
		syscall(SYS_close, mine);
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
		name_socket(pid, fd, name, room);
	else if (found.kind == PROF_FD_FILE)
		found.fs = fs_of(pid, fd, m);
	return found;
}
