/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded, adds to the wall clock what the file named by GS_CLOCK_STEP holds: an int64 of
 * nanoseconds, read each time. Clocks that only run on are left alone. For tests of clock steps.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL

static const int64_t *step;

__attribute__((constructor)) static void clockstep_open(void)
{
	const char *path = getenv("GS_CLOCK_STEP");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *at;

	if (fd < 0)
		return;
	at = mmap(NULL, sizeof(*step), PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (at != MAP_FAILED)
		step = at;
}

int clock_gettime(clockid_t id, struct timespec *t)
{
	int err = (int)syscall(SYS_clock_gettime, id, t);
	int64_t ns;

	if (err || !step || (id != CLOCK_REALTIME && id != CLOCK_REALTIME_COARSE))
		return err;
	ns = t->tv_sec * SECOND + t->tv_nsec + __atomic_load_n(step, __ATOMIC_RELAXED);
	t->tv_sec = ns / SECOND;
	t->tv_nsec = ns % SECOND;
	return 0;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
	struct timespec now;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &now);
	t->tv_sec = now.tv_sec;
	t->tv_usec = now.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *out)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (out)
		*out = now.tv_sec;
	return now.tv_sec;
}
