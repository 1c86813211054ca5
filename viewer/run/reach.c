/* SPDX-License-Identifier: Apache-2.0 */
#include "reach.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if __has_include(<linux/openat2.h>)
#include <linux/openat2.h>
#endif

#define GROUPS_MAX 64
#define HANG_UP_MS 700 /* a collector that is at work has looked at a connection by then */
#define MOST_S 5
#define FD_PATH 32
#define DOORS 32
#define DOOR_S 60

struct rights {
	uid_t uid;
	gid_t gid, group[GROUPS_MAX];
	size_t groups;
	uint64_t capabilities;
};

const char *view_reach_socket(const struct view_process *p)
{
	const char *path = view_process_env(p, "GPUSTARVE_SOCKET");

	return path ? path : "";
}

const char *view_reach_out(const struct view_process *p)
{
	const char *path = view_process_env(p, "GPUSTARVE_OUT");

	return path && path[0] ? path : "gpustarve-runs";
}

/* ---- who it is ---- */

static void take_line(struct rights *r, const char *line)
{
	unsigned int effective;
	char *end;

	if (sscanf(line, "Uid: %*u %u", &effective) == 1)
		r->uid = effective;
	else if (sscanf(line, "Gid: %*u %u", &effective) == 1)
		r->gid = effective;
	else if (!strncmp(line, "CapEff:", 7))
		r->capabilities = strtoull(line + 7, NULL, 16);
	else if (!strncmp(line, "Groups:", 7))
		for (const char *at = line + 7; r->groups < GROUPS_MAX; at = end) {
			unsigned long group = strtoul(at, &end, 10);

			if (end == at)
				return;
			r->group[r->groups++] = (gid_t)group;
		}
}

static int read_rights(pid_t pid, struct rights *r)
{
	char path[64], line[4096];
	FILE *f;

	*r = (struct rights){ .uid = (uid_t)-1 };
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f))
		take_line(r, line);
	fclose(f);
	return r->uid == (uid_t)-1 ? -ESRCH : 0;
}

/* Root in a container mostly has fewer capabilities than we have. */
static int drop_capabilities(uint64_t keep)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &head, data))
		return -errno;
	for (int i = 0; i < 2; i++) {
		data[i].permitted &= (uint32_t)(keep >> (32 * i));
		data[i].effective = data[i].permitted;
		data[i].inheritable = 0;
	}
	return syscall(SYS_capset, &head, data) ? -errno : 0;
}

static int become(const struct rights *r)
{
	if (geteuid())
		return geteuid() == r->uid ? 0 : -EACCES;
	if (setgroups(r->groups, r->group) || setresgid(r->gid, r->gid, r->gid) ||
	    setresuid(r->uid, r->uid, r->uid))
		return -errno;
	/* Else /proc/self/fd is root's. */
	prctl(PR_SET_DUMPABLE, 1);
	return r->uid ? 0 : drop_capabilities(r->capabilities);
}

/* ---- where it is ---- */

struct place {
	int root, folder;
	uid_t uid;
	bool welcome; /* its user was taken in there a moment ago */
};

static int open_place(struct place *at, pid_t pid, uid_t uid, bool welcome)
{
	char path[64];

	*at = (struct place){ .uid = uid, .welcome = welcome };
	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	at->root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (at->root < 0)
		return -errno;
	snprintf(path, sizeof(path), "/proc/%d/cwd", (int)pid);
	at->folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return 0;
}

/* By kernels before 5.6 and filters that do not know of it, absolute links lead to our own root. */
static int open_simply(const struct place *at, const char *path, int flags)
{
	bool absolute = path[0] == '/';
	int fd;

	path += absolute ? strspn(path, "/") : 0;
	fd = openat(absolute ? at->root : at->folder, path[0] ? path : ".", flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Links lead where they lead for it. A folder of its own is looked up from where that is. */
static int open_at(const struct place *at, const char *path, int flags)
{
#ifdef SYS_openat2
	struct open_how how = { .flags = (uint64_t)flags | O_CLOEXEC,
				.resolve = path[0] == '/' ? RESOLVE_IN_ROOT : 0 };
	int fd = (int)syscall(SYS_openat2, path[0] == '/' ? at->root : at->folder, path, &how,
			      sizeof(how));

	if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
		return fd < 0 ? -errno : fd;
#endif
	return open_simply(at, path, flags);
}

static void fd_path(char path[FD_PATH], int fd)
{
	snprintf(path, FD_PATH, "/proc/self/fd/%d", fd);
}

/* ---- the collector ---- */

/* One that takes only its own user's closes the connection without a word. */
static int hangs_up(int fd, const struct place *at)
{
	struct ucred peer = { .uid = at->uid };
	socklen_t len = sizeof(peer);
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLRDHUP };

	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len);
	if (at->welcome || !at->uid || peer.uid == at->uid || poll(&p, 1, HANG_UP_MS) <= 0)
		return 0;
	return p.revents & (POLLRDHUP | POLLHUP | POLLERR) ? -EPERM : 0;
}

