/* SPDX-License-Identifier: Apache-2.0 */
/*
 * built_with.c - in the place of libprof/sanitizer.c: here libprof is built with the sanitizer, which
 * therefore sees what orders memory in it.
 */
#include "sanitizer.h"

bool prof_sanitizer_judges(void)
{
	return false;
}
