/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a mistyped word may have been meant as another one. Pure. */
#ifndef BASE_SPELLING_H
#define BASE_SPELLING_H

#include <stddef.h>

#define BASE_SPELLING_OTHER 100

/*
 * By how many letters @word (@len bytes) differs from @other: added, left out, replaced, or two
 * neighbours swapped. BASE_SPELLING_OTHER where that is more than a third of the shorter one, or
 * either is longer than any word of ours.
 */
size_t base_spelling_distance(const char *word, size_t len, const char *other);

#endif
