/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tid in struct pthread stands where our own descriptor has ours: 720 in glibc on x86-64, and
 * searched elsewhere. All processes of a job have the same C library; and a number that is no
 * thread of the process is not taken.
 */
#include "pytid.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DESCRIPTOR 1152u /* searched of it; glibc's has twice as much */
#define USUAL 720u
#define UNKNOWN 1u
#define NOWHERE 2u

static atomic_uint place = UNKNOWN; /* offset of the tid, a multiple of 4; or UNKNOWN, NOWHERE */

static unsigned int search(void)
{
	struct prof_pymem m;
	uint8_t raw[DESCRIPTOR];
	uint32_t own = (uint32_t)syscall(SYS_gettid), seen;
	unsigned int at = NOWHERE, i;

	if (prof_pymem_open(&m, 0, PROF_PYMEM_VM))
		return NOWHERE;
	if (!prof_pymem_read(&m, (uintptr_t)pthread_self(), raw, sizeof(raw))) {
		memcpy(&seen, raw + USUAL, sizeof(seen));
		if (seen == own)
			at = USUAL;
		for (i = 0; at == NOWHERE && i < DESCRIPTOR; i += 4) {
			memcpy(&seen, raw + i, sizeof(seen));
			if (seen == own)
				at = i;
		}
	}
	prof_pymem_close(&m);
	return at;
}

/* Signal 0 is none: the kernel only says whether there is such a thread. */
static bool is_thread(pid_t pid, uint64_t tid)
{
	int kept = errno;
	bool there = tid && tid <= INT32_MAX &&
		     (!syscall(SYS_tgkill, pid, (pid_t)tid, 0) || errno == EPERM);

	errno = kept;
	return there;
}

pid_t prof_pytid(struct prof_pymem *m, uint64_t ident, uint64_t native, pid_t known)
{
	unsigned int at = atomic_load_explicit(&place, memory_order_relaxed);
	uint32_t tid = 0;

	if (native && is_thread(m->pid, native))
		return (pid_t)native;
	if (at == UNKNOWN) {
		at = search();
		atomic_store_explicit(&place, at, memory_order_relaxed);
	}
	if (at == NOWHERE || !ident || prof_pymem_read(m, ident + at, &tid, sizeof(tid)))
		return 0;
	return (known && tid == (uint32_t)known) || is_thread(m->pid, tid) ? (pid_t)tid : 0;
}
