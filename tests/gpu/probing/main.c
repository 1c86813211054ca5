/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - plays the parts one after the other, each in a process group of its own with a limit of
 * its own, and keeps what they answer. The process that runs this loads no library of NVIDIA's.
 * PROBE_SECONDS (360) bounds the whole, PROBE_PART_SECONDS, for tests, each part.
 *
 *	probe [--quick] [--here FOLDER] OUT [PART...]
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"
#include "report.h"
#include "row.h"

#define TOTAL_SECONDS 360
#define RESERVE (1 * SECOND) /* to write down what could not be asked */

static volatile sig_atomic_t ended_by;
static int64_t total_end;

static void on_signal(int number)
{
	ended_by = number;
}

/* ---- a part's process ---- */

static void play_part(const struct part *p, int fd)
{
	static const int usual[] = { SIGINT, SIGTERM, SIGHUP };
	size_t i;
	int nothing;

	for (i = 0; i < LENGTH(usual); i++)
		signal(usual[i], SIG_DFL);
	setpgid(0, 0);
	nothing = open("/dev/null", O_RDONLY);
	if (nothing >= 0)
		dup2(nothing, STDIN_FILENO);
	row_to(fd);
	fprintf(stderr, "probe: part %s begins\n", p->name);
	p->play();
	fprintf(stderr, "probe: part %s is over\n", p->name);
	_exit(0);
}

/* The parent of a process; 0: there is none of this id. */
static pid_t parent_of(const char *pid)
{
	char path[300], text[400], *end;
	int fd, parent = 0;
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%s/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof text - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	end = strrchr(text, ')');
	if (end && sscanf(end + 1, " %*c %d", &parent) != 1)
		return 0;
	return parent;
}

/* Children of this process, those that lost their parents among them; how many there were. */
static int kill_children(void)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	int found = 0;

	while (dir && (entry = readdir(dir)))
		if (*entry->d_name >= '1' && *entry->d_name <= '9' &&
		    parent_of(entry->d_name) == getpid()) {
			kill((pid_t)strtol(entry->d_name, NULL, 10), SIGKILL);
			found++;
		}
	if (dir)
		closedir(dir);
	return found;
}

/*
 * Kills all that a part has started. What sleeps in a driver and cannot be killed is left behind.
 */
static void end_all(pid_t part)
{
	int64_t end = mono_ns() + 3 * SECOND;

	kill(-part, SIGKILL);
	while (mono_ns() < end) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (!kill_children())
			return;
		sleep_ns(2 * MS);
	}
	fprintf(stderr, "probe: something that a part started cannot be killed\n");
}

/* ---- what comes through its pipe ---- */

struct lines {
	char text[8192];
	size_t n;
};

/* Takes what is there, at most a millisecond's wait; false: there is no more. */
static bool take_lines(int fd, struct lines *l, const char *part)
{
	ssize_t k = read(fd, l->text + l->n, sizeof l->text - 1 - l->n);
	char *end;

	if (k <= 0)
		return k < 0 && (errno == EAGAIN || errno == EINTR);
	l->n += (size_t)k;
	l->text[l->n] = 0;
	while ((end = memchr(l->text, '\n', l->n))) {
		size_t length = (size_t)(end - l->text) + 1;

		*end = 0;
		report_line(part, l->text);
		l->n -= length;
		memmove(l->text, l->text + length, l->n + 1);
	}
	if (l->n == sizeof l->text - 1)
		l->n = 0; /* no line is that long */
	return true;
}

