/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Python's strings as UTF-8 on one line: what would end a field or a line of a stack becomes '?'.
 */
#ifndef PROF_PYTEXT_H
#define PROF_PYTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "pylayout.h"
#include "pymem.h"

/*
 * The string object at @at as UTF-8 in @to[@room], NUL-terminated. Too long a string loses its
 * begin (@tail) or its end, and has "..." there. Its length, or -errno: -EINVAL: no such string.
 */
ssize_t prof_pytext(struct prof_pymem *m, const struct prof_pylayout *l, uint64_t at, bool tail,
		    char *to, size_t room);

#endif
