/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A signalfd, a timerfd and the descriptor of --until-eof.
 */
#include "wakeups.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include "clock.h"
#include "log.h"

/* The wakeups that @source is the member @member of. */
#define OWNER_OF(source, member) \
	((struct coll_wakeups *)((char *)(source)-offsetof(struct coll_wakeups, member)))

static void on_signal(struct coll_source *s, uint32_t events)
{
	struct coll_wakeups *w = OWNER_OF(s, signals);
	struct signalfd_siginfo info;

	(void)events;
	while (read(s->fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGUSR1)
			w->report(w->owner);
		else if (info.ssi_signo == SIGHUP)
			w->reload = true;
		else
			w->terminate = true;
	}
}

static void on_eof(struct coll_source *s, uint32_t events)
{
	struct coll_wakeups *w = OWNER_OF(s, eof);
	char byte[64];
	ssize_t n = read(s->fd, byte, sizeof(byte));

	(void)events;
	if (n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN)))
		return;
	coll_loop_remove(w->loop, s);
	s->fd = -1;
	w->eof_seen = true;
	w->eof_ns = coll_now_ns();
}

static void on_timer(struct coll_source *s, uint32_t events)
{
	struct coll_wakeups *w = OWNER_OF(s, timer);
	uint64_t ticks;

	(void)events;
	if (read(s->fd, &ticks, sizeof(ticks)) < 0)
		return;
	w->each_second(w->owner);
}

/* Blocked before anything else runs, so that none is lost; ignored where an errno says it too. */
static int open_signals(struct coll_wakeups *w)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR1);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -errno;
	w->signals.ready = on_signal;
	w->signals.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return w->signals.fd < 0 ? -errno : coll_loop_add(w->loop, &w->signals, EPOLLIN);
}

static int open_timer(struct coll_wakeups *w)
{
	struct itimerspec each_second = { .it_value.tv_sec = 1, .it_interval.tv_sec = 1 };

	w->timer.ready = on_timer;
	w->timer.fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (w->timer.fd < 0 || timerfd_settime(w->timer.fd, 0, &each_second, NULL))
		return -errno;
	return coll_loop_add(w->loop, &w->timer, EPOLLIN);
}

static int open_eof(struct coll_wakeups *w, int until_eof)
{
	int err;

	if (until_eof < 0)
		return 0;
	w->eof.ready = on_eof;
	w->eof.fd = until_eof;
	err = coll_loop_add(w->loop, &w->eof, EPOLLIN);
	if (err == -EPERM) { /* a file: at its end in no time */
		w->eof.fd = -1;
		w->eof_seen = true;
		w->eof_ns = coll_now_ns();
		return 0;
	}
	return err;
}

void coll_wakeups_init(struct coll_wakeups *w, struct coll_loop *loop)
{
	*w = (struct coll_wakeups){ .loop = loop };
	w->signals.fd = w->timer.fd = w->eof.fd = -1;
}

int coll_wakeups_open(struct coll_wakeups *w, int until_eof)
{
	int err = open_signals(w);

	if (!err)
		err = open_timer(w);
	if (!err)
		err = open_eof(w, until_eof);
	if (err)
		coll_log("cannot start: %s; is this system out of descriptors?", strerror(-err));
	return err;
}

void coll_wakeups_close(struct coll_wakeups *w)
{
	if (w->signals.fd >= 0)
		close(w->signals.fd);
	if (w->timer.fd >= 0)
		close(w->timer.fd);
	w->signals.fd = w->timer.fd = -1;
}
