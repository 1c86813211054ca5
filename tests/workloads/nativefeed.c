/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nativefeed.c - a library such as a loader written in C has: threads of its own that make items
 * and put them into a bounded queue (a mutex and two conditions), from which Python takes them
 * through ctypes, without the GIL; and a launcher, a thread that alone submits to the GPU what
 * Python puts into its queue. Used through nativefeed.py, which has the manual. No thread here runs
 * Python.
 *
 * Built twice, as libnativefeed.so and libnativeother.so: what runs in the second is no part of a
 * feed of the first.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "cudrv.h"
#include "nvtxmini.h"

#define EXPORT __attribute__((visibility("default"), noinline))
#define OWN_FRAME __attribute__((noinline)) /* a test names it */
#define SECOND 1000000000ll

/*
 * ---- a queue ----------------------------------------------------------------------------------
 */

struct item {
	long number; /* from 0; of a launcher's: how long its kernel runs, ns */
	const void *host;
	long bytes;
};

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	long depth, used, next;
	bool over; /* nothing more will be put in */
	int event; /* who takes waits for this one, in poll; -1: for the condition */
	struct item *item;
};

/* @shared: waits are such as other processes might end, as std::future's are, though none can. */
static bool queue_init(struct queue *q, long depth, bool shared)
{
	pthread_condattr_t attr;

	q->depth = depth > 0 ? depth : 1;
	q->event = -1;
	q->item = calloc((size_t)q->depth, sizeof(*q->item));
	if (pthread_condattr_init(&attr))
		return false;
	if (shared)
		pthread_condattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	return q->item && !pthread_mutex_init(&q->lock, NULL) &&
	       !pthread_cond_init(&q->filled, &attr) && !pthread_cond_init(&q->emptied, &attr);
}

static void queue_free(struct queue *q)
{
	pthread_mutex_destroy(&q->lock);
	pthread_cond_destroy(&q->filled);
	pthread_cond_destroy(&q->emptied);
	if (q->event >= 0)
		close(q->event);
	free(q->item);
}

static void tell_event(const struct queue *q)
{
	const uint64_t one = 1;

	if (q->event >= 0 && write(q->event, &one, sizeof(one)) != sizeof(one))
		abort();
}

/* Called and returns with the lock held. */
static OWN_FRAME void wait_filled(struct queue *q)
{
	struct pollfd polled = { .fd = q->event, .events = POLLIN };
	uint64_t count;

	if (q->event < 0) {
		pthread_cond_wait(&q->filled, &q->lock);
		return;
	}
	pthread_mutex_unlock(&q->lock);
	while (poll(&polled, 1, -1) < 0 && errno == EINTR)
		;
	if (read(q->event, &count, sizeof(count)) < 0 && errno != EAGAIN)
		abort();
	pthread_mutex_lock(&q->lock);
}

/* False: it is over. */
static OWN_FRAME bool queue_put(struct queue *q, const struct item *i)
{
	bool put;

	pthread_mutex_lock(&q->lock);
	while (q->used == q->depth && !q->over)
		pthread_cond_wait(&q->emptied, &q->lock);
	put = !q->over;
	if (put) {
		q->item[(q->next + q->used++) % q->depth] = *i;
		pthread_cond_signal(&q->filled);
		tell_event(q);
	}
	pthread_mutex_unlock(&q->lock);
	return put;
}

/* False: it is over and empty. */
static OWN_FRAME bool queue_take(struct queue *q, struct item *i)
{
	bool taken;

	pthread_mutex_lock(&q->lock);
	while (!q->used && !q->over)
		wait_filled(q);
	taken = q->used > 0;
	if (taken) {
		*i = q->item[q->next++ % q->depth];
		q->used--;
		pthread_cond_signal(&q->emptied);
	}
	pthread_mutex_unlock(&q->lock);
	return taken;
}

static void queue_end(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->over = true;
	pthread_cond_broadcast(&q->filled);
	pthread_cond_broadcast(&q->emptied);
	tell_event(q);
	pthread_mutex_unlock(&q->lock);
}

/*
 * ---- work -------------------------------------------------------------------------------------
 */

static int64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

/* Computes for so long on a CPU, however long that takes. */
static OWN_FRAME long decode_item(int64_t ns)
{
	int64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + ns;
	volatile long sum = 0;
	int i;

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		for (i = 0; i < 2000; i++)
			sum += i;
	return sum;
}

