/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fork, a pipe, and a bounded line through it.
 */
#include "apart.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/files.h"
#include "core/confine.h"
#include "core/log.h"
#include "job/find.h"

#define FDS_MAX 65536 /* where the kernel cannot close all that are open */
#define FAILED 2 /* exit status: it was said why */

static void confine(const struct fleet_apart *how)
{
	char *folder = view_job_reads(how->run), *own = view_confine_folder(how->run, false);
	const char *const read[] = { folder };
	struct view_confine c = { .read = read, .reads = folder ? 1 : 0 };

	c.write = how->writes ? own : NULL;
	view_confine(&c);
	free(folder);
	free(own);
}

/* The store may be open already. The number that @to has now. */
static int keep_alone(int to)
{
	const int first = STDERR_FILENO + 1;

	if (dup2(to, first) < 0)
		_exit(FAILED);
	if (syscall(SYS_close_range, first + 1, ~0U, 0))
		for (int fd = first + 1; fd < FDS_MAX; fd++)
			close(fd);
	return first;
}

/* It ends with us, whatever ends us. */
static _Noreturn void make(const struct fleet_apart *how, struct fleet_digest *d, pid_t parent,
			   int to)
{
	char *text = NULL;
	int err;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(FAILED);
	to = keep_alone(to);
	confine(how);
	err = how->make(d, how->arg);
	if (!err)
		text = fleet_digest_write(d);
	if (!err && !text)
		view_error("%s: %s", how->run, strerror(ENOMEM));
	if (!text || base_write_all(to, text, strlen(text)))
		err = -EIO;
	fflush(stderr);
	_exit(err ? FAILED : 0);
}

/* How many bytes came, of @room; what would be more than a digest is none. */
static size_t read_all(int from, char *text, size_t room)
{
	size_t len = 0;
	ssize_t n;

	while (len < room &&
	       ((n = read(from, text + len, room - len)) > 0 || (n < 0 && errno == EINTR)))
		len += n > 0 ? (size_t)n : 0;
	return len;
}

static int wait_for(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static int take(struct fleet_digest *d, const char *run, const char *text, size_t len)
{
	const char *why = NULL;
	int err = len > FLEET_DIGEST_BYTES_MAX ? -EBADMSG : fleet_digest_read(d, text, len, &why);

	if (err)
		view_error("%s: what was made of it is not a digest: %s", run,
			   why ? why : "it is too long");
	return err;
}

int fleet_apart(struct fleet_digest *d, const struct fleet_apart *how, int *ended_by)
{
	char text[FLEET_DIGEST_BYTES_MAX + 1];
	pid_t parent = getpid(), pid;
	int ends[2], status;
	size_t len;

	*ended_by = 0;
	if (pipe(ends))
		return -errno;
	fflush(NULL);
	pid = fork();
	if (!pid) {
		close(ends[0]);
		make(how, d, parent, ends[1]);
	}
	close(ends[1]);
	len = pid < 0 ? 0 : read_all(ends[0], text, sizeof(text));
	close(ends[0]);
	if (pid < 0) {
		view_error("%s: cannot start a process: %s", how->run, strerror(errno));
		return -EAGAIN;
	}
	status = wait_for(pid);
	if (WIFSIGNALED(status)) {
		*ended_by = WTERMSIG(status);
		view_error("%s: its digest was ended by signal %d", how->run, *ended_by);
		return -EINTR;
	}
	return WEXITSTATUS(status) ? -EBADMSG : take(d, how->run, text, len);
}
