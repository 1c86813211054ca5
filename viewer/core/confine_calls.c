/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A filter of system calls (seccomp).
 */
#include "confine_priv.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#ifdef __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#define OTHER_CALLS 0x40000000u /* x32's */
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#define OTHER_CALLS UINT32_MAX
#endif

#define REFUSE(number)                                     \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

/* Calls that a kernel does not have yet or any more are refused as well. */
static const struct sock_filter filter[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL),
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, OTHER_CALLS, 0, 1),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	REFUSE(SYS_socket),
	REFUSE(SYS_connect),
	REFUSE(SYS_execve),
	REFUSE(SYS_execveat),
	REFUSE(SYS_ptrace),
	REFUSE(SYS_process_vm_readv),
	REFUSE(SYS_process_vm_writev),
	REFUSE(SYS_kill),
	REFUSE(SYS_perf_event_open),
	REFUSE(SYS_bpf),
	REFUSE(SYS_keyctl),
	REFUSE(SYS_add_key),
	REFUSE(SYS_request_key),
	REFUSE(SYS_unshare),
	REFUSE(SYS_setns),
	REFUSE(SYS_mount),
	REFUSE(SYS_userfaultfd),
	REFUSE(424), /* pidfd_send_signal */
	REFUSE(425), /* io_uring_setup, whose calls no filter sees */
	REFUSE(438), /* pidfd_getfd */
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

bool view_confine_calls(void)
{
	struct sock_fprog program = { .len = sizeof(filter) / sizeof(filter[0]),
				      .filter = (struct sock_filter *)filter };

	return !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
