/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included before every source that scripts/package builds against glibc 2.27: what newer ones
 * declare and we use. The kernel's numbers are of its headers; a call that the machine's kernel
 * lacks fails with ENOSYS, as it does under every glibc.
 */
#ifndef COMPAT_H
#define COMPAT_H

#include <asm/unistd.h>
#include <linux/stat.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/types.h>

/* <sys/types.h> had these until 2.28; who wants them asks <sys/sysmacros.h>. */
#undef major
#undef minor
#undef makedev

#ifndef SYS_close_range
#define SYS_close_range __NR_close_range
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open __NR_pidfd_open
#endif
#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#endif

int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
int renameat2(int old_dir, const char *old, int new_dir, const char *new, unsigned int flags);
int statx(int dir, const char *path, int flags, unsigned int mask, struct statx *out);

#endif