/* Why its open questions stay open. */
static void say_end(char *why, size_t size, int status, bool hung, int64_t took)
{
	if (ended_by)
		snprintf(why, size, "the probe was ended by signal %d", (int)ended_by);
	else if (hung)
		snprintf(why, size, "its part hung and was ended after %lld s",
			 (long long)(took / SECOND));
	else if (WIFSIGNALED(status))
		snprintf(why, size, "its part died of signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status))
		snprintf(why, size, "its part ended with status %d", WEXITSTATUS(status));
	else
		snprintf(why, size, "its part ended without an answer");
}

static void follow(const struct part *p, pid_t pid, int fd)
{
	struct lines *l = calloc(1, sizeof *l);
	int64_t begin = mono_ns();
	struct pollfd poll_fd = { fd, POLLIN, 0 };
	bool more = true, over = false, hung = false;
	int status = 0;
	char why[160];

	while (l && !over && !hung && !ended_by) {
		if (more)
			poll(&poll_fd, 1, 20);
		else
			sleep_ns(5 * MS);
		over = waitpid(pid, &status, WNOHANG) == pid;
		more = more && take_lines(fd, l, p->name);
		hung = !over && mono_ns() > probe.end;
	}
	end_all(pid);
	errno = 0;
	while (l && take_lines(fd, l, p->name) && errno != EAGAIN)
		errno = 0;
	say_end(why, sizeof why, status, hung, mono_ns() - begin);
	report_close(p->name, why);
	printf("probe: step %d, %s: %lld.%lld s%s%s\n", p->step, p->name,
	       (long long)((mono_ns() - begin) / SECOND),
	       (long long)((mono_ns() - begin) % SECOND / (100 * MS)), hung || status ? ": " : "",
	       hung || status ? why : "");
	fflush(stdout);
	free(l);
}

static int64_t seconds_of(const char *variable, long fallback)
{
	const char *v = getenv(variable);
	long seconds = v && *v ? strtol(v, NULL, 10) : fallback;

	return (seconds > 0 ? seconds : fallback) * SECOND;
}

static void run_part(const struct part *p)
{
	int64_t limit = mono_ns() + seconds_of("PROBE_PART_SECONDS", p->seconds);
	int fds[2];
	pid_t pid;

	probe.end = limit < total_end ? limit : total_end;
	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK)) {
		report_close(p->name, "no pipe could be made");
		return;
	}
	pid = child_begin();
	if (!pid) {
		close(fds[0]);
		fcntl(fds[1], F_SETFL, 0);
		play_part(p, fds[1]);
	}
	close(fds[1]);
	if (pid > 0)
		setpgid(pid, pid);
	if (pid > 0)
		follow(p, pid, fds[0]);
	else
		report_close(p->name, "no process could be made");
	close(fds[0]);
}

/* Later parts find what the first has found. */
static void hand_on_facts(void)
{
	static const struct {
		const char *fact, *variable;
	} handed[] = { { "cupti_path", "PROBE_CUPTI" },
		       { "bus", "PROBE_BUS" },
		       { "blocks", "PROBE_BLOCKS" },
		       { "newest", "PROBE_NEWEST" } };
	size_t i;

	for (i = 0; i < LENGTH(handed); i++)
		if (report_fact(handed[i].fact))
			setenv(handed[i].variable, report_fact(handed[i].fact), 1);
}

/* Why a part need not begin; NULL: it may. */
static const char *obstacle(const struct part *p)
{
	const char *no = report_fact("no_gpu");

	if (ended_by)
		return "the probe was ended by a signal";
	if (total_end - mono_ns() < 2 * SECOND)
		return "the probe's time was over";
	if (p->gpu && no)
		return no;
	if (p->cupti && report_fact("no_cupti"))
		return report_fact("no_cupti");
	return NULL;
}

static bool wanted(const struct part *p, char **names, int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (!strcmp(names[i], p->name))
			return true;
	return !n || p->play == part_machine;
}

static void listen_to_signals(void)
{
	static const int usual[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = on_signal };
	size_t i;

	for (i = 0; i < LENGTH(usual); i++)
		sigaction(usual[i], &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static void play_all(char **names, int n)
{
	size_t i;

	for (i = 0; i < part_count; i++) {
		const char *why =
			wanted(&parts[i], names, n) ? obstacle(&parts[i]) : "it was not asked for";

		if (why) {
			report_close(parts[i].name, why);
			continue;
		}
		run_part(&parts[i]);
		hand_on_facts();
	}
}

int main(int argc, char **argv)
{
	const char *called = getenv("PROBE_COMMAND");
	int64_t begin = mono_ns();
	int at = 1, rc, answered, skipped, open;
	char ending[80];

	probe.here = ".";
	for (; at < argc && argv[at][0] == '-'; at++)
		if (!strcmp(argv[at], "--quick"))
			probe.quick = true;
		else if (!strcmp(argv[at], "--here") && at + 1 < argc)
			probe.here = argv[++at];
		else
			at = argc;
	if (at >= argc) {
		fprintf(stderr, "usage: probe [--quick] [--here FOLDER] OUT [PART...]\n");
		return 2;
	}
	total_end = begin + seconds_of("PROBE_SECONDS", TOTAL_SECONDS) - RESERVE;
	listen_to_signals();
	rc = report_begin(argv[at], called ? called : "probe");
	if (rc) {
		fprintf(stderr, "probe: %s: %s\n", argv[at], strerror(-rc));
		return 1;
	}
	play_all(argv + at + 1, argc - at - 1);
	snprintf(ending, sizeof ending, ", %lld s", (long long)((mono_ns() - begin) / SECOND));
	report_write(ending);
	report_count(&answered, &skipped, &open);
	printf("probe: %d answered, %d skipped, %d not asked%s: %s/probe.md\n", answered, skipped,
	       open, ending, argv[at]);
	return ended_by ? 128 + ended_by : 0;
}