static int try_collector(const struct place *at, const char *socket_path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int file, fd, err = 0;

	if (socket_path[0] != '/')
		return -ENOTSOCK;
	file = open_at(at, socket_path, O_PATH);
	if (file < 0)
		return file;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	fd_path(a.sun_path, file);
	if (!connect(fd, (struct sockaddr *)&a, sizeof(a)))
		err = hangs_up(fd, at);
	else if (errno != EAGAIN) /* many at once: it listens */
		err = -errno;
	close(fd);
	close(file);
	return err;
}

/* ---- spool files ---- */

/* Root may write to these by their bits, and can make nothing there. */
static bool takes_files(int fd)
{
	struct statfs s;

	return fstatfs(fd, &s) ||
	       (s.f_type != PROC_SUPER_MAGIC && s.f_type != SYSFS_MAGIC &&
		s.f_type != CGROUP2_SUPER_MAGIC && s.f_type != CGROUP_SUPER_MAGIC);
}

static int try_folder(const struct place *at, const char *path)
{
	char name[FD_PATH];
	int fd = open_at(at, path, O_PATH | O_DIRECTORY), err = 0;

	if (fd < 0)
		return fd;
	fd_path(name, fd);
	if (access(name, W_OK | X_OK))
		err = -errno;
	else if (!takes_files(fd))
		err = -ENOENT;
	close(fd);
	return err;
}

/* The run's folder, else the one in which it would be made, else the one above that. */
static int try_spool(const struct place *at, const char *out, const char *run_id)
{
	char path[PATH_MAX], *slash;
	int err = -ENOENT;

	if (run_id && run_id[0] && !strchr(run_id, '/') &&
	    snprintf(path, sizeof(path), "%s/%s.gst", out, run_id) < (int)sizeof(path))
		err = try_folder(at, path);
	if (err == -ENOENT)
		err = try_folder(at, out);
	if (err != -ENOENT || snprintf(path, sizeof(path), "%s", out) >= (int)sizeof(path))
		return err;
	for (size_t n = strlen(path); n > 1 && path[n - 1] == '/'; n--)
		path[n - 1] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return try_folder(at, ".");
	slash[slash == path] = '\0';
	return try_folder(at, path);
}

/* ---- all of it ---- */

static int try_library(const struct place *at, const char *path)
{
	int fd = path[0] ? open_at(at, path, O_RDONLY | O_NONBLOCK | O_NOCTTY) : -ENOENT;

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/*
 * Of the processes of a job each would have to wait for a collector that does not hang up: who was
 * taken in where is remembered for a while.
 */
struct door {
	dev_t device; /* of the root in which */
	ino_t root;
	uid_t uid;
	char socket[sizeof(((struct sockaddr_un *)0)->sun_path)];
	time_t seen;
};

static struct door doors[DOORS];
static size_t next_door;

/* Which one it is; false: that cannot be told. */
static bool find_door(const struct view_process *p, struct door *d)
{
	char path[64];
	struct stat st;

	*d = (struct door){ .seen = time(NULL) };
	snprintf(path, sizeof(path), "/proc/%d", (int)p->pid);
	if (stat(path, &st) || strlen(view_reach_socket(p)) >= sizeof(d->socket))
		return false;
	d->uid = st.st_uid;
	strcpy(d->socket, view_reach_socket(p));
	snprintf(path, sizeof(path), "/proc/%d/root/", (int)p->pid);
	if (stat(path, &st))
		return false;
	d->device = st.st_dev;
	d->root = st.st_ino;
	return true;
}

static bool is_open(const struct door *d)
{
	for (size_t i = 0; i < DOORS; i++) {
		const struct door *o = &doors[i];

		if (o->device == d->device && o->root == d->root && o->uid == d->uid &&
		    !strcmp(o->socket, d->socket) && d->seen - o->seen <= DOOR_S)
			return true;
	}
	return false;
}

static _Noreturn void look(const struct view_process *p, const char *library, bool welcome, int to)
{
	struct view_reach r = { 0 };
	struct rights rights;
	struct place at;
	int err = read_rights(p->pid, &rights);

	alarm(MOST_S);
	if (!err)
		err = open_place(&at, p->pid, rights.uid, welcome);
	if (!err)
		err = become(&rights);
	if (!err) {
		r.library = try_library(&at, library);
		r.collector = try_collector(&at, view_reach_socket(p));
		r.spool =
			try_spool(&at, view_reach_out(p), view_process_env(p, "GPUSTARVE_RUN_ID"));
	}
	if (write(to, &err, sizeof(err)) != sizeof(err) || write(to, &r, sizeof(r)) != sizeof(r))
		_exit(1);
	_exit(0);
}

int view_reach_look(const struct view_process *p, const char *library, struct view_reach *r)
{
	int answer[2], err, got;
	struct door door;
	bool known = find_door(p, &door), welcome = known && is_open(&door);
	pid_t child;

	if (pipe2(answer, O_CLOEXEC))
		return -errno;
	child = fork();
	if (!child)
		look(p, library, welcome, answer[1]);
	got = child < 0 ? -errno : -EIO;
	close(answer[1]);
	if (child > 0 && read(answer[0], &err, sizeof(err)) == sizeof(err))
		got = err || read(answer[0], r, sizeof(*r)) == sizeof(*r) ? err : -EIO;
	close(answer[0]);
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	if (!got && !r->collector && known && !welcome)
		doors[next_door++ % DOORS] = door;
	return got;
}
