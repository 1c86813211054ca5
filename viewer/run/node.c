/* SPDX-License-Identifier: Apache-2.0 */
#include "node.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/hash.h"
#include "install.h"

/*
 * It needs 30 ms. On a node without a core to spare for it the job begins that much later at most.
 */
#define READY_MS 10000
#define ARGUMENTS 24
#define LINGER_SECONDS "5"
#define COLLECTOR_TAKEN 3 /* exit status: another one serves the socket */

static uint64_t hash(uint64_t h, const char *text)
{
	return base_hash(base_hash_text(h, text), "\xff", 1);
}

/* The folder must be ours alone: whoever owns the socket gets the trace. */
static bool make_folder(char *out, size_t room, const char *top)
{
	struct stat st;

	if (top[0] != '/' ||
	    snprintf(out, room, "%s/gpustarve-%u", top, (unsigned)getuid()) >= (int)room)
		return false;
	if (mkdir(out, 0700) && errno != EEXIST)
		return false;
	return !lstat(out, &st) && S_ISDIR(st.st_mode) && st.st_uid == getuid() &&
	       !(st.st_mode & 077);
}

static bool socket_path(struct view_node *n, const char *base, const char *run_id)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	uint64_t h = hash(hash(BASE_HASH, base), run_id);
	char folder[80]; /* leaves room for the name below */

	if (!(runtime && make_folder(folder, sizeof(folder), runtime)) &&
	    !make_folder(folder, sizeof(folder), "/tmp"))
		return false;
	snprintf(n->socket, sizeof(n->socket), "%s/%016llx.sock", folder, (unsigned long long)h);
	return true;
}

static bool answers(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return false;
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	bool ok = !connect(fd, (struct sockaddr *)&a, sizeof(a));
	close(fd);
	return ok;
}

/* Wrappers of one run start together; one of them starts the collector, the others wait here. */
static int lock(const char *socket)
{
	char path[128];

	snprintf(path, sizeof(path), "%s.lock", socket);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0 && flock(fd, LOCK_EX)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* The standard descriptors of the collector: nothing of ours, but a memory for its words. */
static void set_standard(int words)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(words >= 0 ? words : null, STDERR_FILENO);
}

/* Words of the collector's command line. */
struct words {
	const char *list[ARGUMENTS];
	int count;
};

static void add(struct words *w, const char *word)
{
	if (w->count < ARGUMENTS - 1)
		w->list[w->count++] = word;
}

static void add_upstream(struct words *w, const char *upstream)
{
	static const char *const files[][2] = {
		{ "--upstream-token-file", "GPUSTARVE_UPSTREAM_TOKEN_FILE" },
		{ "--upstream-ca", "GPUSTARVE_UPSTREAM_CA" },
		{ "--upstream-cert", "GPUSTARVE_UPSTREAM_CERT" },
		{ "--upstream-key", "GPUSTARVE_UPSTREAM_KEY" },
	};

	if (!upstream)
		return;
	add(w, "--upstream");
	add(w, upstream);
	add(w, "--linger");
	add(w, LINGER_SECONDS);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		const char *path = getenv(files[i][1]);

		if (!path || !*path)
			continue;
		add(w, files[i][0]);
		add(w, path);
	}
}

/* In the child. Its descriptors: standard ones, the leash's reading end and the ready pipe. */
static _Noreturn void become_collector(const char *program, const char *base, const char *socket,
				       const char *upstream, int leash, int ready, int words)
{
	char leash_text[16], ready_text[16];
	struct words w = { .count = 0 };
	sigset_t none;

	setsid();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGCHLD, SIG_DFL);
	set_standard(words);
	leash = fcntl(leash, F_DUPFD, 3); /* without close-on-exec */
	ready = fcntl(ready, F_DUPFD, 3);
	snprintf(leash_text, sizeof(leash_text), "%d", leash);
	snprintf(ready_text, sizeof(ready_text), "%d", ready);
	const char *const always[] = { program,	      "--dir",	  base,		"--unix",  socket,
				       "--until-eof", leash_text, "--ready-fd", ready_text };
	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		add(&w, always[i]);
	add_upstream(&w, upstream);
	execv(program, (char *const *)(uintptr_t)w.list);
	_exit(127);
}

