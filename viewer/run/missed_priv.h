/* SPDX-License-Identifier: Apache-2.0 */
/* What missed.c and missed_command.c have in common: the links of the chain that both look at. */
#ifndef VIEW_MISSED_PRIV_H
#define VIEW_MISSED_PRIV_H

#include "missed.h"

/* As view_missed_vtell. */
void view_missed_tell(struct view_missed *out, enum view_missed_link link, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

bool view_missed_off(const char *value); /* "0", "off", "no" */
const char *view_missed_name(const char *path); /* behind its last slash */

/* sudo and its like, with which LD_PRELOAD does not come through. */
bool view_missed_is_sudo(const char *name);

/* Each: true, and *out is set, if that link is missing. */
bool view_missed_kind(enum view_needs_kind kind, const char *name, struct view_missed *out);
bool view_missed_sanitizer(const char *sanitizer, const char *name, struct view_missed *out);
bool view_missed_tools(const char *injection, bool theirs, struct view_missed *out);

#endif
