/* SPDX-License-Identifier: Apache-2.0 */
/*
 * poll, ppoll, select, pselect6, epoll_wait.
 */
#include "poll_set.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>

#include "core/procfile.h"
#include "procmem.h"

#define SET_WORDS 16u /* 1024 descriptors, as fd_set has */
#define FDINFO_BYTES 4096u
#define MS 1000000ll

static void add(struct prof_poll_set *out, int fd, bool reads)
{
	if (out->count < PROF_POLL_SET_MAX) {
		out->reads |= (uint32_t)reads << out->count;
		out->fd[out->count++] = fd;
	}
	out->all++;
}

static int read_array(pid_t pid, const struct prof_call *c, struct prof_poll_set *out)
{
	struct pollfd list[PROF_POLL_SET_MAX];
	uint64_t n = c->arg[1] < PROF_POLL_SET_MAX ? c->arg[1] : PROF_POLL_SET_MAX, i;

	if (n && !prof_procmem_read(pid, c->arg[0], list, n * sizeof(list[0])))
		return -EFAULT;
	for (i = 0; i < n; i++)
		if (list[i].fd >= 0)
			add(out, list[i].fd, list[i].events & (POLLIN | POLLRDNORM | POLLPRI));
	out->all += (uint32_t)(c->arg[1] - n);
	return 0;
}

/* A timespec, or a timeval (@unit 1000 ns); no address: no timeout. */
static int64_t read_timeout(pid_t pid, uint64_t at, int64_t unit)
{
	int64_t t[2];

	if (!at || !prof_procmem_read(pid, at, t, sizeof(t)))
		return -1;
	return t[0] * 1000 * MS + t[1] * unit;
}

static void add_set(const uint64_t *set, uint32_t words, bool reads, struct prof_poll_set *out)
{
	uint32_t i, bit;

	for (i = 0; i < words; i++)
		for (bit = 0; bit < 64; bit++)
			if (set[i] >> bit & 1)
				add(out, (int)(i * 64 + bit), reads);
}

static int read_sets(pid_t pid, const struct prof_call *c, struct prof_poll_set *out)
{
	uint64_t set[SET_WORDS], words = (c->arg[0] + 63) / 64;
	int i;

	if (words > SET_WORDS)
		words = SET_WORDS;
	for (i = 1; i <= 3; i++) {
		if (!c->arg[i] || !words)
			continue;
		if (!prof_procmem_read(pid, c->arg[i], set, words * sizeof(set[0])))
			return -EFAULT;
		add_set(set, (uint32_t)words, i != 2, out); /* 2: to write */
	}
	return 0;
}

/* Lines "tfd:        5 events:       19 data: ...", events in hexadecimal. */
static void add_fdinfo(const char *text, struct prof_poll_set *out)
{
	const char *p = text, *events;
	uint64_t fd;

	while ((p = strstr(p, "tfd:"))) {
		p += 4;
		if (!prof_proc_number(&p, &fd))
			continue;
		events = strstr(p, "events:");
		add(out, (int)fd, events && strtoul(events + 7, NULL, 16) & EPOLLIN);
	}
}

static int read_epoll(pid_t pid, const struct prof_call *c, struct prof_poll_set *out)
{
	char path[64], text[FDINFO_BYTES];

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", (int)pid, (int)c->arg[0]);
	else
		snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", (int)c->arg[0]);
	if (prof_proc_read(path, text, sizeof(text)) < 0)
		return -EFAULT;
	add_fdinfo(text, out);
	return 0;
}

static int64_t in_ms(uint64_t arg)
{
	return (int32_t)arg < 0 ? -1 : (int32_t)arg * MS;
}

static bool is_select(const struct prof_call *c)
{
#ifdef SYS_select
	return c->nr == SYS_select;
#else
	(void)c;
	return false;
#endif
}

static bool has_timespec(const struct prof_call *c)
{
#ifdef SYS_epoll_pwait2
	return c->nr == SYS_epoll_pwait2;
#else
	(void)c;
	return false;
#endif
}

int prof_poll_set_read(pid_t pid, const struct prof_call *c, enum prof_call_how how,
		       struct prof_poll_set *out)
{
	memset(out, 0, sizeof(*out));
	switch (how) {
	case PROF_CALL_POLL:
		out->timeout_ns = in_ms(c->arg[2]);
		return read_array(pid, c, out);
	case PROF_CALL_PPOLL:
		out->timeout_ns = read_timeout(pid, c->arg[2], 1);
		return read_array(pid, c, out);
	case PROF_CALL_SELECT:
		out->timeout_ns = read_timeout(pid, c->arg[4], is_select(c) ? 1000 : 1);
		return read_sets(pid, c, out);
	case PROF_CALL_EPOLL:
		out->timeout_ns =
			has_timespec(c) ? read_timeout(pid, c->arg[3], 1) : in_ms(c->arg[3]);
		return read_epoll(pid, c, out);
	default:
		return -EINVAL;
	}
}
