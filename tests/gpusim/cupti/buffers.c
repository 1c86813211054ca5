/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffers.c - fills, withholds and hands back the client's buffers.
 */
#include "buffers.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "../clock.h"
#include "faults.h"
#include "layout.h"
#include "timebase.h"

#define WORKER_NS 100000000u /* between two looks of CUPTI's thread at the full buffers */

struct buf {
	uint8_t *data;
	size_t size, used, records, max_records;
	uint64_t begin, end; /* when it was asked for; end of its latest finished record */
	uint32_t open; /* records without an end */
	struct buf_token *tokens;
	struct buf *next;
};

/*
 * Where a thread writes; all share one unless per-thread buffers are on. What it has written goes
 * back in order: nothing overtakes a buffer that is withheld. Never freed.
 */
struct desk {
	struct buf *buf; /* being filled */
	struct buf *done, **done_end; /* retired, oldest first */
	struct desk *next;
};

static struct {
	pthread_mutex_t handing; /* around collecting and handing out: a flush waits for others */
	pthread_mutex_t lock; /* taken second */
	buf_request_fn request;
	buf_complete_fn complete;
	struct desk shared, *desks;
	struct buf *current; /* between reserve and commit */
	size_t dropped;
	bool per_thread, zeroed, worker;
	uint64_t period_ns;
} b = {
	.handing = PTHREAD_MUTEX_INITIALIZER,
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.shared = { .done_end = &b.shared.done },
	.desks = &b.shared,
	.per_thread = SIM_CUPTI_API >= 130000,
	.period_ns = WORKER_NS,
};

static __thread struct desk *my_desk;

/* ---- handing back ---- */

static bool finished(const struct buf *buf, uint64_t now)
{
	return !buf->open && buf->end + fault_late() <= now;
}

/* A record that is handed out by force before its time says so with an end of 0. */
static void blank_unfinished(struct buf *buf, uint64_t now)
{
	uint8_t *p = buf->data, *stop = buf->data + buf->used;
	uint64_t now_stamp = timebase_stamp(now);

	while (p < stop) {
		uint32_t kind = *(uint32_t *)p, at = rec_start_offset(kind);
		uint64_t *start = (uint64_t *)(p + at), *end = start + 1;

		if (at && (*end > now_stamp || !*end)) {
			*end = 0;
			if (*start > now_stamp)
				*start = 0;
		}
		p += rec_size(kind);
	}
}

/* Cuts the tokens off: what is handed out is never touched again. */
static void forget_tokens(struct buf *buf)
{
	struct buf_token *t;

	for (t = buf->tokens; t; t = t->next) {
		t->record = NULL;
		t->buf = NULL;
	}
}

static void take(struct buf *buf, struct buf ***list, uint64_t now)
{
	if (!finished(buf, now))
		blank_unfinished(buf, now);
	forget_tokens(buf);
	buf->next = NULL;
	**list = buf;
	*list = &buf->next;
}

static void retire(struct desk *d)
{
	struct buf *buf = d->buf;

	d->buf = NULL;
	buf->next = NULL;
	*d->done_end = buf;
	d->done_end = &buf->next;
}

/*
 * A flush retires what is being filled, even if it must be withheld: the next record starts a new
 * buffer. The one buffer for all threads is only retired once it can go. (As seen on an H100 with
 * CUPTI 13.0.)
 */
static bool retires(const struct desk *d, bool force, uint64_t now)
{
	if (!d->buf || (!d->buf->used && !force))
		return false;
	return force || d != &b.shared || (!d->done && finished(d->buf, now));
}

static void collect_desk(struct desk *d, struct buf ***end, bool force, uint64_t now)
{
	while (d->done && (force || finished(d->done, now))) {
		struct buf *buf = d->done;

		d->done = buf->next;
		if (!d->done)
			d->done_end = &d->done;
		take(buf, end, now);
	}
}

static void start_worker(void);

/* Asks the client. Versions before 12.9 write to what they get without looking: they crash. */
static struct buf *ask(void)
{
	size_t size = 0, max_records = 0;
	uint64_t begin = sim_now();
	uint8_t *data = NULL;
	struct buf *buf;

	if (!b.request || fault_no_buffer())
		return NULL;
	if (!b.worker)
		start_worker();
	b.request(&data, &size, &max_records);
	if (SIM_CUPTI_API < 27 && (!data || !size))
		*(volatile uint32_t *)data = 0;
	if (!data || !size)
		return NULL;
	if (!b.zeroed)
		memset(data, 0, size);
	buf = calloc(1, sizeof *buf);
	if (!buf)
		return NULL;
	buf->data = data;
	buf->size = size;
	buf->max_records = max_records;
	buf->begin = begin;
	return buf;
}

/* Unlinks what can be handed out; the caller holds the lock. */
static struct buf *collect(bool open_ones, bool force)
{
	struct buf *list = NULL, **end = &list;
	uint64_t now = sim_now();
	bool early = false;
	struct desk *d;

	for (d = b.desks; d; d = d->next) {
		if (open_ones && retires(d, force, now)) {
			retire(d);
			early = fault_early();
		}
		collect_desk(d, &end, force, now);
		if (early && !d->buf)
			d->buf = ask();
		early = false;
	}
	return list;
}

static void hand_out(bool open_ones, bool force)
{
	buf_complete_fn complete;
	struct buf *list;

	pthread_mutex_lock(&b.handing);
	pthread_mutex_lock(&b.lock);
	list = collect(open_ones, force);
	complete = b.complete;
	pthread_mutex_unlock(&b.lock);
	while (list) {
		struct buf *buf = list;

		list = buf->next;
		if (complete)
			complete(NULL, 0, buf->data, buf->size, buf->used);
		free(buf);
	}
	pthread_mutex_unlock(&b.handing);
}

