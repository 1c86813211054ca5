/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Detached threads and futex words.
 */
#include "thread.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clockpoll.h"

#define CPUS_MAX 8192 /* the kernel's NR_CPUS at most */
#define MASK_WORDS (CPUS_MAX / (8 * sizeof(unsigned long)))
#define KERNEL_NICE_0 20 /* the system call answers 20 - nice */
#define STACK_BYTES (1u << 20) /* virtual; a program with much static TLS needs the room */

static unsigned long given[MASK_WORDS]; /* CPUs, when the library was loaded; 0: not known */
static unsigned long chosen[MASK_WORDS]; /* where the first thread moved that left a pinned CPU */
static atomic_int moved; /* 1: chosen is being written, 2: it is */

static _Thread_local bool ours __attribute__((tls_model("initial-exec")));

bool prof_thread_ours(void)
{
	return ours;
}

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

void prof_thread_remember(void)
{
	memset(given, 0, sizeof(given));
	if (syscall(SYS_sched_getaffinity, 0, sizeof(given), given) < 0)
		memset(given, 0, sizeof(given));
}

static unsigned int count(const unsigned long *mask)
{
	unsigned int n = 0;
	size_t i;

	for (i = 0; i < MASK_WORDS; i++)
		n += (unsigned int)__builtin_popcountl(mask[i]);
	return n;
}

/* Threads of ours start others, which need not move again: that would bring them back. */
static bool moved_already(const unsigned long *mask)
{
	return atomic_load_explicit(&moved, memory_order_acquire) == 2 &&
	       !memcmp(mask, chosen, sizeof(chosen));
}

static void remember_move(const unsigned long *mask)
{
	int none = 0;

	if (!atomic_compare_exchange_strong(&moved, &none, 1))
		return;
	memcpy(chosen, mask, sizeof(chosen));
	atomic_store_explicit(&moved, 2, memory_order_release);
}

/*
 * Several CPUs are a share of the machine that the program has chosen, beside other ranks perhaps:
 * we stay within. One CPU is a thread that shall have it for itself.
 */
static void leave_pinned_cpu(void)
{
	unsigned long mask[MASK_WORDS] = { 0 };
	bool inside = true;
	size_t i;

	if (syscall(SYS_sched_getaffinity, 0, sizeof(mask), mask) < 0 || count(mask) != 1 ||
	    moved_already(mask))
		return;
	for (i = 0; i < MASK_WORDS; i++) {
		inside = inside && !(mask[i] & ~given[i]);
		mask[i] = given[i] & ~mask[i];
	}
	if (inside && count(mask) && !syscall(SYS_sched_setaffinity, 0, sizeof(mask), mask))
		remember_move(mask);
}

/* To give up what one has is always allowed. */
static void be_ordinary(void)
{
	static const struct sched_param none;
	long policy = syscall(SYS_sched_getscheduler, 0) & ~(long)SCHED_RESET_ON_FORK;

	if (policy == SCHED_FIFO || policy == SCHED_RR)
		syscall(SYS_sched_setscheduler, 0, SCHED_OTHER, &none);
	if (syscall(SYS_getpriority, PRIO_PROCESS, 0) > KERNEL_NICE_0)
		syscall(SYS_setpriority, PRIO_PROCESS, 0, 0);
}

void prof_thread_begin(const char *name)
{
	ours = true;
	prctl(PR_SET_NAME, name, 0, 0, 0);
	be_ordinary();
	leave_pinned_cpu();
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
