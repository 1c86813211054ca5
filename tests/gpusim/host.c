/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host.c - gpusim-host.so, preloaded: what runs under it believes to be on a host of another name
 * whose clock is off and drifts. CLOCK_REALTIME alone is another one, as on real hosts; deadlines
 * on it are carried back, so that a wait lasts as long as it was meant to.
 *
 *	GPUSIM_HOST=name  GPUSIM_CLOCK_OFFSET=ns  GPUSIM_CLOCK_DRIFT=ppb
 *
 * The drift counts from the moment that GPUSIM_CLOCK_EPOCH tells (true ns; 0 at once): the same for
 * all processes of a host.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define SIM_EXPORT __attribute__((visibility("default")))
#define SECOND 1000000000
#define DAY (86400LL * SECOND)

uint64_t gpusim_true_now(void);
uint64_t gpusim_shown(uint64_t true_ns);

static struct {
	int64_t offset, drift, epoch;
	const char *name;
	int (*clock_gettime)(clockid_t, struct timespec *);
	int (*sem_timedwait)(sem_t *, const struct timespec *);
	int (*cond_timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
} host;

static int64_t number(const char *key)
{
	const char *v = getenv(key);

	return v ? strtoll(v, NULL, 10) : 0;
}

/* A pointer to a function out of one to an object, which C does not convert. */
static void find(void *fn, const char *name)
{
	void *p = dlsym(RTLD_NEXT, name);

	memcpy(fn, &p, sizeof(p));
}

__attribute__((constructor)) static void begin(void)
{
	host.offset = number("GPUSIM_CLOCK_OFFSET");
	host.drift = number("GPUSIM_CLOCK_DRIFT");
	host.epoch = number("GPUSIM_CLOCK_EPOCH");
	host.name = getenv("GPUSIM_HOST");
	find(&host.sem_timedwait, "sem_timedwait");
	find(&host.cond_timedwait, "pthread_cond_timedwait");
	find(&host.clock_gettime, "clock_gettime");
}

static int64_t ns_of(const struct timespec *t)
{
	return (int64_t)t->tv_sec * SECOND + t->tv_nsec;
}

static struct timespec time_of(int64_t ns)
{
	return (struct timespec){ .tv_sec = ns / SECOND, .tv_nsec = ns % SECOND };
}

SIM_EXPORT uint64_t gpusim_true_now(void)
{
	struct timespec t;

	if (host.clock_gettime)
		host.clock_gettime(CLOCK_REALTIME, &t);
	else
		syscall(SYS_clock_gettime, CLOCK_REALTIME, &t);
	return (uint64_t)ns_of(&t);
}

/* Off by the drift since the epoch: whole seconds first, that nothing overflows. */
static int64_t drifted(int64_t t)
{
	int64_t since = t - host.epoch;

	return since / SECOND * host.drift + since % SECOND * host.drift / SECOND;
}

SIM_EXPORT uint64_t gpusim_shown(uint64_t true_ns)
{
	int64_t t = (int64_t)true_ns;

	return (uint64_t)(t + host.offset + (host.drift ? drifted(t) : 0));
}

/* The deadline on the true clock. */
static struct timespec carried_back(const struct timespec *shown)
{
	int64_t t = ns_of(shown) - host.offset;

	return time_of(host.drift ? t - drifted(t) : t);
}

SIM_EXPORT int clock_gettime(clockid_t id, struct timespec *t)
{
	if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE) {
		*t = time_of((int64_t)gpusim_shown(gpusim_true_now()));
		return 0;
	}
	if (host.clock_gettime)
		return host.clock_gettime(id, t);
	return (int)syscall(SYS_clock_gettime, id, t);
}

SIM_EXPORT int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
	struct timespec now;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &now);
	t->tv_sec = now.tv_sec;
	t->tv_usec = now.tv_nsec / 1000;
	return 0;
}

SIM_EXPORT time_t time(time_t *out)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (out)
		*out = now.tv_sec;
	return now.tv_sec;
}

SIM_EXPORT int sem_timedwait(sem_t *restrict s, const struct timespec *restrict deadline)
{
	struct timespec t = carried_back(deadline);

	return host.sem_timedwait(s, &t);
}

/* A condition may count on another clock, which is days away from this one. */
SIM_EXPORT int pthread_cond_timedwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m,
				      const struct timespec *restrict deadline)
{
	struct timespec t = *deadline;

	if (llabs(ns_of(deadline) - (int64_t)gpusim_shown(gpusim_true_now())) < DAY)
		t = carried_back(deadline);
	return host.cond_timedwait(c, m, &t);
}

SIM_EXPORT int gethostname(char *name, size_t n)
{
	struct utsname u;

	uname(&u);
	snprintf(name, n, "%s", u.nodename);
	return 0;
}

SIM_EXPORT int uname(struct utsname *u)
{
	if (syscall(SYS_uname, u))
		return -1;
	if (host.name)
		snprintf(u->nodename, sizeof(u->nodename), "%s", host.name);
	return 0;
}