/* Latest end of what has been recorded; what is open has none yet and is not waited for. */
static uint64_t latest_end(void)
{
	uint64_t end = 0;
	struct desk *d;
	struct buf *buf;

	pthread_mutex_lock(&b.lock);
	for (d = b.desks; d; d = d->next) {
		for (buf = d->done; buf; buf = buf->next)
			end = sim_max(end, buf->end);
		if (d->buf)
			end = sim_max(end, d->buf->end);
	}
	pthread_mutex_unlock(&b.lock);
	return end;
}

void buf_flush(bool force)
{
	const char *blocks = getenv("GPUSIM_FLUSH_BLOCKS");

	if (!force && blocks && *blocks == '1')
		sim_sleep_until(latest_end());
	hand_out(true, force);
}

static uint64_t oldest_of(const struct desk *d)
{
	if (d->done)
		return d->done->begin;
	return d->buf && d->buf->used ? d->buf->begin : SIM_NEVER;
}

uint64_t buf_oldest(void)
{
	uint64_t oldest = SIM_NEVER;
	struct desk *d;

	pthread_mutex_lock(&b.lock);
	for (d = b.desks; d; d = d->next)
		if (oldest_of(d) < oldest)
			oldest = oldest_of(d);
	pthread_mutex_unlock(&b.lock);
	return oldest == SIM_NEVER ? 0 : oldest;
}

static void *worker(void *arg)
{
	(void)arg;
	for (;;) {
		struct timespec d = { (time_t)(b.period_ns / 1000000000u),
				      (long)(b.period_ns % 1000000000u) };

		nanosleep(&d, NULL);
		hand_out(false, false);
	}
	return NULL;
}

static void start_worker(void)
{
	sigset_t all, old;
	pthread_t t;

	b.worker = true;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (!pthread_create(&t, NULL, worker, NULL)) {
		pthread_setname_np(t, "gpusim-cupti");
		pthread_detach(t);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* ---- filling ---- */

static struct desk *desk(void)
{
	if (!b.per_thread)
		return &b.shared;
	if (!my_desk && (my_desk = calloc(1, sizeof *my_desk))) {
		my_desk->done_end = &my_desk->done;
		my_desk->next = b.desks;
		b.desks = my_desk;
	}
	return my_desk ? my_desk : &b.shared;
}

static bool fits(const struct buf *buf, uint32_t size)
{
	uint64_t full = fault_full();

	if (full && buf->records >= full)
		return false;
	return buf->size - buf->used >= size &&
	       (!buf->max_records || buf->records < buf->max_records);
}

uint8_t *buf_reserve(uint32_t size)
{
	struct desk *d;
	uint8_t *p;

	pthread_mutex_lock(&b.lock);
	d = desk();
	if (d->buf && !fits(d->buf, size))
		retire(d);
	if (!d->buf)
		d->buf = ask();
	if (!d->buf || !fits(d->buf, size)) {
		b.dropped++;
		return NULL;
	}
	b.current = d->buf;
	p = b.current->data + b.current->used;
	b.current->used += size;
	b.current->records++;
	return p;
}

void buf_commit(uint64_t end)
{
	b.current->end = sim_max(b.current->end, end);
	pthread_mutex_unlock(&b.lock);
}

struct buf_token *buf_commit_open(uint8_t *record)
{
	struct buf_token *t = malloc(sizeof *t);

	if (t) {
		t->buf = b.current;
		t->record = record;
		t->next = b.current->tokens;
		b.current->tokens = t;
		b.current->open++;
	}
	pthread_mutex_unlock(&b.lock);
	return t;
}

uint8_t *buf_reopen(struct buf_token *t)
{
	pthread_mutex_lock(&b.lock);
	if (t->record)
		return t->record;
	pthread_mutex_unlock(&b.lock);
	free(t);
	return NULL;
}

void buf_finish(struct buf_token *t, uint64_t end)
{
	struct buf_token **p;

	for (p = &t->buf->tokens; *p != t; p = &(*p)->next)
		;
	*p = t->next;
	t->buf->open--;
	t->buf->end = sim_max(t->buf->end, end);
	pthread_mutex_unlock(&b.lock);
	free(t);
}

void buf_cancel(void)
{
	pthread_mutex_unlock(&b.lock);
}

/* ---- the rest ---- */

void buf_callbacks(buf_request_fn request, buf_complete_fn complete)
{
	pthread_mutex_lock(&b.lock);
	b.request = request;
	b.complete = complete;
	pthread_mutex_unlock(&b.lock);
}

bool buf_has_callbacks(void)
{
	return b.request && b.complete;
}

size_t buf_dropped(void)
{
	size_t n;

	pthread_mutex_lock(&b.lock);
	n = b.dropped;
	b.dropped = 0;
	pthread_mutex_unlock(&b.lock);
	return n;
}

void buf_count_drop(void)
{
	pthread_mutex_lock(&b.lock);
	b.dropped++;
	pthread_mutex_unlock(&b.lock);
}

void buf_set_per_thread(bool on)
{
	b.per_thread = on;
}

bool buf_per_thread(void)
{
	return b.per_thread;
}

void buf_set_zeroed(bool on)
{
	b.zeroed = on;
}

bool buf_zeroed(void)
{
	return b.zeroed;
}

void buf_set_period(uint32_t ms)
{
	b.period_ns = ms ? ms * 1000000ull : WORKER_NS;
}