/* True once it says so; false if it ended or took too long. */
static bool wait_ready(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char c;

	return poll(&p, 1, READY_MS) == 1 && read(fd, &c, 1) == 1;
}

/* Not ready: has another one taken the socket meanwhile? Then that one will do. */
static void give_up(struct view_node *n)
{
	int status = 0;

	kill(n->pid, SIGTERM);
	while (waitpid(n->pid, &status, 0) < 0 && errno == EINTR)
		;
	n->pid = 0;
	close(n->leash);
	n->leash = -1;
	if (WIFEXITED(status) && WEXITSTATUS(status) == COLLECTOR_TAKEN && answers(n->socket))
		return;
	n->socket[0] = '\0';
	n->trouble = "it did not start";
}

static void launch(struct view_node *n, const char *program, const char *base, const char *upstream)
{
	int leash[2], ready[2];

	n->words = memfd_create("gpustarve-collector", MFD_CLOEXEC);
	if (n->words >= 0)
		fcntl(n->words, F_SETFL, O_APPEND); /* we read it from its beginning */
	if (pipe2(leash, O_CLOEXEC))
		goto no_pipe;
	if (pipe2(ready, O_CLOEXEC))
		goto close_leash;
	n->pid = fork();
	if (n->pid < 0)
		goto close_ready;
	if (!n->pid)
		become_collector(program, base, n->socket, upstream, leash[0], ready[1], n->words);
	close(leash[0]);
	close(ready[1]);
	n->leash = leash[1];
	if (!wait_ready(ready[0]))
		give_up(n);
	close(ready[0]);
	return;

close_ready:
	n->pid = 0;
	close(ready[0]);
	close(ready[1]);
close_leash:
	close(leash[0]);
	close(leash[1]);
no_pipe:
	n->socket[0] = '\0';
	n->trouble = "no descriptors or processes are left";
}

void view_node_start(struct view_node *n, const char *base, const char *run_id,
		     const char *upstream)
{
	char program[2200];

	*n = (struct view_node){ .leash = -1, .words = -1 };
	if (!view_find_collector(program, sizeof(program))) {
		/* What is only written here loses nothing: processes do that themselves. */
		n->trouble = upstream ? "gpustarve-collector is not beside gpustarve" : NULL;
		return;
	}
	if (!socket_path(n, base, run_id)) {
		n->trouble = "there is no folder for its socket that is ours alone";
		return;
	}
	int fd = lock(n->socket);
	if (!answers(n->socket))
		launch(n, program, base, upstream);
	if (fd >= 0)
		close(fd);
}

bool view_node_spoke(const struct view_node *n)
{
	struct stat st;

	return n->words >= 0 && !fstat(n->words, &st) && st.st_size > n->passed;
}

void view_node_skip(struct view_node *n)
{
	struct stat st;

	if (n->words >= 0 && !fstat(n->words, &st))
		n->passed = st.st_size;
}

void view_node_pass_on(struct view_node *n)
{
	char text[4096];
	ssize_t got;

	while (n->words >= 0 && (got = pread(n->words, text, sizeof(text), n->passed)) > 0) {
		if (write(STDERR_FILENO, text, (size_t)got) < 0)
			break;
		n->passed += got;
	}
}

static void forget(struct view_node *n)
{
	char path[128];

	/* The lock file is left to the others; with the socket gone nobody needs it. */
	snprintf(path, sizeof(path), "%s.lock", n->socket);
	if (access(n->socket, F_OK))
		unlink(path);
}

bool view_node_finish(struct view_node *n, int seconds)
{
	struct timespec nap = { .tv_nsec = 10000000 };

	if (n->leash >= 0)
		close(n->leash);
	n->leash = -1;
	for (int i = 0; n->pid && i < seconds * 100; i++) {
		pid_t p = waitpid(n->pid, NULL, WNOHANG);
		if (p == n->pid || (p < 0 && errno == ECHILD)) {
			n->pid = 0;
			forget(n);
		} else {
			nanosleep(&nap, NULL);
		}
	}
	return !n->pid;
}
