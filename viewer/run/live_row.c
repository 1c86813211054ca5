/* SPDX-License-Identifier: Apache-2.0 */
#include "live_row.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define ROWS_MIN 4
#define COLUMNS_MIN 20

/* Who writes to a terminal that belongs to another job may be stopped for it (stty tostop). */
static void put(const char *text)
{
	sigset_t ttou, before;

	sigemptyset(&ttou);
	sigaddset(&ttou, SIGTTOU);
	sigprocmask(SIG_BLOCK, &ttou, &before);
	ssize_t n = write(STDERR_FILENO, text, strlen(text));
	(void)n; /* the terminal is gone; so is its reader */
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static bool in_foreground(void)
{
	return tcgetpgrp(STDERR_FILENO) == getpgrp();
}

/*
 * Setting the region moves the cursor, so it is saved. It may stand in the row that is taken: one
 * down (which scrolls there, and keeps the column) and one up brings it and its line above.
 */
static void set_region(int rows)
{
	char text[64];

	snprintf(text, sizeof(text), "\0337\033[r\0338\033D\033[1A\0337\033[1;%dr\0338", rows - 1);
	put(text);
}

bool view_row_take(struct view_row *r)
{
	struct winsize w;

	if (!in_foreground())
		return false;
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) || w.ws_row < ROWS_MIN || w.ws_col < COLUMNS_MIN) {
		view_row_give_back(r);
		return false;
	}
	if (w.ws_row != r->rows || w.ws_col != r->columns)
		set_region(w.ws_row);
	r->rows = w.ws_row;
	r->columns = w.ws_col;
	return true;
}

void view_row_resized(struct view_row *r)
{
	if (r->rows)
		view_row_take(r);
}

void view_row_show(const struct view_row *r, const char *line)
{
	char text[640];

	/* Not the last column: some terminals then wrap. */
	snprintf(text, sizeof(text), "\0337\033[%d;1H\033[7m%.*s\033[K\033[0m\0338", r->rows,
		 r->columns - 1 < 500 ? r->columns - 1 : 500, line);
	put(text);
}

void view_row_give_back(struct view_row *r)
{
	char text[64];

	if (!r->rows)
		return;
	snprintf(text, sizeof(text), "\0337\033[%d;1H\033[K\033[r\0338", r->rows);
	put(text);
	r->rows = 0;
}
