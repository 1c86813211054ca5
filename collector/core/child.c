/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fork, a pipe and a pidfd per child.
 */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "clock.h"

#define NICENESS 10
#define CHILD_FDS 1024
#define CANNOT_START 127
#define READS_PER_TURN 16

/* A sanitizer reserves more address space than any limit allows. */
#if defined(__SANITIZE_ADDRESS__)
#define LIMIT_MEMORY 0
#elif defined(__has_feature)
#define LIMIT_MEMORY !__has_feature(address_sanitizer)
#else
#define LIMIT_MEMORY 1
#endif

struct coll_child {
	struct coll_children *all;
	struct coll_child *next, **link;
	struct coll_source process; /* pidfd; -1: asked at each tick */
	struct coll_source pipe; /* -1: at its end */
	pid_t pid;
	coll_child_done *done;
	coll_child_line *line; /* NULL: output is kept */
	void *owner; /* NULL with done: nobody wants to know */
	int64_t deadline_ns; /* monotonic; 0: none */
	bool timed_out, output_cut;
	char *output;
	size_t output_len, output_max;
};

void coll_children_init(struct coll_children *all, struct coll_loop *loop)
{
	*all = (struct coll_children){ .loop = loop };
}

static void limit(int what, uint64_t value)
{
	struct rlimit r = { .rlim_cur = (rlim_t)value, .rlim_max = (rlim_t)value };

	setrlimit(what, &r);
}

/* In the new process, up to its own work. Locks of the parent's files must not live on in it. */
static void become(const struct coll_child_plan *plan, int pipe_fd, pid_t parent)
{
	int null = open("/dev/null", O_RDWR);
	sigset_t none;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(CANNOT_START);
	dup2(plan->stdin_fd ? plan->stdin_fd : null, STDIN_FILENO);
	dup2(plan->stderr_kept ? null : pipe_fd, STDOUT_FILENO);
	if (plan->stderr_kept)
		dup2(pipe_fd, STDERR_FILENO);
	if (syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0))
		for (int fd = STDERR_FILENO + 1; fd < CHILD_FDS * 64; fd++)
			close(fd);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (setpriority(PRIO_PROCESS, 0, NICENESS))
		errno = 0; /* no reason not to run */
	limit(RLIMIT_CORE, 0);
	if (plan->argv)
		limit(RLIMIT_NOFILE, CHILD_FDS);
	if (plan->timeout_s)
		limit(RLIMIT_CPU, (uint64_t)plan->timeout_s + 1);
	if (LIMIT_MEMORY && plan->memory)
		limit(RLIMIT_AS, plan->memory);
	if (plan->file_bytes)
		limit(RLIMIT_FSIZE, plan->file_bytes);
}

__attribute__((noreturn)) static void child_main(const struct coll_child_plan *plan, int pipe_fd,
						 pid_t parent)
{
	become(plan, pipe_fd, parent);
	if (!plan->argv)
		_exit(plan->work(plan->arg));
	execv(plan->argv[0], (char *const *)plan->argv);
	dprintf(STDERR_FILENO, "%s: %s\n", plan->argv[0], strerror(errno));
	_exit(CANNOT_START);
}

static void close_source(struct coll_children *all, struct coll_source *s)
{
	if (s->fd < 0)
		return;
	coll_loop_remove(all->loop, s);
	close(s->fd);
	s->fd = -1;
}

static void child_free(struct coll_child *c)
{
	close_source(c->all, &c->process);
	close_source(c->all, &c->pipe);
	*c->link = c->next;
	if (c->next)
		c->next->link = c->link;
	c->all->count--;
	free(c->output);
	free(c);
}

static void keep_output(struct coll_child *c, const char *bytes, size_t len)
{
	size_t room = c->output_max - c->output_len, n = len < room ? len : room;

	memcpy(c->output + c->output_len, bytes, n);
	c->output_len += n;
	c->output[c->output_len] = '\0';
	c->output_cut |= n < len;
}

/* Only the line that is not whole yet is kept. */
static void hand_on_lines(struct coll_child *c, const char *bytes, size_t len)
{
	const char *end = bytes + len, *eol;

	for (; (eol = memchr(bytes, '\n', (size_t)(end - bytes))); bytes = eol + 1) {
		keep_output(c, bytes, (size_t)(eol - bytes));
		c->output_len = 0;
		c->line(c->owner, c->output);
	}
	keep_output(c, bytes, (size_t)(end - bytes));
}

static void read_output(struct coll_child *c, int reads)
{
	char bytes[16384];
	ssize_t n = 1;

	while (c->pipe.fd >= 0 && reads--) {
		n = read(c->pipe.fd, bytes, sizeof(bytes));
		if (n <= 0)
			break;
		if (c->line)
			hand_on_lines(c, bytes, (size_t)n);
		else
			keep_output(c, bytes, (size_t)n);
	}
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		close_source(c->all, &c->pipe);
}

static void on_pipe(struct coll_source *s, uint32_t events)
{
	(void)events;
	read_output((struct coll_child *)((char *)s - offsetof(struct coll_child, pipe)),
		    READS_PER_TURN);
}

/* Reaps it if it has ended. Its own children, if it left any, end with it. */
static bool reap(struct coll_child *c, int flags)
{
	struct coll_child_end end = { .status = 0 };
	coll_child_done *done = c->done;
	void *owner = c->owner;
	char *output;

	if (waitpid(c->pid, &end.status, flags) != c->pid)
		return false;
	kill(-c->pid, SIGKILL);
	read_output(c, 1 << 16);
	end.timed_out = c->timed_out;
	end.output_cut = c->output_cut;
	end.output = output = c->output;
	end.output_len = c->output_len;
	c->output = NULL;
	child_free(c);
	if (done)
		done(owner, &end);
	free(output);
	return true;
}

