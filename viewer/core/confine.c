/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both without headers of their own, which older systems do not have; the numbers are the kernel's
 * for good.
 */
#include "confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CONFINES 0
#elif defined(__has_feature)
#define CONFINES !(__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define CONFINES 1
#endif

#define CREATE_RULESET 444
#define ADD_RULE 445
#define RESTRICT_SELF 446
#define ASK_VERSION 1u
#define PATH_BENEATH 1

#define WRITE_FILE (1ull << 1)
#define READ_FILE (1ull << 2)
#define READ_DIR (1ull << 3)
#define REMOVE_FILE (1ull << 5)
#define MAKE_REG (1ull << 8)
#define ALL_OF_FIRST ((1ull << 13) - 1)
#define REFER (1ull << 13)
#define TRUNCATE (1ull << 14)
#define IOCTL_DEV (1ull << 15)
#define BIND_AND_CONNECT 3ull
#define SOCKETS_AND_SIGNALS 3ull

#define ON_FILES (WRITE_FILE | READ_FILE | TRUNCATE)

/* struct landlock_ruleset_attr */
struct ruleset {
	uint64_t files, net, scoped;
};

/* struct landlock_path_beneath_attr */
struct beneath {
	uint64_t allowed;
	int32_t fd;
} __attribute__((packed));

/* What every program needs: libraries, locales, time zones, and the site's prices. */
static const char *const of_system[] = { "/usr",
					 "/lib",
					 "/lib64",
					 "/etc/localtime",
					 "/etc/gpustarve/prices.csv",
					 "/etc/ld.so.cache",
					 "/sys/devices/system/cpu",
					 "/sys/class/dmi/id",
					 "/sys/devices/virtual/dmi/id" };

static void allow(int set, uint64_t handled, const char *path, uint64_t rights)
{
	struct beneath b = { .fd = open(path, O_PATH | O_CLOEXEC) };
	struct stat st;

	if (b.fd < 0)
		return;
	b.allowed = rights & handled;
	if (!fstat(b.fd, &st) && !S_ISDIR(st.st_mode))
		b.allowed &= ON_FILES;
	syscall(ADD_RULE, set, PATH_BENEATH, &b, 0);
	close(b.fd);
}

/* What this kernel can keep us from, all of it; how much of the structure it knows. */
static size_t handle_all(struct ruleset *r, long version)
{
	*r = (struct ruleset){ .files = ALL_OF_FIRST };
	r->files |= version >= 2 ? REFER : 0;
	r->files |= version >= 3 ? TRUNCATE : 0;
	r->files |= version >= 5 ? IOCTL_DEV : 0;
	r->net = version >= 4 ? BIND_AND_CONNECT : 0;
	r->scoped = version >= 6 ? SOCKETS_AND_SIGNALS : 0;
	if (version < 4)
		return offsetof(struct ruleset, net);
	return version < 6 ? offsetof(struct ruleset, scoped) : sizeof(*r);
}

static bool confine_files(const struct view_confine *c)
{
	long version = syscall(CREATE_RULESET, NULL, 0, ASK_VERSION);
	const char *prices = getenv("GPUSTARVE_PRICES");
	struct ruleset r;
	size_t bytes, i;
	bool done;
	int set;

	if (version < 1)
		return false;
	bytes = handle_all(&r, version);
	set = (int)syscall(CREATE_RULESET, &r, bytes, 0);
	if (set < 0)
		return false;
	for (i = 0; i < sizeof(of_system) / sizeof(of_system[0]); i++)
		allow(set, r.files, of_system[i], READ_FILE | READ_DIR);
	if (prices)
		allow(set, r.files, prices, READ_FILE);
	for (i = 0; i < c->reads; i++)
		allow(set, r.files, c->read[i], READ_FILE | READ_DIR);
	if (c->write)
		allow(set, r.files, c->write,
		      READ_FILE | READ_DIR | WRITE_FILE | REMOVE_FILE | MAKE_REG | TRUNCATE);
	done = !syscall(RESTRICT_SELF, set, 0);
	close(set);
	return done;
}

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

static void limit_memory(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_AS, &r) || r.rlim_cur <= VIEW_CONFINE_MEMORY)
		return;
	r.rlim_cur = r.rlim_max = VIEW_CONFINE_MEMORY;
	setrlimit(RLIMIT_AS, &r);
}

bool view_confine(const struct view_confine *c)
{
	struct sock_fprog program = { .len = sizeof(filter) / sizeof(filter[0]),
				      .filter = (struct sock_filter *)filter };
	bool confined;

	if (!CONFINES)
		return false;
	limit_memory();
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return false;
	confined = confine_files(c);
	return !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) && confined;
}
