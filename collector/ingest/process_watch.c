/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pidfd per stream that outlived its connection.
 */
#include "process_watch.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/clock.h"
#include "core/context.h"
#include "store/process_end.h"

#define WATCHES_MAX 4096 /* one descriptor each */

struct coll_process_watch {
	struct coll_source source;
	struct coll_process_watches *all;
	struct coll_process_watch *next, **link;
	char *dir;
	char hex[COLL_HEX_BYTES];
	struct coll_hello who;
};

static void write_end(struct coll_process_watches *all, const char *dir, const char *hex,
		      const struct coll_hello *who, int64_t end_ns)
{
	int err = coll_process_end_write(dir, hex, who, end_ns);

	coll_run_index_touch(all->index, dir);
	if (err)
		coll_context_trouble(all->context, dir, err);
	else
		all->context->count.ends++;
}

void coll_process_watch_write_end(struct coll_process_watches *all, const struct coll_stream *s,
				  int64_t end_ns)
{
	if (s->who_known)
		write_end(all, s->dir, s->hex, &s->who, end_ns);
}

static void watch_free(struct coll_process_watch *w)
{
	if (!w)
		return;
	if (w->link) {
		*w->link = w->next;
		if (w->next)
			w->next->link = w->link;
		w->all->count--;
	}
	coll_loop_remove(&w->all->context->loop, &w->source);
	close(w->source.fd);
	free(w->dir);
	free(w);
}

static void on_end(struct coll_source *source, uint32_t events)
{
	struct coll_process_watch *w = (struct coll_process_watch *)source;

	(void)events;
	write_end(w->all, w->dir, w->hex, &w->who, coll_clock_ns(CLOCK_REALTIME));
	watch_free(w);
}

void coll_process_watch_add(struct coll_process_watches *all, int pidfd,
			    const struct coll_stream *s)
{
	struct coll_process_watch *w = NULL;

	if (s->who_known && all->count < WATCHES_MAX)
		w = calloc(1, sizeof(*w));
	if (!w) {
		close(pidfd);
		return;
	}
	w->source = (struct coll_source){ .fd = pidfd, .ready = on_end };
	w->all = all;
	w->who = s->who;
	memcpy(w->hex, s->hex, sizeof(w->hex));
	w->dir = strdup(s->dir);
	if (!w->dir || coll_loop_add(&all->context->loop, &w->source, EPOLLIN)) {
		watch_free(w);
		return;
	}
	w->next = all->first;
	w->link = &all->first;
	if (w->next)
		w->next->link = &w->next;
	all->first = w;
	all->count++;
}

void coll_process_watch_fini(struct coll_process_watches *all)
{
	struct coll_process_watch *w, *next;

	for (w = all->first; w; w = next) {
		struct pollfd p = { .fd = w->source.fd, .events = POLLIN };

		next = w->next;
		if (poll(&p, 1, 0) == 1)
			on_end(&w->source, EPOLLIN);
		else
			watch_free(w);
	}
}
