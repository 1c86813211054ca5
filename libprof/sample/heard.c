/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One place for each of a few threads; a further one takes the oldest's.
 */
#include "heard.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "waitkind.h"

static struct {
	pthread_mutex_t lock;
	struct prof_heard place[PROF_HEARD_MAX];
	size_t count, next;
} heard = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Waits for pipes and connections; "" if there are none. */
static void ends_of(const char *links, char out[PROF_LINKS_TEXT])
{
	char id[PROF_LINK_ID], mark;

	*out = 0;
	while ((mark = prof_link_next(&links, id)))
		if (mark == PROF_LINK_AWAITS && strchr("put", *id))
			prof_link_add(out, PROF_LINK_AWAITS, id);
}

static struct prof_heard *place_for(uint32_t pid, uint32_t tid)
{
	size_t i;

	for (i = 0; i < heard.count; i++)
		if (heard.place[i].pid == pid && heard.place[i].tid == tid)
			return &heard.place[i];
	if (heard.count < PROF_HEARD_MAX)
		return &heard.place[heard.count++];
	return &heard.place[heard.next++ % PROF_HEARD_MAX];
}

void prof_heard_sample(const struct prof_thread_sample *s)
{
	struct prof_heard h = { .pid = s->s.pid, .tid = s->s.tid };

	/*
	 * For work it waits at a queue of the trainer's, and every copy of the trainer has both
	 * ends.
	 */
	if (s->s.wait == WIRE_WAIT_QUEUE && prof_wait_in_loader(s->stack))
		return;
	ends_of(s->links, h.links);
	if (!h.links[0])
		return;
	pthread_mutex_lock(&heard.lock);
	*place_for(h.pid, h.tid) = h;
	pthread_mutex_unlock(&heard.lock);
}

size_t prof_heard_take(struct prof_heard out[PROF_HEARD_MAX])
{
	size_t n;

	pthread_mutex_lock(&heard.lock);
	n = heard.count;
	memcpy(out, heard.place, n * sizeof(*out));
	heard.count = heard.next = 0;
	pthread_mutex_unlock(&heard.lock);
	return n;
}
