/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that carry the runtime of a sanitizer.
 */
#ifndef PROF_SANITIZER_H
#define PROF_SANITIZER_H

#include <stdbool.h>

/*
 * Does this process carry one that judges also what code does that it has not built?
 * ThreadSanitizer takes memory that our threads hand over by atomics for races, MemorySanitizer
 * what we have written for unset: either reports it, and the program's status is another one.
 * Nothing of libprof may run there. Any thread; costs two loads.
 */
bool prof_sanitizer_judges(void);

/*
 * Exported. The runtime of AddressSanitizer ends a program in which it is not the first library,
 * for those before it may have their own malloc. We have none. It asks this function, which the
 * first library that has one gives, for options; what ASAN_OPTIONS says comes after. A program that
 * has one itself is asked instead of us, and ends if libprof is preloaded there.
 */
const char *__asan_default_options(void);

#endif
