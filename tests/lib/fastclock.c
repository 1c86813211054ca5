/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded, makes the steady clock run a hundred thousand times as fast: for tests of what waits.
 */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t id, struct timespec *t)
{
	static long long first;
	int err = (int)syscall(SYS_clock_gettime, id, t);

	if (err || id != CLOCK_MONOTONIC)
		return err;
	long long now = (long long)t->tv_sec * 1000000000 + t->tv_nsec;
	long long none = 0;
	__atomic_compare_exchange_n(&first, &none, now, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	long long fast = (now - first) * 100000;
	t->tv_sec = fast / 1000000000;
	t->tv_nsec = fast % 1000000000;
	return 0;
}
