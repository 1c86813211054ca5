/* SPDX-License-Identifier: Apache-2.0 */
/* What a process that has given up everything but its run can still do, and what not. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/confine.h"
#include "harness.h"

static char run[64], other[64];

static const char *in(const char *folder, const char *name)
{
	static char path[4][128];
	static int at;

	at = (at + 1) % 4;
	snprintf(path[at], sizeof(path[at]), "%s/%s", folder, name);
	return path[at];
}

static int opens(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static void make(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	REQUIRE(fd >= 0);
	close(fd);
}

static void look_at_files(void)
{
	EXPECT_INT(opens(in(run, "trace"), O_RDONLY), 0);
	EXPECT_INT(opens("/usr/bin/env", O_RDONLY), 0);
	EXPECT_INT(opens(in(other, "secret"), O_RDONLY), -EACCES);
	EXPECT_INT(opens("/etc/passwd", O_RDONLY), -EACCES);
	EXPECT_INT(opens("/proc/1/environ", O_RDONLY), -EACCES);
	EXPECT_INT(opens(in(run, "page"), O_WRONLY | O_CREAT), 0);
	EXPECT_INT(rename(in(run, "page"), in(run, "page.html")), 0);
	EXPECT_INT(opens(in(other, "page"), O_WRONLY | O_CREAT), -EACCES);
	EXPECT_INT(unlink(in(other, "secret")), -1);
	EXPECT_INT(symlink("/etc/passwd", in(run, "link")), -1);
}

static void look_at_calls(void)
{
	struct rlimit r;

	EXPECT_INT(socket(AF_INET, SOCK_STREAM, 0), -1);
	EXPECT_INT(errno, EPERM);
	EXPECT_INT(socket(AF_UNIX, SOCK_STREAM, 0), -1);
	EXPECT_INT(execl("/bin/true", "true", NULL), -1);
	EXPECT_INT(kill(getppid(), 0), -1);
	EXPECT(!getrlimit(RLIMIT_AS, &r) && r.rlim_max == VIEW_CONFINE_MEMORY);
}

static void child(void)
{
	const char *const read[] = { run, "/no/such/folder" };
	struct view_confine c = { .read = read, .reads = 2, .write = run };
	bool files = view_confine(&c);

	if (opens("/proc/self/status", O_RDONLY) == 0 && socket(AF_INET, SOCK_STREAM, 0) >= 0)
		printf("not confined: a sanitizer, or a kernel without either\n");
	else
		look_at_calls();
	if (files)
		look_at_files();
	else
		printf("files are not confined\n");
	exit(t_failures != 0);
}

static void test_confined(void)
{
	int status = -1;
	pid_t pid;

	snprintf(run, sizeof(run), "/tmp/gs-confine-run-%d", getpid());
	snprintf(other, sizeof(other), "/tmp/gs-confine-other-%d", getpid());
	REQUIRE(!mkdir(run, 0700) && !mkdir(other, 0700));
	make(in(run, "trace"));
	make(in(other, "secret"));
	pid = fork();
	REQUIRE(pid >= 0);
	if (!pid)
		child();
	EXPECT(waitpid(pid, &status, 0) == pid && status == 0);
	unlink(in(run, "trace"));
	unlink(in(run, "page.html"));
	unlink(in(other, "secret"));
	rmdir(run);
	rmdir(other);
}

int main(void)
{
	return RUN(test_confined);
}
