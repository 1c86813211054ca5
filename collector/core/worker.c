/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two lists under one lock.
 */
#include "worker.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "clock.h"

static void jobs_init(struct coll_jobs *j)
{
	j->first = NULL;
	j->last = &j->first;
}

static void put(struct coll_jobs *j, struct coll_job *job)
{
	job->next = NULL;
	*j->last = job;
	j->last = &job->next;
}

static struct coll_job *take(struct coll_jobs *j)
{
	struct coll_job *job = j->first;

	if (job && !(j->first = job->next))
		j->last = &j->first;
	return job;
}

/* The next one; NULL: there will be none any more. */
static struct coll_job *wait_for_job(struct coll_worker *w)
{
	struct coll_job *job;

	pthread_mutex_lock(&w->lock);
	while (!(job = take(&w->waiting)) && !w->ending)
		pthread_cond_wait(&w->changed, &w->lock);
	pthread_mutex_unlock(&w->lock);
	return job;
}

static void work(struct coll_worker *w, struct coll_job *job)
{
	uint64_t one = 1;

	job->work(job);
	pthread_mutex_lock(&w->lock);
	put(&w->over, job);
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	/* It fails where so much is told already that nothing more need be. */
	(void)!write(w->source.fd, &one, sizeof(one));
}

static void *run(void *arg)
{
	struct coll_worker *w = arg;
	struct coll_job *job;

	pthread_setname_np(pthread_self(), "gpustarve-disk");
	while ((job = wait_for_job(w)))
		work(w, job);
	return NULL;
}

/* Signals are the loop's. */
static int start(struct coll_worker *w)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&w->thread, NULL, run, w);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	w->started = !err;
	return -err;
}

/* Of those that are over by now. */
static void call_done(struct coll_worker *w)
{
	struct coll_job *job;

	do {
		pthread_mutex_lock(&w->lock);
		job = take(&w->over);
		pthread_mutex_unlock(&w->lock);
		if (!job)
			return;
		w->out--;
		w->since_ns = coll_now_ns();
		job->done(job);
	} while (true);
}

static void on_told(struct coll_source *s, uint32_t events)
{
	struct coll_worker *w =
		(struct coll_worker *)((char *)s - offsetof(struct coll_worker, source));
	uint64_t count;

	(void)events;
	if (read(s->fd, &count, sizeof(count)) == sizeof(count))
		call_done(w);
}

int coll_worker_init(struct coll_worker *w, struct coll_loop *loop)
{
	memset(w, 0, sizeof(*w));
	w->loop = loop;
	jobs_init(&w->waiting);
	jobs_init(&w->over);
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->changed, NULL);
	w->source = (struct coll_source){ .fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
					  .ready = on_told };
	return w->source.fd < 0 ? -errno : coll_loop_add(loop, &w->source, EPOLLIN);
}

void coll_worker_fini(struct coll_worker *w)
{
	if (!w->loop)
		return;
	pthread_mutex_lock(&w->lock);
	w->ending = true;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	if (w->started)
		pthread_join(w->thread, NULL);
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	if (w->source.fd >= 0) {
		coll_loop_remove(w->loop, &w->source);
		close(w->source.fd);
	}
	w->loop = NULL;
}

void coll_worker_hand(struct coll_worker *w, struct coll_job *job)
{
	if (!w->out++)
		w->since_ns = coll_now_ns();
	if (!w->started && start(w)) {
		work(w, job);
		return;
	}
	pthread_mutex_lock(&w->lock);
	put(&w->waiting, job);
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
}

int64_t coll_worker_waits_ns(const struct coll_worker *w, int64_t now_ns)
{
	return w->out ? now_ns - w->since_ns : 0;
}

void coll_worker_drain(struct coll_worker *w)
{
	while (w->out) {
		pthread_mutex_lock(&w->lock);
		while (!w->over.first)
			pthread_cond_wait(&w->changed, &w->lock);
		pthread_mutex_unlock(&w->lock);
		call_done(w);
	}
}
