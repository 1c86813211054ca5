/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a mistyped word may have been meant as another one. Pure. */
#ifndef VIEW_NEAR_H
#define VIEW_NEAR_H

#include <stddef.h>

#define VIEW_NEAR_NOT 100

/*
 * By how many letters @word (@len bytes) differs from @other: added, left out, replaced, or two
 * neighbours swapped. VIEW_NEAR_NOT where that is more than a third of the shorter one, or
 * either is longer than any word of ours.
 */
size_t view_near(const char *word, size_t len, const char *other);

#endif
