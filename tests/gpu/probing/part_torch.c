/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part_torch.c - step 2: the same question as step 1 on a small training step in PyTorch. loop.py
 * plays it (with the python3 on the PATH) and prints a line a block; the arithmetic is here.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe.h"
#include "row.h"

#define MAX_ROUNDS 64

enum {
	OFF,
	AGAIN,
	ON,
	DISABLED,
	DUTY,
	MODES
};

static const char *const names[MODES] = { "off", "noise", "on", "disabled", "duty" };
static int64_t step_ns[MODES][MAX_ROUNDS];
static size_t rounds[MODES];
static char reason[300];

/* The script, and the end of the pipe that it writes into; -1: none. */
static int begin_loop(pid_t *pid)
{
	char script[4200], library[4200], seconds[24];
	int fds[2];

	snprintf(script, sizeof script, "%s/loop.py", probe.here);
	snprintf(library, sizeof library, "%s/probe.so", probe.here);
	snprintf(seconds, sizeof seconds, "%lld", (long long)(left_ns() / SECOND - 4));
	if (pipe2(fds, O_CLOEXEC))
		return -1;
	*pid = child_begin();
	if (!*pid) {
		dup2(fds[1], STDOUT_FILENO);
		execlp("python3", "python3", "-B", script, library, probe.quick ? "quick" : "full",
		       seconds, (char *)NULL);
		printf("skip there is no python3\n");
		fflush(stdout);
		_exit(0);
	}
	close(fds[1]);
	return fds[0];
}

static void take(char *line)
{
	char name[24];
	long long ns;
	int i;

	line[strcspn(line, "\n")] = 0;
	if (!strncmp(line, "skip ", 5) && !*reason)
		snprintf(reason, sizeof reason, "%.250s", line + 5);
	else if (!strncmp(line, "torch ", 6))
		row_fact("torch", "%s", line + 6);
	else if (sscanf(line, "round %23s %lld", name, &ns) == 2)
		for (i = 0; i < MODES; i++)
			if (!strcmp(name, names[i]) && rounds[i] < MAX_ROUNDS)
				step_ns[i][rounds[i]++] = ns;
}

static void tell(int mode)
{
	size_t n = rounds[mode] < rounds[OFF] ? rounds[mode] : rounds[OFF];
	struct spread step = fig_spread(step_ns[mode], rounds[mode]);
	struct spread ratio = fig_ratio(step_ns[mode], step_ns[OFF], n);
	char id[40];
	struct row r;
	int64_t left;

	snprintf(id, sizeof id, "torch.%s", names[mode]);
	if (!rounds[mode]) {
		row_skip(id, "%s", *reason ? reason : "no round was played");
		return;
	}
	row_begin(&r, id, "ns per step");
	row_answer(&r, "%lld", (long long)step.median);
	row_figures(&r, "step", &step);
	if (mode != OFF && n) {
		row_answer(&r, ", %+lld thousandths of a percent to off", (long long)ratio.median);
		row_figures(&r, "millipercent", &ratio);
		row_figure(&r, "over", fig_over(step_ns[mode], step_ns[OFF], n).median);
	}
	n = n < rounds[ON] ? n : rounds[ON];
	n = n < rounds[AGAIN] ? n : rounds[AGAIN];
	left = mode == DISABLED ? fig_left(step_ns[mode], step_ns[ON], step_ns[OFF], step_ns[OFF],
					   step_ns[AGAIN], n)
				: FIG_UNKNOWN;
	if (left != FIG_UNKNOWN)
		row_answer(&r, "; %lld permille of the cost stays", (long long)left);
	row_figure(&r, "left_permille", left);
	row_send(&r);
}

/* Lines until there are no more, or time only to tell what has come. */
static void take_all(int fd)
{
	struct pollfd p = { fd, POLLIN, 0 };
	char text[4096], *end;
	size_t n = 0;
	ssize_t k;

	while (left_ns() > 2 * SECOND) {
		if (poll(&p, 1, 100) == 0)
			continue;
		k = read(fd, text + n, sizeof text - 1 - n);
		if (k <= 0)
			return;
		n += (size_t)k;
		text[n] = 0;
		while ((end = memchr(text, '\n', n))) {
			size_t length = (size_t)(end - text) + 1;

			take(text);
			n -= length;
			memmove(text, text + length, n + 1);
		}
		if (n == sizeof text - 1)
			n = 0;
	}
	if (!*reason)
		snprintf(reason, sizeof reason, "it was not over in time");
}

void part_torch(void)
{
	pid_t pid = -1;
	int fd = begin_loop(&pid), i;

	if (fd >= 0)
		take_all(fd);
	if (pid > 0 && !child_end(pid, SECOND / 2) && !*reason)
		snprintf(reason, sizeof reason, "the loop died");
	for (i = 0; i < MODES; i++)
		tell(i);
}
