/* SPDX-License-Identifier: Apache-2.0 */
/* Options of several commands that choose what is analysed. Errors are said on stderr. */
#ifndef VIEW_CHOICES_H
#define VIEW_CHOICES_H

#include <stdbool.h>
#include "analysis/ledger.h"

bool view_option_window(const char *text, enum ana_window *window); /* job or device */
bool view_option_waste(const char *text, bool waste[ANA_CLASSES]); /* classes, groups */

#endif