static void on_process(struct coll_source *s, uint32_t events)
{
	(void)events;
	reap((struct coll_child *)((char *)s - offsetof(struct coll_child, process)), WNOHANG);
}

static void watch(struct coll_child *c, int pipe_fd)
{
	struct coll_loop *loop = c->all->loop;

	c->pipe = (struct coll_source){ .fd = pipe_fd, .ready = on_pipe };
	if (coll_loop_add(loop, &c->pipe, EPOLLIN)) {
		close(c->pipe.fd);
		c->pipe.fd = -1;
	}
	c->process.ready = on_process;
	c->process.fd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	if (c->process.fd < 0)
		return;
	fcntl(c->process.fd, F_SETFD, FD_CLOEXEC);
	if (coll_loop_add(loop, &c->process, EPOLLIN)) {
		close(c->process.fd);
		c->process.fd = -1;
	}
}

static void put_in_list(struct coll_children *all, struct coll_child *c)
{
	c->all = all;
	c->next = all->first;
	c->link = &all->first;
	if (c->next)
		c->next->link = &c->next;
	all->first = c;
	all->count++;
}

int coll_child_start(struct coll_children *all, const struct coll_child_plan *plan,
		     coll_child_done *done, void *owner)
{
	struct coll_child *c = calloc(1, sizeof(*c));
	pid_t parent = getpid();
	int fd[2], err = -ENOMEM;

	if (!c)
		return err;
	c->process.fd = c->pipe.fd = -1;
	c->output_max = plan->output_max;
	c->output = calloc(1, plan->output_max + 1);
	if (!c->output)
		goto free_child;
	if (pipe2(fd, O_CLOEXEC)) {
		err = -errno;
		goto free_child;
	}
	c->pid = fork();
	if (!c->pid)
		child_main(plan, fd[1], parent);
	err = c->pid < 0 ? -errno : 0;
	close(fd[1]);
	if (err) {
		close(fd[0]);
		goto free_child;
	}
	fcntl(fd[0], F_SETFL, O_NONBLOCK);
	c->done = done;
	c->line = plan->line;
	c->owner = owner;
	if (plan->timeout_s)
		c->deadline_ns = coll_now_ns() + plan->timeout_s * COLL_SECOND_NS;
	put_in_list(all, c);
	watch(c, fd[0]);
	return 0;
free_child:
	free(c->output);
	free(c);
	return err;
}

static void kill_group(struct coll_child *c)
{
	if (kill(-c->pid, SIGKILL)) /* it may not be a group's leader yet */
		kill(c->pid, SIGKILL);
}

void coll_children_tick(struct coll_children *all, int64_t now_ns)
{
	struct coll_child *c, *next;

	for (c = all->first; c; c = next) {
		next = c->next; /* NOLINT: what was freed is not in the list any more */
		if (c->deadline_ns && now_ns > c->deadline_ns && !c->timed_out) {
			c->timed_out = true;
			kill_group(c);
		}
		if (c->process.fd < 0 && reap(c, WNOHANG))
			next = all->first; /* done() may have changed the list */
	}
}

void coll_children_forget(struct coll_children *all, const void *owner)
{
	struct coll_child *c;

	for (c = all->first; c; c = c->next) {
		if (c->owner != owner)
			continue;
		c->done = NULL;
		c->line = NULL;
		c->owner = NULL;
		kill_group(c);
	}
}

void coll_children_fini(struct coll_children *all)
{
	while (all->first) {
		struct coll_child *c = all->first;

		c->done = NULL; /* NOLINT: as above */
		c->line = NULL;
		kill_group(c);
		if (!reap(c, 0))
			child_free(c);
	}
}

size_t coll_child_option(const char **argv, size_t n, const char *option, const char *value)
{
	if (!value || !*value)
		return n;
	argv[n] = option;
	argv[n + 1] = value;
	return n + 2;
}

bool coll_child_ok(const struct coll_child_end *end)
{
	return !end->timed_out && WIFEXITED(end->status) && !WEXITSTATUS(end->status);
}

/* The last line that is not empty. */
static size_t last_line(const struct coll_child_end *end, const char **line)
{
	size_t to = end->output_len, from;

	while (to && end->output[to - 1] == '\n')
		to--;
	for (from = to; from && end->output[from - 1] != '\n'; from--)
		;
	*line = end->output + from;
	return to - from;
}

void coll_child_why(const struct coll_child_end *end, char *out, size_t room)
{
	const char *line;
	size_t len = last_line(end, &line), at;
	int n;

	if (end->timed_out)
		n = snprintf(out, room, "it took too long");
	else if (WIFSIGNALED(end->status))
		n = snprintf(out, room, "signal %d", WTERMSIG(end->status));
	else
		n = snprintf(out, room, "exit status %d", WEXITSTATUS(end->status));
	at = n > 0 && (size_t)n < room ? (size_t)n : room - 1;
	if (len)
		snprintf(out + at, room - at, ": %.*s", (int)(len < 300 ? len : 300), line);
	for (; out[at]; at++)
		if ((unsigned char)out[at] < 0x20 || out[at] == 0x7f)
			out[at] = '?';
}

bool coll_child_beside(char out[COLL_CHILD_PATH_BYTES], const char *name)
{
	ssize_t n = readlink("/proc/self/exe", out, COLL_CHILD_PATH_BYTES - 1);
	char *slash;
	size_t room;

	if (n <= 0)
		return false;
	out[n] = '\0';
	slash = strrchr(out, '/');
	if (!slash)
		return false;
	room = COLL_CHILD_PATH_BYTES - (size_t)(slash + 1 - out);
	return snprintf(slash + 1, room, "%s", name) < (int)room && !access(out, X_OK);
}
