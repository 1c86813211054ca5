/* SPDX-License-Identifier: Apache-2.0 */
#include "store_watch.h"

#include "core/clock.h"
#include "stream_runs.h"

/* One object is enough to know that it answers. */
static int seen(void *arg, const char *key, uint64_t bytes)
{
	(void)arg;
	(void)key;
	(void)bytes;
	return 1;
}

/* In a thread. */
static void ask(struct coll_job *job)
{
	struct coll_store_watch *w = (struct coll_store_watch *)job;

	w->err = objects_list(w->objects, COLL_STREAMS_FOLDER "/", seen, NULL, &w->trouble);
}

static void is_asked(struct coll_job *job)
{
	struct coll_store_watch *w = (struct coll_store_watch *)job;

	w->out = false;
	w->failed = w->err < 0;
	if (w->failed)
		w->told(w->arg, w->err, &w->trouble);
	else
		w->heard_ns = coll_now_ns();
}

void coll_store_watch_init(struct coll_store_watch *w, struct objects *o, struct coll_hands *hands,
			   int err)
{
	w->job = (struct coll_job){ .work = ask, .done = is_asked };
	w->objects = o;
	w->hands = hands;
	w->failed = err < 0;
	w->asked_ns = w->heard_ns = coll_now_ns();
}

void coll_store_watch_tick(struct coll_store_watch *w)
{
	int64_t now = coll_now_ns();
	int64_t after = (w->failed ? COLL_STORE_SILENT_S : COLL_STORE_ASK_S) * COLL_SECOND_NS;

	if (w->out || now - w->heard_ns < after ||
	    now - w->asked_ns < COLL_STORE_SILENT_S * COLL_SECOND_NS)
		return;
	w->out = true;
	w->asked_ns = now;
	coll_hands_give(w->hands, &w->job);
}

void coll_store_watch_heard(struct coll_store_watch *w)
{
	w->heard_ns = coll_now_ns();
	w->failed = false;
}

int64_t coll_store_watch_silent_ns(const struct coll_store_watch *w)
{
	int64_t now = coll_now_ns(), since = w->heard_ns > w->asked_ns ? w->heard_ns : w->asked_ns;

	if (!w->failed && (!w->out || now - since < COLL_STORE_SILENT_S * COLL_SECOND_NS))
		return 0;
	return now - w->heard_ns > COLL_SECOND_NS ? now - w->heard_ns : COLL_SECOND_NS;
}