static OWN_FRAME void wait_device(int64_t ns)
{
	struct timespec t = { .tv_sec = ns / SECOND, .tv_nsec = ns % SECOND };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

/* False: the file has ended. */
static OWN_FRAME bool read_item(int fd, long bytes)
{
	char some[65536];

	while (bytes > 0) {
		size_t want = bytes < (long)sizeof(some) ? (size_t)bytes : sizeof(some);
		ssize_t n = read(fd, some, want);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes -= n;
	}
	return true;
}

/*
 * ---- a feed -----------------------------------------------------------------------------------
 */

struct feed_plan { /* nativefeed.py has the same */
	long producers, readers, depth, items;
	long spin_ns, sleep_ns, bytes;
	long cpu; /* all threads run on this one; -1: wherever they like */
	long ranges; /* of NVTX, around what is made */
	long shared; /* the queues' conditions */
	long event; /* who takes what is ready waits for an eventfd */
	const char *path, *name;
};

struct feed_ledger {
	int64_t decode_ns, fetch_ns; /* by the clock, of all threads */
	int64_t taken, waited_ns; /* by the one that takes */
};

struct feed {
	struct feed_plan plan;
	struct queue raw, ready;
	struct feed_ledger ledger;
	long numbered, running;
	pthread_mutex_t lock; /* of the last two, and of the ledger */
	long threads;
	pthread_t thread[64];
};

struct worker { /* what a thread is given */
	struct feed *feed;
	long number;
	int fd;
	bool fetches, decodes;
};

static void book(struct feed *f, int64_t *sum, int64_t ns)
{
	pthread_mutex_lock(&f->lock);
	*sum += ns;
	pthread_mutex_unlock(&f->lock);
}

static bool next_number(struct feed *f, long *number)
{
	bool more;

	pthread_mutex_lock(&f->lock);
	more = f->numbered < f->plan.items;
	*number = f->numbered++;
	pthread_mutex_unlock(&f->lock);
	return more;
}

static bool fetch(const struct worker *w, struct item *i)
{
	struct feed *f = w->feed;
	int64_t begin = now_ns(CLOCK_MONOTONIC);
	bool there = next_number(f, &i->number);

	if (there && f->plan.sleep_ns)
		wait_device(f->plan.sleep_ns);
	if (there && f->plan.path)
		there = read_item(w->fd, f->plan.bytes);
	book(f, &f->ledger.fetch_ns, now_ns(CLOCK_MONOTONIC) - begin);
	return there;
}

static void decode(struct worker *w)
{
	int64_t begin = now_ns(CLOCK_MONOTONIC);

	if (w->feed->plan.ranges)
		nvtxmini_push("decode");
	decode_item(w->feed->plan.spin_ns);
	if (w->feed->plan.ranges)
		nvtxmini_pop();
	book(w->feed, &w->feed->ledger.decode_ns, now_ns(CLOCK_MONOTONIC) - begin);
}

static bool begins(const struct worker *w, struct item *i)
{
	return w->fetches ? fetch(w, i) : queue_take(&w->feed->raw, i);
}

static void settle(struct worker *w)
{
	const struct feed_plan *p = &w->feed->plan;
	char name[16];
	cpu_set_t set;

	snprintf(name, sizeof(name), "%.9s/%ld",
		 p->name      ? p->name
		 : w->decodes ? "maker"
			      : "reader",
		 w->number);
	pthread_setname_np(pthread_self(), name);
	if (p->cpu < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET((size_t)p->cpu, &set);
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

/* The last of its kind ends the queue behind it. */
static void leave(struct worker *w)
{
	struct feed *f = w->feed;
	bool last;

	pthread_mutex_lock(&f->lock);
	f->running -= w->decodes ? 1 : 1000;
	last = w->decodes ? f->running % 1000 == 0 : f->running < 1000;
	pthread_mutex_unlock(&f->lock);
	if (last)
		queue_end(w->decodes ? &f->ready : &f->raw);
	if (w->fd >= 0)
		close(w->fd);
	free(w);
}

static void *feed_thread(void *arg)
{
	struct worker *w = arg;
	struct item i = { .host = NULL };
	bool put = true;

	settle(w);
	if (w->fetches && w->feed->plan.path)
		w->fd = open(w->feed->plan.path, O_RDONLY | O_CLOEXEC);
	while (put && begins(w, &i)) {
		if (w->decodes && w->feed->plan.spin_ns)
			decode(w);
		put = queue_put(w->decodes ? &w->feed->ready : &w->feed->raw, &i);
	}
	leave(w);
	return NULL;
}

static void start(struct feed *f, long number, bool fetches, bool decodes)
{
	struct worker *w = calloc(1, sizeof(*w));

	if (!w)
		abort();
	*w = (struct worker){ f, number, -1, fetches, decodes };
	if (pthread_create(&f->thread[f->threads], NULL, feed_thread, w))
		abort();
	f->threads++;
}

EXPORT struct feed *feed_open(const struct feed_plan *plan);
EXPORT long feed_take(struct feed *f);
EXPORT void feed_drop(struct feed *f);
EXPORT void feed_told(struct feed *f, struct feed_ledger *out);
EXPORT void feed_close(struct feed *f);

struct feed *feed_open(const struct feed_plan *plan)
{
	struct feed *f = calloc(1, sizeof(*f));
	long i;

	if (!f || plan->producers + plan->readers > 64 || plan->producers < 1)
		abort();
	f->plan = *plan;
	f->plan.path = plan->path ? strdup(plan->path) : NULL;
	f->plan.name = plan->name ? strdup(plan->name) : NULL;
	if (!queue_init(&f->raw, plan->depth, plan->shared) ||
	    !queue_init(&f->ready, plan->depth, plan->shared) || pthread_mutex_init(&f->lock, NULL))
		abort();
	if (plan->event)
		f->ready.event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	f->running = plan->producers + 1000 * plan->readers;
	for (i = 0; i < plan->readers; i++)
		start(f, i, true, false);
	for (i = 0; i < plan->producers; i++)
		start(f, i, !plan->readers, true);
	return f;
}

/* The number of the next item; -1: there is none. */
long feed_take(struct feed *f)
{
	int64_t begin = now_ns(CLOCK_MONOTONIC);
	struct item i;
	bool taken = queue_take(&f->ready, &i);

	pthread_mutex_lock(&f->lock);
	f->ledger.taken += taken;
	f->ledger.waited_ns += now_ns(CLOCK_MONOTONIC) - begin;
	pthread_mutex_unlock(&f->lock);
	return taken ? i.number : -1;
}

/*
 * Takes an item away, if there is one and its maker is not at the queue just now: on a busy machine
 * that may have lost its core there, and who asks would wait for it.
 */
void feed_drop(struct feed *f)
{
	if (pthread_mutex_trylock(&f->ready.lock))
		return;
	if (f->ready.used) {
		f->ready.next++;
		f->ready.used--;
		pthread_cond_signal(&f->ready.emptied);
	}
	pthread_mutex_unlock(&f->ready.lock);
}

void feed_told(struct feed *f, struct feed_ledger *out)
{
	pthread_mutex_lock(&f->lock);
	*out = f->ledger;
	pthread_mutex_unlock(&f->lock);
}

void feed_close(struct feed *f)
{
	long i;

	queue_end(&f->raw);
	queue_end(&f->ready);
	for (i = 0; i < f->threads; i++)
		pthread_join(f->thread[i], NULL);
	queue_free(&f->raw);
	queue_free(&f->ready);
	pthread_mutex_destroy(&f->lock);
	free((char *)f->plan.path);
	free((char *)f->plan.name);
	free(f);
}

/*
 * ---- a launcher -------------------------------------------------------------------------------
 */

#define LAUNCH_BYTES (8l << 20)

struct launcher {
	struct queue steps;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t done;
	long submitted, finished;
	uint64_t device;
	void *stream, *kernel;
};

static void launch(struct launcher *l, const struct item *i)
{
	if (i->bytes)
		CU(MemcpyHtoDAsync(l->device, i->host, (size_t)i->bytes, l->stream));
	cudrv_launch(l->kernel, (uint64_t)i->number, l->stream);
	CU(StreamSynchronize(l->stream));
}

static void *launcher_thread(void *arg)
{
	struct launcher *l = arg;
	struct item i;

	pthread_setname_np(pthread_self(), "launcher");
	cudrv_init();
	cudrv_device(0);
	CU(StreamCreate(&l->stream, 1));
	CU(MemAlloc(&l->device, (size_t)LAUNCH_BYTES));
	l->kernel = cudrv_kernel("launched_step");
	while (queue_take(&l->steps, &i)) {
		launch(l, &i);
		pthread_mutex_lock(&l->lock);
		l->finished++;
		pthread_cond_broadcast(&l->done);
		pthread_mutex_unlock(&l->lock);
	}
	return NULL;
}

EXPORT struct launcher *launcher_open(long depth);
EXPORT long launcher_submit(struct launcher *l, const void *host, long bytes, long ns);
EXPORT void launcher_drain(struct launcher *l);
EXPORT void launcher_close(struct launcher *l);

struct launcher *launcher_open(long depth)
{
	struct launcher *l = calloc(1, sizeof(*l));

	if (!l || !queue_init(&l->steps, depth, false) || pthread_mutex_init(&l->lock, NULL) ||
	    pthread_cond_init(&l->done, NULL) ||
	    pthread_create(&l->thread, NULL, launcher_thread, l))
		abort();
	return l;
}

/* How many steps have been put in. The memory has to stay until the launcher is drained. */
long launcher_submit(struct launcher *l, const void *host, long bytes, long ns)
{
	struct item i = { ns, host, bytes < LAUNCH_BYTES ? bytes : LAUNCH_BYTES };

	queue_put(&l->steps, &i);
	return ++l->submitted;
}

void launcher_drain(struct launcher *l)
{
	pthread_mutex_lock(&l->lock);
	while (l->finished < l->submitted)
		pthread_cond_wait(&l->done, &l->lock);
	pthread_mutex_unlock(&l->lock);
}

void launcher_close(struct launcher *l)
{
	launcher_drain(l);
	queue_end(&l->steps);
	pthread_join(l->thread, NULL);
	queue_free(&l->steps);
	pthread_mutex_destroy(&l->lock);
	pthread_cond_destroy(&l->done);
	free(l);
}
