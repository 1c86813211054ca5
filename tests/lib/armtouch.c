/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded: meets libprof while it arms. On the thread that called touch_begin, the Nth call that
 * libprof makes of the functions below takes 0.4 s longer; and the Nth block of memory that libprof
 * asks for on any thread, and all after it up to touch_end, are refused.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAUSE_NS 400000000

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t k, size_t n);
void *__libc_realloc(void *p, size_t n);

__attribute__((visibility("default"))) void touch_begin(int pause_at, int fail_at);
__attribute__((visibility("default"))) int touch_end(int *blocks);
__attribute__((visibility("default"))) int touch_pausing(void);

static uintptr_t low, high; /* libprof's code */
static _Thread_local int calls; /* that libprof made here */
static _Thread_local int pause_call; /* 0: not this thread; -1: never, but count */
static atomic_int blocks, fail_block, pausing;
static int (*real_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

static int find(struct dl_phdr_info *info, size_t size, void *unused)
{
	int i;

	(void)size;
	(void)unused;
	if (!info->dlpi_name || !strstr(info->dlpi_name, "libprof.so"))
		return 0;
	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
			low = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
			high = low + info->dlpi_phdr[i].p_memsz;
		}
	return 1;
}

static bool from_libprof(const void *caller)
{
	return (uintptr_t)caller >= low && (uintptr_t)caller < high;
}

static void touched(const void *caller)
{
	struct timespec left = { .tv_nsec = PAUSE_NS };

	if (!pause_call || !from_libprof(caller) || ++calls != pause_call)
		return;
	atomic_store(&pausing, 1);
	while (nanosleep(&left, &left) && errno == EINTR)
		;
	atomic_store(&pausing, 2);
}

static bool refused(const void *caller)
{
	int n;

	if (!low || !from_libprof(caller))
		return false;
	n = atomic_fetch_add(&blocks, 1) + 1;
	return atomic_load(&fail_block) && n >= atomic_load(&fail_block);
}

void touch_begin(int pause_at, int fail_at)
{
	dl_iterate_phdr(find, NULL);
	calls = 0;
	atomic_store(&blocks, 0);
	atomic_store(&pausing, 0);
	atomic_store(&fail_block, fail_at);
	pause_call = pause_at;
}

/* How many calls libprof made on this thread, and how many blocks it asked for. */
int touch_end(int *n)
{
	*n = atomic_load(&blocks);
	atomic_store(&fail_block, 0);
	pause_call = 0;
	return calls;
}

int touch_pausing(void)
{
	return atomic_load(&pausing);
}

#define TOUCH touched(__builtin_return_address(0))
#define WRAP __attribute__((visibility("default")))

WRAP void *malloc(size_t n)
{
	return refused(__builtin_return_address(0)) ? NULL : __libc_malloc(n);
}

WRAP void *calloc(size_t k, size_t n)
{
	return refused(__builtin_return_address(0)) ? NULL : __libc_calloc(k, n);
}

WRAP void *realloc(void *p, size_t n)
{
	return refused(__builtin_return_address(0)) ? NULL : __libc_realloc(p, n);
}

WRAP void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
	TOUCH;
	return (void *)syscall(SYS_mmap, at, n, protection, flags, fd, offset);
}

WRAP int ftruncate(int fd, off_t n)
{
	TOUCH;
	return (int)syscall(SYS_ftruncate, fd, n);
}

WRAP int clock_gettime(clockid_t clock, struct timespec *t)
{
	TOUCH;
	return (int)syscall(SYS_clock_gettime, clock, t);
}

WRAP int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*run)(void *), void *arg)
{
	TOUCH;
	return real_create(t, a, run, arg);
}

__attribute__((constructor)) static void loaded(void)
{
	void *address = dlsym(RTLD_NEXT, "pthread_create");

	memcpy(&real_create, &address, sizeof(address));
}
