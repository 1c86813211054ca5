/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epoll, and care for sources that vanish while a batch is being handled.
 */
#include "loop.h"

#include <errno.h>
#include <unistd.h>

int coll_loop_init(struct coll_loop *l)
{
	l->got = 0;
	l->fd = epoll_create1(EPOLL_CLOEXEC);
	return l->fd < 0 ? -errno : 0;
}

void coll_loop_fini(struct coll_loop *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
}

static int control(struct coll_loop *l, int op, struct coll_source *s, uint32_t events)
{
	struct epoll_event e = { .events = events, .data.ptr = s };

	return epoll_ctl(l->fd, op, s->fd, &e) ? -errno : 0;
}

int coll_loop_add(struct coll_loop *l, struct coll_source *s, uint32_t events)
{
	return control(l, EPOLL_CTL_ADD, s, events);
}

int coll_loop_change(struct coll_loop *l, struct coll_source *s, uint32_t events)
{
	return control(l, EPOLL_CTL_MOD, s, events);
}

void coll_loop_remove(struct coll_loop *l, struct coll_source *s)
{
	int i;

	if (s->fd < 0)
		return;
	control(l, EPOLL_CTL_DEL, s, 0);
	for (i = 0; i < l->got; i++)
		if (l->event[i].data.ptr == s)
			l->event[i].data.ptr = NULL;
}

int coll_loop_turn(struct coll_loop *l, int timeout_ms)
{
	int i;

	l->got = epoll_wait(l->fd, l->event, COLL_LOOP_BATCH, timeout_ms);
	if (l->got < 0) {
		l->got = 0;
		return errno == EINTR ? 0 : -errno;
	}
	for (i = 0; i < l->got; i++) {
		struct coll_source *s = l->event[i].data.ptr;

		if (s)
			s->ready(s, l->event[i].events);
	}
	l->got = 0;
	return 0;
}
