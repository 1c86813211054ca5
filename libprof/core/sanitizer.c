/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runtimes are known by functions that they export, whether they are libraries or linked into the
 * program.
 */
#include "sanitizer.h"

#include <stddef.h>

#include "export.h"

extern void __tsan_init(void) __attribute__((weak));
extern void __msan_init(void) __attribute__((weak));

bool prof_sanitizer_judges(void)
{
	return __tsan_init != NULL || __msan_init != NULL;
}

PROF_EXPORT const char *__asan_default_options(void)
{
	return "verify_asan_link_order=0";
}
