/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of system calls. Calls that an architecture does not have are left out.
 */
#include "callkind.h"

#include <stddef.h>
#include <sys/syscall.h>

static const struct prof_call_kind kinds[] = {
	{ SYS_read, PROF_CALL_READ, 0 },
	{ SYS_pread64, PROF_CALL_READ, 0 },
	{ SYS_readv, PROF_CALL_READ, 0 },
	{ SYS_preadv, PROF_CALL_READ, 0 },
	{ SYS_preadv2, PROF_CALL_READ, 0 },
	{ SYS_getdents64, PROF_CALL_READ, 0 },
	{ SYS_fstat, PROF_CALL_READ, 0 },
	{ SYS_lseek, PROF_CALL_READ, 0 },
	{ SYS_readahead, PROF_CALL_READ, 0 },
	{ SYS_fadvise64, PROF_CALL_READ, 0 },
	{ SYS_copy_file_range, PROF_CALL_READ, 0 },
	{ SYS_splice, PROF_CALL_READ, 0 },
	{ SYS_sendfile, PROF_CALL_READ, 1 },
	{ SYS_write, PROF_CALL_WRITE, 0 },
	{ SYS_pwrite64, PROF_CALL_WRITE, 0 },
	{ SYS_writev, PROF_CALL_WRITE, 0 },
	{ SYS_pwritev, PROF_CALL_WRITE, 0 },
	{ SYS_pwritev2, PROF_CALL_WRITE, 0 },
	{ SYS_fsync, PROF_CALL_WRITE, 0 },
	{ SYS_fdatasync, PROF_CALL_WRITE, 0 },
	{ SYS_sync_file_range, PROF_CALL_WRITE, 0 },
	{ SYS_syncfs, PROF_CALL_WRITE, 0 },
	{ SYS_ftruncate, PROF_CALL_WRITE, 0 },
	{ SYS_fallocate, PROF_CALL_WRITE, 0 },
	{ SYS_close, PROF_CALL_WRITE, 0 },
	{ SYS_sync, PROF_CALL_SYNC, 0 },
	{ SYS_recvfrom, PROF_CALL_SOCKET, 0 },
	{ SYS_recvmsg, PROF_CALL_SOCKET, 0 },
	{ SYS_recvmmsg, PROF_CALL_SOCKET, 0 },
	{ SYS_sendto, PROF_CALL_SOCKET, 0 },
	{ SYS_sendmsg, PROF_CALL_SOCKET, 0 },
	{ SYS_sendmmsg, PROF_CALL_SOCKET, 0 },
	{ SYS_connect, PROF_CALL_SOCKET, 0 },
	{ SYS_accept, PROF_CALL_SOCKET, 0 },
	{ SYS_accept4, PROF_CALL_SOCKET, 0 },
	{ SYS_openat, PROF_CALL_PATH, 1 },
	{ SYS_newfstatat, PROF_CALL_PATH, 1 },
	{ SYS_faccessat, PROF_CALL_PATH, 1 },
	{ SYS_readlinkat, PROF_CALL_PATH, 1 },
	{ SYS_statfs, PROF_CALL_PATH, 0 },
	{ SYS_execve, PROF_CALL_PATH, 0 },
	{ SYS_unlinkat, PROF_CALL_PATH_WRITE, 1 },
	{ SYS_renameat, PROF_CALL_PATH_WRITE, 1 },
	{ SYS_mkdirat, PROF_CALL_PATH_WRITE, 1 },
#ifdef SYS_statx
	{ SYS_statx, PROF_CALL_PATH, 1 },
#endif
#ifdef SYS_openat2
	{ SYS_openat2, PROF_CALL_PATH, 1 },
#endif
#ifdef SYS_faccessat2
	{ SYS_faccessat2, PROF_CALL_PATH, 1 },
#endif
#ifdef SYS_renameat2
	{ SYS_renameat2, PROF_CALL_PATH_WRITE, 1 },
#endif
#ifdef SYS_open
	{ SYS_open, PROF_CALL_PATH, 0 },
	{ SYS_stat, PROF_CALL_PATH, 0 },
	{ SYS_lstat, PROF_CALL_PATH, 0 },
	{ SYS_access, PROF_CALL_PATH, 0 },
	{ SYS_readlink, PROF_CALL_PATH, 0 },
	{ SYS_creat, PROF_CALL_PATH_WRITE, 0 },
	{ SYS_unlink, PROF_CALL_PATH_WRITE, 0 },
	{ SYS_rename, PROF_CALL_PATH_WRITE, 0 },
	{ SYS_mkdir, PROF_CALL_PATH_WRITE, 0 },
	{ SYS_rmdir, PROF_CALL_PATH_WRITE, 0 },
	{ SYS_getdents, PROF_CALL_READ, 0 },
	{ SYS_poll, PROF_CALL_POLL, 0 },
	{ SYS_select, PROF_CALL_SELECT, 0 },
	{ SYS_epoll_wait, PROF_CALL_EPOLL, 0 },
	{ SYS_pause, PROF_CALL_SLEEP, 0 },
#endif
	{ SYS_ppoll, PROF_CALL_PPOLL, 0 },
	{ SYS_pselect6, PROF_CALL_SELECT, 0 },
	{ SYS_epoll_pwait, PROF_CALL_EPOLL, 0 },
#ifdef SYS_epoll_pwait2
	{ SYS_epoll_pwait2, PROF_CALL_EPOLL, 0 },
#endif
	{ SYS_nanosleep, PROF_CALL_SLEEP, 0 },
	{ SYS_clock_nanosleep, PROF_CALL_SLEEP, 0 },
	{ SYS_restart_syscall, PROF_CALL_SLEEP, 0 }, /* a sleep or poll that SIGCONT ended */
	{ SYS_futex, PROF_CALL_FUTEX, 0 },
	{ SYS_flock, PROF_CALL_LOCK, 0 },
	{ SYS_semop, PROF_CALL_LOCK, 0 },
	{ SYS_semtimedop, PROF_CALL_LOCK, 0 },
	{ SYS_wait4, PROF_CALL_CHILD, 0 },
	{ SYS_waitid, PROF_CALL_CHILD, 0 },
	{ SYS_ioctl, PROF_CALL_IOCTL, 0 },
	{ SYS_mmap, PROF_CALL_MEMORY, 4 },
	{ SYS_munmap, PROF_CALL_MEMORY, 0 },
	{ SYS_msync, PROF_CALL_MEMORY, 0 },
	{ SYS_madvise, PROF_CALL_MEMORY, 0 },
};

const struct prof_call_kind *prof_call_kind(int nr)
{
	static const struct prof_call_kind other;
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].nr == nr)
			return &kinds[i];
	return &other;
}
