/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Progress: nothing for two seconds and nothing without a terminal; then percent and rate in one
 * line that fits, and that is gone at the end.
 */
#include "harness.h"
#include "core/progress.h"

#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND 1000000000LL

static void expect_line(struct view_progress *p, int64_t elapsed_ns, int columns, const char *want)
{
	char line[256];
	int n = view_progress_line(p, elapsed_ns, columns, line, sizeof(line));

	line[n] = '\0';
	EXPECT_STR(line, want);
}

static void test_line(void)
{
	struct view_progress p;

	view_progress_begin(&p, "analysing", true);
	p.name = "gpustarve-runs/a.gst";
	p.total = 1000000000;
	view_progress_add(&p, 340000000);
	expect_line(&p, 2 * SECOND - 1, 80, "");
	expect_line(&p, 4 * SECOND, 80, "analysing a.gst: 34 %, 85.0 MB/s");
	expect_line(&p, 4 * SECOND, 20, "analysing a.gst: 34");
	view_progress_add(&p, UINT64_MAX - 340000000);
	expect_line(&p, 1000 * SECOND, 80, "analysing a.gst: 100 %, 18.4 PB/s");
	p.name = "x/\x1b[31m\xff\n";
	p.unit = "events";
	view_progress_set(&p, 3000000, 0.5);
	expect_line(&p, 2 * SECOND, 80, "analysing ?[31m??: 50 %, 1,500,000 events/s");
	view_progress_set(&p, 7, -1);
	expect_line(&p, 7 * SECOND, 80, "analysing ?[31m??: 1 events/s");
	view_progress_set(&p, 0, 0);
	expect_line(&p, INT64_MAX, 80, "analysing ?[31m??: 0 events/s");
	EXPECT(!p.shown);
}

/* What a terminal of 30 columns gets while @work runs in it. */
static char *on_terminal(void (*work)(void))
{
	static char text[4096];
	struct winsize size = { .ws_row = 24, .ws_col = 30 };
	size_t len = 0;
	ssize_t n;
	int fd;
	pid_t pid = forkpty(&fd, NULL, NULL, &size);

	if (!pid) {
		work();
		_exit(0);
	}
	if (pid < 0)
		return NULL;
	while (len < sizeof(text) - 1 && (n = read(fd, text + len, sizeof(text) - 1 - len)) > 0)
		len += (size_t)n;
	text[len] = '\0';
	close(fd);
	waitpid(pid, NULL, 0);
	return text;
}

static void work(const char *term, bool quiet, bool early)
{
	struct view_progress p;

	setenv("TERM", term, 1);
	view_progress_begin(&p, "verifying", quiet);
	p.total = 100;
	p.began_ns -= early ? 0 : 3600 * SECOND;
	for (int i = 0; i < 50; i++)
		view_progress_add(&p, 1); /* within a quarter of a second: drawn once */
	view_progress_end(&p);
	view_progress_end(&p);
}

static void long_work(void)
{
	work("xterm", false, false);
}

static void early_work(void)
{
	work("xterm", false, true);
}

static void quiet_work(void)
{
	work("xterm", true, false);
}

static void dumb_work(void)
{
	work("dumb", false, false);
}

static void test_terminal(void)
{
	char *text = on_terminal(long_work);

	REQUIRE(text);
	EXPECT(!strncmp(text, "\rverifying: 1 %, 0 B/s\033[K\r", 26));
	EXPECT_STR(text + strlen(text) - 4, "\r\033[K"); /* gone, once */
	EXPECT(!strstr(text, "\033[K\r\033[K\r\033[K"));
	EXPECT_STR(on_terminal(early_work), "");
	EXPECT_STR(on_terminal(quiet_work), "");
	EXPECT_STR(on_terminal(dumb_work), "");
}

static void test_pipe(void)
{
	struct view_progress p;
	int fd[2], keep = dup(STDERR_FILENO);
	char c;

	REQUIRE(!pipe(fd));
	dup2(fd[1], STDERR_FILENO);
	close(fd[1]);
	setenv("TERM", "xterm", 1);
	view_progress_begin(&p, "analysing", false);
	p.began_ns -= 3600 * SECOND;
	view_progress_add(&p, 1);
	view_progress_end(&p);
	dup2(keep, STDERR_FILENO); /* closes the pipe's end */
	close(keep);
	EXPECT_INT(read(fd[0], &c, 1), 0);
	close(fd[0]);
}

int main(void)
{
	return RUN(test_line, test_terminal, test_pipe);
}
