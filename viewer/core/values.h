/* SPDX-License-Identifier: Apache-2.0 */
/* Values that options of several commands take. Errors are said on stderr. */
#ifndef VIEW_VALUES_H
#define VIEW_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#define VIEW_PRICE_MODELS "on-demand spot reserved owned"

/* One of them. */
bool view_option_price_model(const char *text);

/* --format of commands that print text or JSON. */
bool view_option_json(const char *text, bool *json);

/* A whole number from 1 to @most, of option @name ("--last"). */
bool view_option_number(const char *name, const char *text, long most, long *n);

/* "512M", "2G", "1000000" to bytes. */
bool view_option_size(const char *text, uint64_t *bytes);

#endif
