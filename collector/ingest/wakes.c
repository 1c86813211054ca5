/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A signalfd, a timerfd and the descriptor of --until-eof.
 */
#include "wakes.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/log.h"
#include "server.h"

static void on_signal(struct coll_source *s, uint32_t events)
{
	struct coll_server *sv = COLL_SERVER_OF(s, signals);
	struct signalfd_siginfo info;

	(void)events;
	while (read(s->fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGUSR1)
			coll_counters_log(&sv->count, sv->client_count, sv->keeper.open_streams);
		else if (info.ssi_signo == SIGHUP)
			sv->reload = true;
		else
			sv->terminate = true;
	}
}

static void on_eof(struct coll_source *s, uint32_t events)
{
	struct coll_server *sv = COLL_SERVER_OF(s, eof);
	char byte[64];
	ssize_t n = read(s->fd, byte, sizeof(byte));

	(void)events;
	if (n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN)))
		return;
	coll_loop_remove(&sv->loop, s);
	s->fd = -1;
	sv->eof_seen = true;
	sv->eof_ns = coll_now_ns();
}

static void on_timer(struct coll_source *s, uint32_t events)
{
	struct coll_server *sv = COLL_SERVER_OF(s, timer);
	uint64_t ticks;

	(void)events;
	if (read(s->fd, &ticks, sizeof(ticks)) < 0)
		return;
	coll_server_tick(sv);
}

/* Blocked before anything else runs, so that none is lost; ignored where an errno says it too. */
static int open_signals(struct coll_server *sv)
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
	sv->signals.ready = on_signal;
	sv->signals.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return sv->signals.fd < 0 ? -errno : coll_loop_add(&sv->loop, &sv->signals, EPOLLIN);
}

static int open_timer(struct coll_server *sv)
{
	struct itimerspec each_second = { .it_value.tv_sec = 1, .it_interval.tv_sec = 1 };

	sv->timer.ready = on_timer;
	sv->timer.fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (sv->timer.fd < 0 || timerfd_settime(sv->timer.fd, 0, &each_second, NULL))
		return -errno;
	return coll_loop_add(&sv->loop, &sv->timer, EPOLLIN);
}

static int open_eof(struct coll_server *sv)
{
	int err;

	if (sv->opts->until_eof < 0)
		return 0;
	sv->eof.ready = on_eof;
	sv->eof.fd = sv->opts->until_eof;
	err = coll_loop_add(&sv->loop, &sv->eof, EPOLLIN);
	if (err == -EPERM) { /* a file: at its end in no time */
		sv->eof.fd = -1;
		sv->eof_seen = true;
		sv->eof_ns = coll_now_ns();
		return 0;
	}
	return err;
}

int coll_wakes_open(struct coll_server *sv)
{
	int err = open_signals(sv);

	if (!err)
		err = open_timer(sv);
	if (!err)
		err = open_eof(sv);
	if (err)
		coll_log("cannot start: %s; is this system out of descriptors?", strerror(-err));
	return err;
}

void coll_wakes_close(struct coll_server *sv)
{
	if (sv->signals.fd >= 0)
		close(sv->signals.fd);
	if (sv->timer.fd >= 0)
		close(sv->timer.fd);
	sv->signals.fd = sv->timer.fd = -1;
}
