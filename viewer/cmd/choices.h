/* SPDX-License-Identifier: Apache-2.0 */
/* Options of several commands that choose what is analysed. Errors are said on stderr. */
#ifndef VIEW_CHOICES_H
#define VIEW_CHOICES_H

#include <stdbool.h>
#include <stddef.h>
#include "analysis/ledger.h"

#define VIEW_WINDOWS "job device"

bool view_option_window(const char *text, enum ana_window *window); /* job or device */
bool view_option_waste(const char *text, bool waste[ANA_CLASSES]); /* classes, groups */

/* The classes one by one; NULL behind the last. */
const char *view_class_word(size_t i);

#endif
