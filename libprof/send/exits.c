/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first _exit of a process counts: its status is kept, and whoever else ends the process while
 * the sender works, another _exit or exit(), ends it with that one.
 */
#include "exits.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/clockpoll.h"
#include "core/thread.h"
#include "sender.h"

#define LEAVE_NS 200000000
#define CLAIMED (UINT64_C(1) << 32) /* above the status */
#define MASK_BYTES 8 /* of the kernel's signal mask */

/* Not in glibc before 2.10, and not in musl, which has quick_exit without it. */
extern int __cxa_at_quick_exit(void (*fn)(void *), void *library) __attribute__((weak));

static void (*next)(int status); /* behind us; NULL: not known */
static atomic_int armed; /* pid, 0: no */
static _Atomic uint64_t first; /* CLAIMED | status of the first _exit; 0: there was none */

/*
 * The pid of the kernel, for a library's may be one of before a fork. A child that shares our
 * memory has another; one that has the same in a namespace of its own does not have our sender
 * (sender.h).
 */
static bool is_armed(void)
{
	int pid = atomic_load(&armed);

	return pid && !prof_thread_ours() && syscall(SYS_getpid) == pid;
}

__attribute__((noreturn)) static void end(int status)
{
	if (next)
		next(status);
	for (;;)
		syscall(SYS_exit_group, status);
}

/* No handler of the program may run on this thread any more: it would have ended. */
static void be_deaf(void)
{
	uint64_t all = UINT64_MAX;

	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, MASK_BYTES);
}

static int hand_over(int status)
{
	uint64_t before = atomic_load(&first);

	if (!prof_sender_there()) /* it is done, or never began */
		return before ? (int)(uint32_t)before : status;
	be_deaf();
	before = 0;
	if (!atomic_compare_exchange_strong(&first, &before, CLAIMED | (uint32_t)status))
		status = (int)(uint32_t)before;
	prof_sender_leave(prof_mono_ns() + LEAVE_NS);
	return status;
}

void prof_exits_yield(void)
{
	uint64_t before = atomic_load(&first);

	if (before && is_armed())
		end((int)(uint32_t)before);
}

static void at_quick_exit_too(void *unused)
{
	(void)unused;
	if (is_armed() && prof_sender_there())
		prof_sender_leave(prof_mono_ns() + LEAVE_NS);
	prof_exits_yield();
}

void prof_exits_find(void)
{
	*(void **)&next = dlsym(RTLD_NEXT, "_exit");
}

void prof_exits_arm(void)
{
	if (__cxa_at_quick_exit)
		__cxa_at_quick_exit(at_quick_exit_too, NULL);
	atomic_store(&armed, (int)syscall(SYS_getpid));
}

void prof_exits_end(int status)
{
	end(is_armed() ? hand_over(status) : status);
}

#ifdef PROF_SHARED_LIBRARY
void _exit(int status)
{
	prof_exits_end(status);
}

void _Exit(int status)
{
	prof_exits_end(status);
}
#endif
