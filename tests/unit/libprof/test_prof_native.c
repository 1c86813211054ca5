/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Native stacks in a forked child, by way of a descriptor that its parent's thread had for itself:
 * the child has the program's table, where that number is the program's.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "core/ownfds.h"
#include "harness.h"
#include "sample/native.h"

#define FIRST 3 /* number of the program's, where a table of its own begins as well, */
#define NUMBERS 16 /* and how many: the thread uses fewer */

static bool ready, apart;

static bool refuse_readv(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

/* Some frames of where we are. */
__attribute__((noinline)) static ssize_t walk_here(void)
{
	static char text[PROF_NATIVE_TEXT];
	uint64_t sp = 0, pc = 0;

#ifdef __x86_64__
	__asm__ volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1" : "=r"(pc), "=r"(sp));
#endif
	return prof_native_walk(sp, pc, text, sizeof(text));
}

static void *make_ready(void *unused)
{
	(void)unused;
	apart = !prof_ownfds_leave();
	ready = prof_native_ready() && walk_here() > 0;
	return NULL;
}

/* All of the numbers are the program's, and stay what they are. */
static int look_in_child(void)
{
	struct stat was, is;
	int i;

	if (fstat(0, &was) || walk_here() <= 0)
		return 1;
	for (i = 0; i < NUMBERS; i++)
		if (fstat(FIRST + i, &is) || is.st_ino != was.st_ino || is.st_dev != was.st_dev)
			return 2;
	return 0;
}

static void test_forked(void)
{
	int status, i;
	pthread_t t;
	pid_t pid;

	REQUIRE(!pthread_create(&t, NULL, make_ready, NULL) && !pthread_join(t, NULL));
	if (!ready) {
		printf("skipped: %s\n", prof_native_note());
		exit(T_SKIPPED);
	}
	if (!apart)
		printf("skipped: no table of its own can be had here\n");
	for (i = 0; i < NUMBERS; i++)
		REQUIRE(dup2(0, FIRST + i) >= 0);
	pid = fork();
	if (!pid)
		_exit(look_in_child());
	REQUIRE(waitpid(pid, &status, 0) == pid);
	EXPECT_INT(status, 0);
}

int main(void)
{
	if (!refuse_readv()) {
		printf("skipped: no seccomp filter can be had here\n");
		return T_SKIPPED;
	}
	return RUN(test_forked);
}
