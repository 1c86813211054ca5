/* SPDX-License-Identifier: Apache-2.0 */
#include "progress.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>
#include "base/units.h"

#define PATIENCE_NS 2000000000LL /* without a word */
#define INTERVAL_NS 250000000LL
#define NAME_COLUMNS 30

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void view_progress_begin(struct view_progress *p, const char *what, bool quiet)
{
	const char *term = getenv("TERM");

	*p = (struct view_progress){ .what = what, .began_ns = now_ns() };
	atomic_flag_clear(&p->drawing);
	p->on = !quiet && isatty(STDERR_FILENO) && term && term[0] && strcmp(term, "dumb") != 0;
}

/* The end of a path, without what a terminal would obey. */
static void short_name(char out[NAME_COLUMNS + 1], const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash && slash[1])
		path = slash + 1;
	snprintf(out, NAME_COLUMNS + 1, "%s", path);
	for (char *c = out; *c; c++)
		if (*c < 0x20 || *c > 0x7e)
			*c = '?';
}

int view_progress_line(const struct view_progress *p, int64_t elapsed_ns, int columns, char *out,
		       int room)
{
	char name[NAME_COLUMNS + 1] = "";
	uint64_t done = p->done;
	int64_t rate = base_div_even((__int128)done * 1000000000, elapsed_ns > 0 ? elapsed_ns : 1);
	base_unit each, percent;
	int n;

	if (elapsed_ns < PATIENCE_NS)
		return 0;
	if (p->name)
		short_name(name, p->name);
	if (p->unit)
		base_count(each, (uint64_t)rate);
	else
		base_bytes(each, (uint64_t)rate);
	percent[0] = '\0';
	if (p->total)
		snprintf(percent, sizeof(percent), " %d %%,",
			 (int)(done < p->total ? (__int128)done * 100 / p->total : 100));
	n = snprintf(out, (size_t)room, "%s%s%s:%s %s%s%s/s", p->what, *name ? " " : "", name,
		     percent, each, p->unit ? " " : "", p->unit ? p->unit : "");
	return n < columns ? n : columns - 1; /* the last column would wrap */
}

/* Blocked, writing to another job's terminal cannot stop us (stty tostop). */
static void put(const char *text, int len)
{
	sigset_t ttou, before;

	sigemptyset(&ttou);
	sigaddset(&ttou, SIGTTOU);
	pthread_sigmask(SIG_BLOCK, &ttou, &before);
	ssize_t n = write(STDERR_FILENO, text, (size_t)len);
	(void)n; /* the terminal is gone; so is its reader */
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* A terminal that is not the one we were started from has no foreground that we could disturb. */
static bool in_background(void)
{
	pid_t front = tcgetpgrp(STDERR_FILENO);

	return front >= 0 && front != getpgrp();
}

static void draw(struct view_progress *p, int64_t now)
{
	char line[256], text[sizeof(line) + 8];
	struct winsize w;
	int columns = 80;

	if (now - p->began_ns < PATIENCE_NS || now - p->told_ns < INTERVAL_NS || in_background())
		return;
	if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &w) && w.ws_col)
		columns = w.ws_col;
	if (columns > (int)sizeof(line))
		columns = sizeof(line);
	int n = view_progress_line(p, now - p->began_ns, columns, line, sizeof(line));
	n = snprintf(text, sizeof(text), "\r%.*s\033[K", n, line);
	p->told_ns = now;
	p->shown = true;
	put(text, n);
}

/* Whoever finds another thread drawing leaves it to that one. */
static void look(struct view_progress *p)
{
	if (!p->on || atomic_flag_test_and_set(&p->drawing))
		return;
	draw(p, now_ns());
	atomic_flag_clear(&p->drawing);
}

void view_progress_add(struct view_progress *p, uint64_t n)
{
	atomic_fetch_add(&p->done, n);
	look(p);
}

void view_progress_set(struct view_progress *p, uint64_t done, double share)
{
	p->done = done;
	p->total = share > 0 ? (uint64_t)((double)done / share) : 0;
	look(p);
}

void view_progress_end(struct view_progress *p)
{
	if (p->shown)
		put("\r\033[K", 4);
	p->shown = false;
}
