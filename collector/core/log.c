/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines for people, written whole or not at all.
 */
#include "log.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include "clock.h"

#define LINE_BYTES 512 /* below PIPE_BUF, so that a pipe takes all of it or nothing */
#define PREFIX "gpustarve: collector: "

static bool verbose;
static uint64_t dropped;

void coll_log_verbose(bool on)
{
	verbose = on;
}

uint64_t coll_log_dropped(void)
{
	return dropped;
}

bool coll_log_due(int64_t *last_ns, int64_t every_ns)
{
	int64_t now = coll_now_ns();

	if (*last_ns && now - *last_ns < every_ns)
		return false;
	*last_ns = now;
	return true;
}

static void put_line(const char *line, size_t len)
{
	struct pollfd p = { .fd = STDERR_FILENO, .events = POLLOUT };

	if (poll(&p, 1, 0) != 1 || !(p.revents & POLLOUT) || write(p.fd, line, len) < 0)
		dropped++;
}

/* Some of it may come from others: it shall be one line, and do nothing to a terminal. */
static void tame(char *line, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
			line[i] = '?';
}

__attribute__((format(printf, 1, 0))) static void log_va(const char *fmt, va_list ap)
{
	char line[LINE_BYTES] = PREFIX;
	size_t at = sizeof(PREFIX) - 1, room = sizeof(line) - at - 1;
	int n = vsnprintf(line + at, room, fmt, ap);

	if (n < 0)
		return;
	at += (size_t)n < room ? (size_t)n : room - 1;
	tame(line, at);
	line[at++] = '\n';
	put_line(line, at);
}

void coll_log(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_va(fmt, ap);
	va_end(ap);
}

void coll_note(const char *fmt, ...)
{
	va_list ap;

	if (!verbose)
		return;
	va_start(ap, fmt);
	log_va(fmt, ap);
	va_end(ap);
}
