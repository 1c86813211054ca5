/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Detached threads and futex words.
 */
#include "thread.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clockpoll.h"

#define STACK_BYTES (1u << 20) /* virtual; a program with much static TLS needs the room */

int prof_thread_start(void *(*run)(void *))
{
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t thread;
	int rc;

	if (pthread_attr_init(&attr))
		return -ENOMEM;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	rc = pthread_create(&thread, &attr, run, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return -rc;
}

void prof_thread_name(const char *name)
{
	prctl(PR_SET_NAME, name, 0, 0, 0);
}

void prof_word_wait(atomic_uint *word, unsigned int seen, int64_t deadline_ns)
{
	struct timespec t = { .tv_sec = deadline_ns / 1000000000,
			      .tv_nsec = deadline_ns % 1000000000 };
	int kept = errno;

	syscall(SYS_futex, word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, seen, &t, NULL,
		FUTEX_BITSET_MATCH_ANY);
	errno = kept;
}

void prof_word_bump(atomic_uint *word)
{
	int kept = errno;

	atomic_fetch_add_explicit(word, 1, memory_order_release);
	syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT_MAX, NULL, NULL, 0);
	errno = kept;
}

bool prof_word_reach(atomic_uint *word, unsigned int value, int64_t deadline_ns)
{
	unsigned int now;

	while ((now = atomic_load_explicit(word, memory_order_acquire)) < value) {
		if (prof_mono_ns() >= deadline_ns)
			return false;
		prof_word_wait(word, now, deadline_ns);
	}
	return true;
}
