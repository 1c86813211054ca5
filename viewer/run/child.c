/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All signals of interest are blocked from the start and read from a signalfd, which also tells
 * who sent them. Nothing is handled asynchronously.
 */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const int passed_on[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCONT };

static void our_signals(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++)
		sigaddset(set, passed_on[i]);
	sigaddset(set, SIGCHLD);
}

int view_child_prepare(struct view_child *c)
{
	struct sigaction standard = { .sa_handler = SIG_DFL };
	sigset_t set;

	*c = (struct view_child){ .signals = -1 };
	our_signals(&set);
	if (sigprocmask(SIG_BLOCK, &set, &c->mask))
		return -errno;
	/* Who started us may ignore SIGCHLD; then the kernel would not keep the status for us. */
	sigaction(SIGCHLD, &standard, &c->chld);
	c->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return c->signals < 0 ? -errno : 0;
}

static void restore_signals(const struct view_child *c)
{
	sigaction(SIGCHLD, &c->chld, NULL);
	sigprocmask(SIG_SETMASK, &c->mask, NULL);
}

static _Noreturn void become_command(const struct view_child *c, char *const *command,
				     const struct view_env *env, size_t envs, int tell)
{
	for (size_t i = 0; i < envs; i++)
		setenv(env[i].name, env[i].value, 1);
	restore_signals(c);
	execvp(command[0], command);
	int err = errno;
	if (write(tell, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(err == ENOENT ? 127 : 126);
}

/* The pipe closes when exec succeeds. */
static int read_errno(int fd)
{
	int err = 0;
	ssize_t n;

	do
		n = read(fd, &err, sizeof(err));
	while (n < 0 && errno == EINTR);
	return n == sizeof(err) ? err : 0;
}

int view_child_start(struct view_child *c, char *const *command, const struct view_env *env,
		     size_t envs)
{
	int tell[2];

	if (pipe2(tell, O_CLOEXEC))
		return -errno;
	c->pid = fork();
	if (c->pid < 0) {
		int err = -errno;
		close(tell[0]);
		close(tell[1]);
		return err;
	}
	if (!c->pid)
		become_command(c, command, env, envs, tell[1]);
	close(tell[1]);
	c->exec_errno = read_errno(tell[0]);
	close(tell[0]);
	return 0;
}

/*
 * Codes above 0 are the kernel's: the terminal signals the whole foreground group, the command
 * included. Only a hang-up goes to the session's leader alone.
 */
static bool for_the_command(const struct signalfd_siginfo *s)
{
	bool sent = s->ssi_code <= 0;

	return sent || (s->ssi_signo == SIGHUP && getsid(0) == getpid());
}

static void only(sigset_t *set, int sig)
{
	sigemptyset(set);
	sigaddset(set, sig);
}

/* Stops this process as if it had not been watching for @sig. */
static void stop_of(struct view_child *c, int sig)
{
	sigset_t set;

	if (c->watch->pause)
		c->watch->pause(c->watch->arg);
	if (sig == SIGSTOP) {
		raise(SIGSTOP);
		return;
	}
	only(&set, sig);
	raise(sig); /* kept until it is let through; one is pending at most */
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/*
 * A command that stops itself must stop us too, or the shell above waits for ever. When the
 * terminal stops the whole group the command is usually continued along with us; look twice.
 */
static void stop_along(struct view_child *c)
{
	struct timespec nap = { .tv_nsec = 20000000 };
	siginfo_t info = { 0 };

	nanosleep(&nap, NULL);
	if (!waitid(P_PID, (id_t)c->pid, &info, WSTOPPED | WNOHANG | WNOWAIT) &&
	    info.si_pid == c->pid && info.si_code == CLD_STOPPED) {
		waitid(P_PID, (id_t)c->pid, &info, WSTOPPED | WNOHANG);
		stop_of(c, c->terminal && info.si_status == SIGTSTP ? SIGTSTP : SIGSTOP);
	}
}

static void reap(struct view_child *c)
{
	int status;
	pid_t p;

	while ((p = waitpid(c->pid, &status, WNOHANG)) < 0 && errno == EINTR)
		;
	if (p == c->pid) {
		c->wait_status = status;
		c->ended = true;
		return;
	}
	siginfo_t info = { 0 };
	if (!waitid(P_PID, (id_t)c->pid, &info, WSTOPPED | WNOHANG | WNOWAIT) && info.si_pid)
		stop_along(c);
}

static void take_signals(struct view_child *c, pid_t to)
{
	struct signalfd_siginfo s;

	while (read(c->signals, &s, sizeof(s)) == (ssize_t)sizeof(s)) {
		if (s.ssi_signo == SIGTSTP)
			stop_of(c, SIGTSTP);
		else if (s.ssi_signo == SIGWINCH && c->watch->resized)
			c->watch->resized(c->watch->arg);
		if (s.ssi_signo == SIGCHLD || s.ssi_signo == SIGTSTP || s.ssi_signo == SIGWINCH ||
		    s.ssi_pid == (uint32_t)to)
			continue;
		if (for_the_command(&s))
			kill(to, (int)s.ssi_signo);
	}
}

/*
 * Signals of the terminal that only matter to somebody who draws on it. One that is ignored, or
 * caught by whoever started us, is none of our business.
 */
static void watch_terminal(struct view_child *c, const struct view_child_watch *w)
{
	struct sigaction stop;
	sigset_t set;

	if (!w->pause && !w->resized)
		return;
	our_signals(&set);
	sigaddset(&set, SIGWINCH);
	c->terminal = w->pause && !sigaction(SIGTSTP, NULL, &stop) && stop.sa_handler == SIG_DFL &&
		      !sigismember(&c->mask, SIGTSTP);
	if (c->terminal)
		sigaddset(&set, SIGTSTP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signalfd(c->signals, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void leave_terminal(struct view_child *c)
{
	sigset_t set;

	our_signals(&set);
	signalfd(c->signals, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	sigemptyset(&set);
	sigaddset(&set, SIGWINCH);
	if (c->terminal)
		sigaddset(&set, SIGTSTP);
	c->terminal = false;
	if (!sigismember(&c->mask, SIGWINCH))
		sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void view_child_wait(struct view_child *c, const struct view_child_watch *watch)
{
	static const struct view_child_watch nobody = { 0 };
	struct pollfd p = { .fd = c->signals, .events = POLLIN };

	if (!watch)
		watch = &nobody;
	c->watch = watch;
	watch_terminal(c, watch);
	reap(c);
	while (!c->ended) {
		/*
		 * Tools that start a thread in us (compute-sanitizer) take our SIGCHLD with it: the
		 * command's end is looked for each second, too.
		 */
		int n = poll(&p, 1, 1000);
		reap(c); /* first, so that no signal goes to a process that is gone */
		if (n > 0 && !c->ended) {
			take_signals(c, c->pid);
			reap(c); /* it may have ended since, and its SIGCHLD is taken */
		} else if (!n && !c->ended && watch->tick) {
			watch->tick(watch->arg);
		}
	}
	leave_terminal(c);
	c->watch = NULL;
}

/* Also Ctrl-C: what runs aside is ours, not the command. */
static void end_aside(struct view_child *c, pid_t aside)
{
	struct signalfd_siginfo s;

	while (read(c->signals, &s, sizeof(s)) == (ssize_t)sizeof(s))
		if (s.ssi_signo == SIGTERM || s.ssi_signo == SIGHUP || s.ssi_signo == SIGINT ||
		    s.ssi_signo == SIGQUIT)
			kill(aside, SIGTERM);
}

int view_child_aside(struct view_child *c, int (*work)(void *arg), void *arg)
{
	struct pollfd p = { .fd = c->signals, .events = POLLIN };
	int status = 0;
	pid_t got, pid = fork();

	if (pid < 0)
		return -1;
	if (!pid) {
		sigset_t set;
		our_signals(&set);
		signal(SIGTERM, SIG_DFL);
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		exit(work(arg));
	}
	while ((got = waitpid(pid, &status, WNOHANG)) != pid) {
		if (got < 0 && errno != EINTR)
			return -1;
		if (poll(&p, 1, 1000) > 0)
			end_aside(c, pid);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int view_child_status(const struct view_child *c)
{
	if (WIFSIGNALED(c->wait_status))
		return 128 + WTERMSIG(c->wait_status);
	return WEXITSTATUS(c->wait_status);
}

_Noreturn void view_child_end_like(const struct view_child *c)
{
	struct rlimit none = { 0 };

	if (WIFSIGNALED(c->wait_status)) {
		int sig = WTERMSIG(c->wait_status);
		sigset_t set;
		/* The command's core is the one worth keeping. */
		setrlimit(RLIMIT_CORE, &none);
		prctl(PR_SET_DUMPABLE, 0);
		signal(sig, SIG_DFL);
		sigemptyset(&set);
		sigaddset(&set, sig);
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		raise(sig);
	}
	exit(view_child_status(c));
}
