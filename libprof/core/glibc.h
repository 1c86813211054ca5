/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included before every source that goes into libprof.so: asks for the versions of symbols that
 * glibc 2.17 has, where newer ones exist; ld.so ends every program that preloads a library which
 * needs a version that it has not. Some moved into libc in 2.34; the ones asked for stand in
 * libpthread and libdl before that, which libprof.so therefore names as NEEDED. musl minds no
 * versions and takes these names for itself; what only glibc has is weak (atfork.c).
 */
#ifndef PROF_GLIBC_H
#define PROF_GLIBC_H

#include <features.h>

/*
 * Since 2.38 the headers give C23's strtol and sscanf, which are symbols of their own, to C17 as
 * well.
 */
#undef __GLIBC_USE_C2X_STRTOL
#define __GLIBC_USE_C2X_STRTOL 0
#undef __GLIBC_USE_C23_STRTOL /* as 2.41 calls it */
#define __GLIBC_USE_C23_STRTOL 0

#include <sys/stat.h>

#if defined(__x86_64__) || defined(__aarch64__)
#ifdef __x86_64__
#define PROF_OLD(symbol, x86, arm) __asm__(".symver " #symbol "," #symbol "@GLIBC_" x86)
#define PROF_STAT_VERSION 1
#else
#define PROF_OLD(symbol, x86, arm) __asm__(".symver " #symbol "," #symbol "@GLIBC_" arm)
#define PROF_STAT_VERSION 0
#endif
PROF_OLD(dladdr, "2.2.5", "2.17");
PROF_OLD(dlinfo, "2.3.3", "2.17");
PROF_OLD(dlopen, "2.2.5", "2.17");
PROF_OLD(dlsym, "2.2.5", "2.17");
PROF_OLD(pthread_attr_setstacksize, "2.2.5", "2.17");
PROF_OLD(pthread_create, "2.2.5", "2.17");
PROF_OLD(pthread_setname_np, "2.12", "2.17");
PROF_OLD(pthread_sigmask, "2.2.5", "2.17");
PROF_OLD(__fxstat, "2.2.5", "2.17");
PROF_OLD(__xstat, "2.2.5", "2.17");
#undef PROF_OLD

/* stat and fstat were no functions before 2.33. */
extern int __fxstat(int version, int fd, struct stat *st);
extern int __xstat(int version, const char *path, struct stat *st);
#define fstat(fd, st) __fxstat(PROF_STAT_VERSION, fd, st)
#define stat(path, st) __xstat(PROF_STAT_VERSION, path, st)
#endif

#endif
