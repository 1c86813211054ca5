/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of other tools' files, from their decimal text and never through a double: a double
 * loses the nanoseconds of microseconds since the epoch. Pure; any thread.
 */
#ifndef VIEW_IMPORT_NUMBER_H
#define VIEW_IMPORT_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/*
 * Decimal microseconds ("1683564902133354", "-0.5", "1.2e3") to nanoseconds: what lies below one
 * is cut off, towards zero. "" is 0. 0; -EINVAL: no decimal number; -ERANGE: does not fit.
 */
int view_import_ns(const char *text, size_t len, int64_t *ns);

/*
 * A whole number; blanks around it and a sign are accepted, as old files write ids as text.
 * 0; -EINVAL: anything else; -ERANGE: does not fit.
 */
int view_import_int(const char *text, size_t len, int64_t *value);

#endif
